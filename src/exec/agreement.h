#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "exec/task_graph.h"

namespace tessera::exec {

// What processes that run a plan together compare besides the plan: the values of its inputs. A run
// whose processes have different ones would yield a mixture that is nobody's result.

/// An input as one process has it.
struct InputNote {
  std::string name;            // as a message may call it
  std::uint64_t contents = 0;  // 0: this process cannot tell
};

/// The inputs of a graph: relations as a whole, sources by a few of their tiles. Which ones follows
/// from the type, so that all processes read the same. A source that fails here knows only a part,
/// and tells nothing; what a database has is compared by its version, with the plan.
std::vector<InputNote> note_inputs(const TaskGraph& graph);

std::string to_text(const std::vector<InputNote>& notes);
std::vector<InputNote> notes_of(const std::string& text);

/// Which input differs, and between whom; empty if none does. By rank; all are of one plan.
std::string disagreement(const std::vector<std::vector<InputNote>>& notes);

}  // namespace tessera::exec
