#include "exec/local_transport.h"

namespace tessera::exec {

void LocalTransport::send(ValueId value, const std::vector<Tile>& tiles, int from_site, int to_site,
                          std::function<void()> sent) {
  double floats = 0;
  for (const Tile& tile : tiles) floats += static_cast<double>(tile.elements());
  {
    const std::lock_guard lock(mutex_);
    traffic_.add(from_site, to_site, floats);
  }
  receiver_->arrived(value, tiles);
  if (sent) sent();
}

double LocalTransport::floats_moved() const {
  const std::lock_guard lock(mutex_);
  return traffic_.total;
}

}  // namespace tessera::exec
