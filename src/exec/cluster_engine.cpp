#include "exec/cluster_engine.h"

#include "exec/run_tasks.h"

namespace tessera::exec {

std::vector<std::vector<Tuple>> ClusterEngine::run(Prepared run, const TupleSink& sink,
                                                   std::vector<RunObserver*> observers) {
  const std::unique_ptr<Transport> transport = cluster_.open_run(*run.graph);
  return run_tasks(std::move(run), *transport, sink, std::move(observers));
}

}  // namespace tessera::exec
