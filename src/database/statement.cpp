#include "database/statement.h"

#include "base/check.h"

namespace tessera {

WriteStatement::WriteStatement(const std::filesystem::path& database, double lock_seconds,
                               store::Compression compression)
    : database_(database),
      compression_(compression),
      lock_(database, lock_seconds),
      catalog_(database, store::Catalog::Mode::write) {
  remove_leftovers();
  const auto lengths = catalog_.segments();
  const bool any = !lengths.empty();
  segments_ = std::make_unique<store::SegmentWriter>(database, any ? lengths.rbegin()->first : 0,
                                                     any ? lengths.rbegin()->second : 0,
                                                     catalog_.next_segment());
}

/// Files that the catalogue does not know are of statements that did not end well: nobody writes to
/// them, as this one has the lock.
void WriteStatement::remove_leftovers() {
  const auto known = catalog_.segments();
  for (const auto& entry : std::filesystem::directory_iterator(database_ / "segments")) {
    const std::string stem = entry.path().stem().string();
    const bool ours = entry.path().extension() == ".seg" && !stem.empty() &&
                      stem.find_first_not_of("0123456789") == std::string::npos;
    if (ours && !known.contains(std::stoll(stem))) std::filesystem::remove(entry.path());
  }
}

void WriteStatement::start_new_segment() {
  segments_ = std::make_unique<store::SegmentWriter>(database_, 0, 0, catalog_.next_segment());
}

store::Entry WriteStatement::append(const Key& key, const std::vector<Tile>& tiles) {
  store::Entry entry{key, {}, segments_->append(store::record_of(key, tiles, compression_))};
  for (const Tile& tile : tiles) entry.types.push_back(tile.type());
  return entry;
}

store::Address WriteStatement::append(const store::Directory& directory) {
  return segments_->append(store::record_of(store::to_numbers(directory)));
}

void WriteStatement::commit(const std::function<void(store::Catalog&)>& change) {
  segments_->sync();
  store::Transaction transaction = catalog_.writing();
  catalog_.set_segments(segments_->lengths());
  change(catalog_);
  // Should the commit fail, what was written stays until somebody has the lock who can see whether
  // it is there after all.
  segments_->keep();
  transaction.commit();
}

}  // namespace tessera
