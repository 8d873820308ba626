#pragma once

#include "exec/accelerator.h"
#include "exec/engine.h"
#include "exec/local_transport.h"
#include "exec/run_tasks.h"

namespace tessera::exec {

/// All sites are in this process. Each lies on the host, or on an accelerator.
class LocalEngine final : public Engine {
 public:
  /// `accelerators`: by site; none, as of the sites after these: the host.
  explicit LocalEngine(std::vector<std::shared_ptr<Accelerator>> accelerators = {})
      : accelerators_(std::move(accelerators)) {}

  std::vector<std::vector<Tuple>> run(Prepared run, const TupleSink& sink,
                                      std::vector<RunObserver*> observers) override {
    LocalTransport transport;
    std::vector<Accelerator*> by_site;
    if (!accelerators_.empty()) by_site.resize(static_cast<std::size_t>(run.graph->sites), nullptr);
    for (std::size_t site = 0; site < std::min(by_site.size(), accelerators_.size()); ++site)
      by_site[site] = accelerators_[site].get();
    return run_tasks(std::move(run), transport, sink, std::move(observers), std::move(by_site));
  }

 private:
  std::vector<std::shared_ptr<Accelerator>> accelerators_;
};

}  // namespace tessera::exec
