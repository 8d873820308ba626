#include "store/stored_relation.h"

#include <algorithm>

#include "base/check.h"
#include "store/consistency.h"

namespace tessera::store {

StoredRelation::StoredRelation(const std::filesystem::path& database, Definition definition)
    : definition_(std::move(definition)) {
  std::int64_t bytes = 0;
  const auto open = [&](std::int64_t segment) {
    auto& opened = files_[segment];
    if (!opened) {
      opened = std::make_shared<const File>(open_segment(database, segment));
      bytes += opened->size();
    }
    return bytes;
  };
  const std::string what = fmt::format("the directory of \"{}\"", definition_.shown());
  for (const Address& part : definition_.directories) {
    (void)open(part.segment);
    Directory directory = directory_of(read_numbers(*files_.at(part.segment), part.range, what),
                                       definition_.shown(), definition_.type.columns.size(), open);
    std::move(directory.entries.begin(), directory.entries.end(),
              std::back_inserter(directory_.entries));
  }
  for (const Address& block : definition_.strings) (void)open(block.segment);
  std::sort(directory_.entries.begin(), directory_.entries.end(),
            [](const Entry& a, const Entry& b) { return a.key < b.key; });
  check_entries(definition_, directory_.entries);
  const Extents& extents = definition_.extents;
  auto tuples = std::make_shared<TupleSet<TileType>>();
  tuples->type = definition_.type;
  tuples->tuples.reserve(directory_.entries.size());
  for (const Entry& entry : directory_.entries) tuples->tuples.push_back({entry.key, entry.types});
  if (definition_.type.presence == Presence::sparse)
    tuples->absent_types = extents.absent  ? absent_types_of(definition_.type, *extents.absent)
                           : extents.edges ? absent_types_of(definition_.type, *extents.edges)
                                           : absent_types_of(definition_.type);
  tuples_ = std::move(tuples);
}

/// The checksums of its records, which say key and tiles. Those of its directories also say where
/// these lie, which a vacuum changes, and it changes nothing else.
SourceFacts StoredRelation::facts() const {
  SourceFacts facts{directory_.entries.size(), definition_.bytes};
  for (const Entry& entry : directory_.entries)
    facts.version = facts.version * 1099511628211u + entry.address.range.checksum;
  return facts;
}

const Entry* StoredRelation::find(const Key& key) const {
  const auto found =
      std::lower_bound(directory_.entries.begin(), directory_.entries.end(), key,
                       [](const Entry& entry, const Key& wanted) { return entry.key < wanted; });
  return found != directory_.entries.end() && found->key == key ? &*found : nullptr;
}

Strings StoredRelation::strings() const {
  Strings all;
  for (const Address& block : definition_.strings)
    add_strings(all, read_block(*files_.at(block.segment), block, definition_.name));
  return all;
}

std::vector<Tile> StoredRelation::read(const Key& key) const {
  const Entry* entry = find(key);
  TESSERA_REQUIRE(TypeError, entry != nullptr, "\"{}\" has no tuple with key {}",
                  definition_.shown(), to_string(key));
  return read(*entry);
}

std::vector<Tile> StoredRelation::read(const Entry& entry) const {
  std::vector<Tile> tiles = read_tiles(
      *files_.at(entry.address.segment), entry.address.range, entry.key,
      fmt::format("the tile of \"{}\" at {}", definition_.shown(), to_string(entry.key)));
  TESSERA_REQUIRE(
      IoError, tiles.size() == entry.types.size(),
      "the record of \"{}\" at {} is damaged: it has {} tiles, but the directory says {}",
      definition_.shown(), to_string(entry.key), tiles.size(), entry.types.size());
  for (std::size_t c = 0; c < tiles.size(); ++c)
    TESSERA_REQUIRE(IoError, tiles[c].type() == entry.types[c],
                    "the tile of \"{}\" at {} is damaged: it is {}, but the directory says {}",
                    definition_.shown(), to_string(entry.key), to_string(tiles[c].type()),
                    to_string(entry.types[c]));
  return tiles;
}

}  // namespace tessera::store
