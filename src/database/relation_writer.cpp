#include "database/relation_writer.h"

#include <algorithm>

#include "base/check.h"

namespace tessera {

void RelationWriter::add(const Key& key, const std::vector<Tile>& tiles) {
  statistics_.add(key, tiles);
  store::Entry entry = appender_.append(key, tiles);
  const std::lock_guard lock(mutex_);
  directory_.entries.push_back(std::move(entry));
  for (const int column : string_columns_) {
    const Tile codes = tiles.at(static_cast<std::size_t>(column)).dense().contiguous();
    const auto* code = codes.data<std::int64_t>();
    codes_.insert(code, code + codes.elements());
  }
}

const std::vector<store::Entry>& RelationWriter::entries() {
  auto& entries = directory_.entries;
  std::sort(entries.begin(), entries.end(),
            [](const store::Entry& a, const store::Entry& b) { return a.key < b.key; });
  for (std::size_t i = 1; i < entries.size(); ++i)
    TESSERA_REQUIRE(PlanError, entries[i - 1].key != entries[i].key,
                    "duplicate key {}; keys must be unique", to_string(entries[i].key));
  return entries;
}

store::Address RelationWriter::append_directory() {
  (void)entries();
  return appender_.append(directory_);
}

store::Definition RelationWriter::finish(const std::string& name, const RelationType& type,
                                         const store::Extents& extents) {
  const store::Address directory = append_directory();
  return {name, type, extents, statistics_.finish(type), bytes(), {directory}};
}

}  // namespace tessera
