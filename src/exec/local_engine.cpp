#include "exec/local_engine.h"

#include "exec/local_transport.h"
#include "exec/run_tasks.h"

namespace tessera::exec {

std::vector<std::vector<Tuple>> LocalEngine::run(Prepared run, const TupleSink& sink,
                                                 std::vector<RunObserver*> observers) {
  LocalTransport transport;
  std::vector<Accelerator*> by_site;
  if (!accelerators_.empty()) by_site.resize(static_cast<std::size_t>(run.graph->sites), nullptr);
  for (std::size_t site = 0; site < std::min(by_site.size(), accelerators_.size()); ++site)
    by_site[site] = accelerators_[site].get();
  return run_tasks(std::move(run), transport, sink, std::move(observers), std::move(by_site));
}

}  // namespace tessera::exec
