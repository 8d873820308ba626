#pragma once

#include "exec/cluster.h"
#include "exec/engine.h"
#include "exec/run_tasks.h"

namespace tessera::exec {

/// Every process of a cluster makes the same logical plans. The first one decides how they run, and
/// each runs the tasks of its own sites; tiles travel between them.
class ClusterEngine final : public Engine {
 public:
  explicit ClusterEngine(Cluster& cluster) : cluster_(cluster) {}

  int sites(const RunOptions&) const override { return cluster_.size(); }
  int processes() const override { return cluster_.size(); }
  int rank() const override { return cluster_.rank(); }
  int processes_here() const override { return cluster_.local_size(); }
  std::vector<std::vector<Tuple>> run(Prepared run, const TupleSink& sink,
                                      std::vector<RunObserver*> observers) override {
    const std::unique_ptr<Transport> transport = cluster_.open_run(*run.graph);
    return run_tasks(std::move(run), *transport, sink, std::move(observers));
  }
  void send_decisions(std::uint64_t mark, const std::string& decided) override {
    cluster_.send_decisions(mark, decided);
  }
  std::string receive_decisions(std::uint64_t mark) override {
    return cluster_.receive_decisions(mark);
  }
  std::int64_t runs() override { return cluster_.runs(); }
  void fail_next_run(const std::string& why) override { cluster_.fail_next_run(why); }
  std::int64_t mark_of_last_run() override { return cluster_.mark_of_last_run(); }
  std::vector<std::string> to_first(const std::string& said) override {
    return cluster_.to_first(said);
  }
  std::string from_first(const std::string& said) override { return cluster_.from_first(said); }
  std::optional<double> timeout() override { return cluster_.timeout(); }
  void set_timeout(double seconds) override { cluster_.set_timeout(seconds); }

 private:
  Cluster& cluster_;
};

}  // namespace tessera::exec
