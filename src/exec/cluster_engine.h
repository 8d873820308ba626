#pragma once

#include "exec/cluster.h"
#include "exec/engine.h"

namespace tessera::exec {

/// Every process of a cluster makes the same plans and runs the tasks of its own sites; tiles
/// travel between them.
class ClusterEngine final : public Engine {
 public:
  explicit ClusterEngine(Cluster& cluster) : cluster_(cluster) {}

  int sites(const RunOptions&) const override { return cluster_.size(); }
  int processes() const override { return cluster_.size(); }
  int rank() const override { return cluster_.rank(); }
  int processes_here() const override { return cluster_.local_size(); }
  std::vector<std::vector<Tuple>> run(Prepared run, const TupleSink& sink,
                                      std::vector<RunObserver*> observers) override;
  std::int64_t runs() override { return cluster_.runs(); }
  void fail_next_run(const std::string& why) override { cluster_.fail_next_run(why); }

 private:
  Cluster& cluster_;
};

}  // namespace tessera::exec
