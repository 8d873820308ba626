#include "exec/context.h"

#include <algorithm>
#include <cstdlib>

#include "base/check.h"
#include "base/stop.h"
#include "exec/cluster_engine.h"
#include "exec/helpers.h"
#include "exec/local_engine.h"
#include "exec/memory_limit.h"

namespace tessera::exec {
namespace {

std::string temporary_folder(const RunOptions& options) {
  if (!options.temporary_folder.empty()) return options.temporary_folder;
  const char* said = std::getenv("TMPDIR");
  return said != nullptr && *said != '\0' ? said : "/var/tmp";
}

}  // namespace

Context context_of(const RunOptions& options, std::shared_ptr<Engine> engine) {
  TESSERA_REQUIRE(PlanError, options.threads >= 0, "threads must be at least 0, not {}",
                  options.threads);
  TESSERA_REQUIRE(PlanError, options.memory_limit >= 0,
                  "memory_limit must be at least 0, not {} bytes", options.memory_limit);
  Context context{options, std::move(engine)};
  RunOptions& settled = context.options;
  settled.engine = context.engine;
  const int here = context.engine->processes_here();
  if (options.threads == 0) settled.threads = std::max(1, all_cores() / here);
  if (options.memory_limit == 0)
    settled.memory_limit = std::max<std::int64_t>(1, default_memory_limit() / here);
  settled.temporary_folder = temporary_folder(options);
  if (!options.stop.stop_possible()) settled.stop = heard_stop();
  return context;
}

std::shared_ptr<Engine> engine_of(const RunOptions& options) {
  if (options.engine) return options.engine;
  Cluster* together = cluster_of_process();
  if (together != nullptr) return std::make_shared<ClusterEngine>(*together);
  return std::make_shared<LocalEngine>();
}

}  // namespace tessera::exec
