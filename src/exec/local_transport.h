#pragma once

#include <mutex>

#include "exec/transport.h"
#include "ia/evaluate.h"

namespace tessera::exec {

/// Sites that are all in this process: a transfer shares the handle, and is counted.
class LocalTransport : public Transport {
 public:
  explicit LocalTransport(int sites) : traffic_(sites) {}

  void start(Receiver& receiver) override { receiver_ = &receiver; }
  void send(ValueId value, const std::vector<Tile>& tiles, int from_site, int to_site,
            std::function<void()> sent) override;
  void fail(const std::string&) override {}
  void finish() override {}
  double floats_moved() const override;

  /// What crossed, once the run is over.
  const ia::Traffic& traffic() const { return traffic_; }

 private:
  Receiver* receiver_ = nullptr;
  mutable std::mutex mutex_;
  ia::Traffic traffic_;
};

}  // namespace tessera::exec
