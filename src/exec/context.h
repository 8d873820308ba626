#pragma once

#include <memory>

#include "exec/engine.h"

namespace tessera::exec {

/// What a run is planned for and carried out with. It is made of the options where a run begins,
/// and passed from there on.
struct Context {
  RunOptions options;  // with nothing left open: threads, memory, folder, who runs and may stop it
  std::shared_ptr<Engine> engine;
};
Context context_of(const RunOptions& options, std::shared_ptr<Engine> engine);

/// The one that the options name, or else the cluster that this process belongs to, or else this
/// process alone. Only this asks for that cluster.
std::shared_ptr<Engine> engine_of(const RunOptions& options);
inline Context context_of(const RunOptions& options) {
  return context_of(options, engine_of(options));
}

}  // namespace tessera::exec
