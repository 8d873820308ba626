#include "database/appender.h"

namespace tessera {

store::Entry Appender::append(const Key& key, const std::vector<Tile>& tiles) {
  store::Entry entry{key, {}, segments_->append(store::record_of(key, tiles, compression_))};
  for (const Tile& tile : tiles) entry.types.push_back(tile.type());
  return entry;
}

store::Address Appender::append(const store::Directory& directory) {
  return segments_->append(store::record_of(store::to_numbers(directory)));
}

store::Address Appender::append(const store::Strings& strings) {
  return segments_->append(store::record_of(store::to_numbers(strings)));
}

}  // namespace tessera
