#include "database/catalog_update.h"

#include "base/check.h"
#include "database/append.h"
#include "database/names.h"
#include "store/hidden_names.h"

namespace tessera {

using store::Catalog;
using store::Definition;
using store::StoredRelation;

namespace {

void refuse_if_outdated(const Catalog& since, const Catalog& now, const Changes& changes) {
  const auto require = [](bool same, const std::string& name) {
    if (same) return;
    throw Outdated(fmt::format(
        "another statement changed \"{}\" at the same time; no changes were saved: try again",
        store::shown_name(name)));
  };
  for (const std::string& name : changes.relations_as_then)
    require(now.same_relation(since, name), name);
  for (const std::string& text : changes.texts_as_then) require(now.same_text(since, text), text);
}

}  // namespace

CatalogUpdate::CatalogUpdate(const std::filesystem::path& database, const Catalog& present,
                             const Changes& changes, const NamedRelations& stored,
                             const Catalog* since)
    : database_(database), changes_(changes) {
  if (since != nullptr) refuse_if_outdated(*since, present, changes);
  Catalog catalog = present;  // a rehearsal
  change_names(catalog);
  for (const auto& [name, plan] : changes.results) new_names_.push_back(name);
  for (const auto& [name, relation] : stored) new_names_.push_back(name);
  std::set<std::string> taken;
  for (const std::string& name : new_names_) {
    refuse_taken(catalog, name);
    TESSERA_REQUIRE(TypeError, taken.insert(name).second, "two relations would get the name \"{}\"",
                    name);
  }
  for (const auto& [name, more] : changes.appended) {
    if (!catalog.has(name)) continue;
    std::shared_ptr<const StoredRelation>& base = bases_[name];
    if (!base)
      base = std::make_shared<const StoredRelation>(database, find_stored(catalog, database, name));
    refuse_unfit(*base, more);
  }
}

void CatalogUpdate::change_names(Catalog& catalog) const {
  for (const std::string& name : changes_.dropped) {
    // One can drop what is damaged.
    if (!catalog.has(name)) (void)find_stored(catalog, database_, name);
    catalog.remove(name);
  }
  for (const auto& [from, to] : changes_.renamed) {
    (void)find_stored(catalog, database_, from);
    refuse_taken(catalog, to);
    catalog.rename(from, to);
  }
}

void CatalogUpdate::add(const std::string& name, Definition definition) {
  definition.name = name;
  added_[name] = std::move(definition);
}

void CatalogUpdate::complete(const std::vector<Written>& written,
                             const std::vector<TupleSet<TileType>>& wholes, Appender& appender) {
  for (std::size_t i = 0; i < wholes.size(); ++i) {
    std::vector<StoredPart> parts;
    std::int64_t tuples = 0;
    for (const Written& by_one : written) {
      parts.push_back(by_one.parts.at(i));
      tuples += parts.back().statistics.at(0);
    }
    TESSERA_INVARIANT(std::cmp_equal(tuples, wholes[i].tuples.size()),
                      "{} tuples were stored of {}", tuples, wholes[i].tuples.size());
    if (i < new_names_.size()) {
      add(new_names_[i], whole_of(parts, wholes[i].type, store::extents_of(wholes[i])));
      keep_strings(new_names_[i], parts, appender);
    } else {
      const auto& [name, more] = changes_.appended[i - new_names_.size()];
      append(name, more, parts, appender);
      keep_strings(name, parts, appender);
    }
  }
}

/// The strings whose codes came with the parts go where these are.
void CatalogUpdate::keep_strings(const std::string& name, const std::vector<StoredPart>& parts,
                                 Appender& appender) {
  std::set<std::int64_t> all;
  for (const StoredPart& part : parts) all.insert(part.codes.begin(), part.codes.end());
  if (all.empty()) return;
  const std::vector<std::int64_t> codes(all.begin(), all.end());
  const std::vector<std::string> strings = changes_.strings_of(codes);
  store::Strings block;
  for (std::size_t i = 0; i < codes.size(); ++i) block.emplace(codes[i], strings[i]);
  const auto added = added_.find(name);
  Definition& definition = added != added_.end() ? added->second : updated_.at(name);
  definition.strings.push_back(appender.append(block));
  merge_strings(database_, definition, appender);
}

/// To what is in the catalogue, or to what this change has stored or appended to before.
void CatalogUpdate::append(const std::string& name, const Relation& more,
                           const std::vector<StoredPart>& parts, Appender& appender) {
  const auto added = added_.find(name);
  const auto base = bases_.find(name);
  if (added == added_.end() && base == bases_.end()) return add(name, first_of(more, parts));
  Definition& changed = added != added_.end() ? added->second : updated_[name];
  const bool first = added == added_.end() && changed.name.empty();
  changed = first ? tessera::append(*base->second, more, parts)
                  : tessera::append(StoredRelation(database_, changed), more, parts);
  merge_directories(database_, changed, appender);
}

void CatalogUpdate::apply(Catalog& catalog) const {
  change_names(catalog);
  for (const auto& [name, definition] : added_) catalog.add(definition);
  for (const auto& [name, definition] : updated_) catalog.update(definition);
  for (const auto& [name, text] : changes_.texts) catalog.set_text(name, text);
}

}  // namespace tessera
