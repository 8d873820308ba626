#pragma once

#include "exec/prepare.h"
#include "exec/transport.h"
#include "tessera/events.h"

namespace tessera::exec {

class Accelerator;

/// What engines whose tasks run in processes like this one have in common: runs the tasks of the
/// own sites by a Scheduler. See Engine::run. `accelerators`: by site, none for the host; or empty.
std::vector<std::vector<Tuple>> run_tasks(Prepared run, Transport& transport, const TupleSink& sink,
                                          std::vector<RunObserver*> observers,
                                          std::vector<Accelerator*> accelerators = {});

}  // namespace tessera::exec
