#pragma once

namespace tessera {

/// Gives free memory of the heap back to the system: after much that was small has been released.
void give_back_free_memory();

}  // namespace tessera
