#pragma once

#include <mpi.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <vector>

namespace tessera::mpi {

/// Signs of life, which processes give each other each second beside all other messages: small
/// ones, that wait behind nothing. They tell a process that computes for long from one that is
/// stopped. But for `silence`, all is for the thread that makes the calls of MPI.
class Heartbeat {
 public:
  void connect(MPI_Comm comm);
  void disconnect();

  bool is_due();  // once a second
  void beat();    // to everybody whom the last one has reached
  void listen();  // takes those that have come
  void record_sign(int from);

  /// Seconds since the last sign of another one. A time in which nobody here listened, as when this
  /// process was stopped, is no silence of the others.
  double silence(int rank) const;

 private:
  using Clock = std::chrono::steady_clock;
  static std::int64_t now();  // in milliseconds

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1;
  std::vector<MPI_Request> sends_;
  MPI_Request incoming_ = MPI_REQUEST_NULL;
  char sign_ = 1, taken_ = 0;
  std::int64_t last_look_ = 0, next_beat_ = 0;
  std::unique_ptr<std::atomic<std::int64_t>[]> last_sign_;  // when, by rank
};

}  // namespace tessera::mpi
