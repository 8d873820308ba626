#pragma once

#include "exec/task_graph.h"

namespace tessera::exec {

/// What a task is given: the tiles of its inputs, in order. The accumulator of a folding task is
/// not among them but handed over, so that it can be added to in place if nobody else holds it.
struct Arguments {
  std::vector<Tile> accumulator;
  std::vector<const std::vector<Tile>*> inputs;
};

struct Made {
  std::vector<Tile> tiles;
  std::int64_t transient_bytes = 0;  // of a product that was folded and dropped
};

bool is_folding(TaskKind kind);

/// Runs the kernels of a task, which is not a transfer, by implementations for a device, where its
/// inputs lie. Zeros to fill in lie on the host. Errors name the operator and the key.
Made perform(const TaskGraph& graph, const Task& task, Arguments arguments,
             Device device = Device::cpu);

}  // namespace tessera::exec
