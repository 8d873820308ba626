#include "database/append.h"

#include <algorithm>
#include <bit>
#include <functional>

#include "base/check.h"
#include "tra/tuple_set.h"

namespace tessera {

using store::Definition;
using store::Directory;
using store::Entry;
using store::StoredRelation;

namespace {

bool by_key(const BasicTuple<TileType>& a, const BasicTuple<TileType>& b) { return a.key < b.key; }

TupleSet<TileType> tuples_together(const StoredRelation& base, const Relation& more) {
  const std::vector<BasicTuple<TileType>>& there = base.tuples()->tuples;
  const TupleSet<TileType> come = types_of(more);
  TupleSet<TileType> whole;
  whole.tuples.reserve(there.size() + come.tuples.size());
  std::merge(there.begin(), there.end(), come.tuples.begin(), come.tuples.end(),
             std::back_inserter(whole.tuples), by_key);
  return whole;
}

/// Tuples come in any order: what lacks some of those below its frontier may get them later.
Presence presence_of(const RelationType& type, const std::vector<BasicTuple<TileType>>& tuples) {
  if (type.presence == Presence::sparse) return Presence::sparse;
  return first_hole(tuples, type.frontier) ? Presence::partial : Presence::continuous;
}

/// Whether it is known what all of it is, be it that it has no tuples.
bool has_extents(const StoredRelation& base) {
  const store::Extents& extents = base.definition().extents;
  return !base.entries().empty() || extents.edges || extents.absent;
}

/// As if all tuples had been stored at once: of a relation without any, nothing but the names of
/// the columns and what an absent key means is left, unless it is a tensor of zeros.
RelationType type_together(const StoredRelation& base, const Relation& more,
                           const std::vector<BasicTuple<TileType>>& tuples) {
  const bool first = !has_extents(base);
  RelationType type = base.definition().type;
  for (std::size_t c = 0; c < type.columns.size(); ++c) {
    TileType& bound = type.columns[c].type;
    const TileType& come = more.type().columns[c].type;
    if (first) bound = come;
    if (come.sparse_dims != bound.sparse_dims) bound.sparse_dims = 0;
    for (int d = 0; d < bound.shape.rank(); ++d)
      bound.shape[d] = std::max(bound.shape[d], come.shape[d]);
  }
  if (first && type.presence == Presence::continuous) type.frontier = more.frontier();
  for (std::size_t i = 0; i < type.frontier.size(); ++i)
    type.frontier[i] = std::max(type.frontier[i], more.frontier()[i]);
  type.presence = presence_of(type, tuples);
  return type;
}

/// What the tiles are that a sparse relation lacks: what one of the two says that knows it of the
/// whole, or else each of what is below its frontier, and the bound beyond both.
TypesAt absent_together(const StoredRelation& base, const Relation& more,
                        const RelationType& type) {
  if (type.presence != Presence::sparse) return {};
  const bool known = base.definition().extents.edges || base.definition().extents.absent;
  if (known && base.definition().type.frontier == type.frontier) return base.tuples()->absent_types;
  if (more.type().presence == Presence::sparse && more.frontier() == type.frontier)
    return more.absent_types();
  const auto below = [](const Key& key, const Key& frontier) {
    return std::equal(key.begin(), key.end(), frontier.begin(), std::less<>());
  };
  return [below, there = has_extents(base) ? base.tuples()->absent_types : TypesAt{},
          first = base.definition().type.frontier, come = more.absent_types(),
          second = more.frontier(), beyond = store::absent_types_of(type)](const Key& key) {
    if (there && below(key, first)) return there(key);
    if (come && below(key, second)) return come(key);
    return beyond(key);
  };
}

/// What a StatisticsBuilder knew after the tuples that are there, but for the distinct values of
/// key components. The least and greatest are bounds afterwards, if zeros counted that were absent
/// then and are not now.
std::vector<std::int64_t> numbers_of(const StoredRelation& base) {
  const Statistics& known = base.definition().statistics;
  bool any = false;
  for (const Entry& entry : base.entries())
    for (const TileType& type : entry.types) any = any || type.shape.elements() > 0;
  return {known.tuples, known.nonzeros, any ? 1 : 0, std::bit_cast<std::int64_t>(known.min),
          std::bit_cast<std::int64_t>(known.max)};
}

std::vector<std::int64_t> distinct_in(const TupleSet<TileType>& whole) {
  std::vector<std::int64_t> counts, values(whole.tuples.size());
  for (int i = 0; i < whole.type.arity(); ++i) {
    for (std::size_t t = 0; t < values.size(); ++t) values[t] = whole.tuples[t].key[i];
    std::sort(values.begin(), values.end());
    counts.push_back(std::unique(values.begin(), values.end()) - values.begin());
  }
  return counts;
}

/// Where the parts begin that are to be written again as one; their end if there are not many. At
/// least half of them, from the last one on, and those before that are no larger than all that are
/// merged: so however often something is appended, a part is seldom written again.
std::size_t first_to_merge(const std::vector<store::Address>& parts) {
  constexpr std::size_t most = 32;
  if (parts.size() <= most) return parts.size();
  std::size_t from = parts.size() - 1;
  std::int64_t bytes = parts[from].range.bytes;
  while (from > 0 && (from > most / 2 || parts[from - 1].range.bytes <= bytes))
    bytes += parts[--from].range.bytes;
  return from;
}

}  // namespace

void refuse_unfit(const StoredRelation& base, const Relation& more) {
  const std::string& name = base.definition().name;
  const RelationType &there = base.definition().type, &come = more.type();
  TESSERA_REQUIRE(TypeError, there.arity() == come.arity(),
                  "cannot append to \"{}\": its keys have {} components, the new keys have {}",
                  name, there.arity(), come.arity());
  TESSERA_REQUIRE(TypeError, there.columns.size() == come.columns.size(),
                  "cannot append to \"{}\": it has {} columns, the new tuples have {}", name,
                  there.columns.size(), come.columns.size());
  for (std::size_t c = 0; c < there.columns.size(); ++c) {
    const TileType &own = there.columns[c].type, &other = come.columns[c].type;
    TESSERA_REQUIRE(TypeError, own.dtype == other.dtype && own.shape.rank() == other.shape.rank(),
                    "cannot append to \"{}\": its column {} is {}, but in the new tuples it is {}; "
                    "dtype and number of dimensions must be the same",
                    name, c, to_string(own), to_string(other));
  }
  for (const Tuple& tuple : more.tuples())
    TESSERA_REQUIRE(TypeError, base.find(tuple.key) == nullptr,
                    "cannot append to \"{}\": a tuple with key {} already exists", name,
                    to_string(tuple.key));
}

Definition append(const StoredRelation& base, const Relation& more,
                  const std::vector<StoredPart>& parts) {
  refuse_unfit(base, more);
  Definition definition = base.definition();
  if (more.size() == 0) return definition;
  TupleSet<TileType> whole = tuples_together(base, more);
  whole.type = type_together(base, more, whole.tuples);
  whole.absent_types = absent_together(base, more, whole.type);
  definition.type = whole.type;
  definition.extents = store::extents_of(whole);
  StatisticsBuilder statistics;
  statistics.add(numbers_of(base));
  for (const StoredPart& part : parts) {
    statistics.add(part.statistics);
    definition.bytes += part.bytes;
    definition.directories.insert(definition.directories.end(), part.directories.begin(),
                                  part.directories.end());
  }
  definition.statistics = statistics.finish(definition.type);
  definition.statistics.distinct = distinct_in(whole);
  return definition;
}

Definition first_of(const Relation& more, const std::vector<StoredPart>& parts) {
  TupleSet<TileType> whole = types_of(more);
  whole.type.presence = presence_of(whole.type, whole.tuples);
  return whole_of(parts, whole.type, store::extents_of(whole));
}

void merge_directories(const std::filesystem::path& database, Definition& definition,
                       Appender& appender) {
  std::vector<store::Address>& parts = definition.directories;
  const std::size_t from = first_to_merge(parts);
  if (from == parts.size()) return;
  Directory merged;
  for (std::size_t i = from; i < parts.size(); ++i) {
    const File file = store::open_segment(database, parts[i].segment);
    Directory part = store::directory_of(
        store::read_numbers(file, parts[i].range,
                            fmt::format("the directory of \"{}\"", definition.shown())),
        definition.shown());
    std::move(part.entries.begin(), part.entries.end(), std::back_inserter(merged.entries));
  }
  std::sort(merged.entries.begin(), merged.entries.end(),
            [](const Entry& a, const Entry& b) { return a.key < b.key; });
  parts.resize(from);
  parts.push_back(appender.append(merged));
}

void merge_strings(const std::filesystem::path& database, Definition& definition,
                   Appender& appender) {
  std::vector<store::Address>& parts = definition.strings;
  const std::size_t from = first_to_merge(parts);
  if (from == parts.size()) return;
  Definition later;
  later.name = definition.name;
  later.strings.assign(parts.begin() + static_cast<std::ptrdiff_t>(from), parts.end());
  const store::Strings merged = store::read_strings(database, later);
  parts.resize(from);
  parts.push_back(appender.append(merged));
}

}  // namespace tessera
