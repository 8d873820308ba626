#pragma once

#include "exec/task_graph.h"

namespace tessera::exec {

/// Predicted bytes of each value of a graph. What the user's own relations hold counts nothing.
/// Entries of sparse tiles cannot be counted beforehand: these are guessed.
struct ValueSizes {
  std::vector<std::int64_t> bytes;
  std::vector<char> guessed;

  /// What is sure to be taken.
  std::int64_t known(ValueId value) const { return guessed[value] ? 0 : bytes[value]; }
};
ValueSizes predicted_sizes(const TaskGraph& graph);

/// Whether a task adds to its accumulator in place, when all tasks before it have run: nobody reads
/// that later, and it is as large as what comes of it. By task.
std::vector<char> taken_in_place(const TaskGraph& graph, const ValueSizes& sizes);

/// All values of some sites at once, whatever the order: an upper bound. A sparse tile has at most
/// as many entries as a dense one has elements.
double most_bytes(const TaskGraph& graph, const std::vector<bool>& mine, const ValueSizes& sizes,
                  int threads);

/// The least limit that a run can do with: the most that one task takes with its inputs, its output
/// and what its kernels hand on to each other, and all results if they are kept. Of values that are
/// guessed what is known counts, as a run finds out about the rest.
std::int64_t least_limit(const TaskGraph& graph, const std::vector<bool>& mine,
                         const ValueSizes& sizes, bool keeps_results);

}  // namespace tessera::exec
