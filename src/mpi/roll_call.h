#pragma once

#include <string>

namespace tessera::mpi {

/// Who has come. MPI lets a process wait for the others without telling for whom; the launcher's
/// board, where each leaves a note before it joins, does. Where there is no such board (it is that
/// of PMIx, as Open MPI has it), nobody is known to be missing.
class RollCall {
 public:
  /// Leaves the note of this process. Once, by whoever is about to join.
  void come();
  /// Those who have left none: "rank 1 (on host a)", "rank 1 (on host a) and rank 3 (on host b)".
  std::string missing();
  void leave();

 private:
  bool there_ = false;
};

}  // namespace tessera::mpi
