#pragma once

#include <memory>

#include "exec/engine.h"

namespace tessera::exec {

/// What a run is carried out with. It is made of the options at one place, where a statement or a
/// run begins, and passed from there on.
struct Context {
  RunOptions options;  // with nothing left open: threads, memory, folder, who may stop it
  std::shared_ptr<Engine> engine;
};
Context context_of(const RunOptions& options, std::shared_ptr<Engine> engine);

/// The cluster that this process belongs to, or else this process alone.
std::shared_ptr<Engine> default_engine();
inline Context context_of(const RunOptions& options) {
  return context_of(options, default_engine());
}

}  // namespace tessera::exec
