#include "mpi/heartbeat.h"

#include "mpi/check.h"

namespace tessera::mpi {
namespace {

constexpr int beat_tag = 3;
constexpr std::int64_t interval = 1000;  // milliseconds
constexpr std::int64_t inattentive = 5 * interval;

}  // namespace

std::int64_t Heartbeat::now() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now().time_since_epoch())
      .count();
}

void Heartbeat::connect(MPI_Comm comm) {
  comm_ = comm;
  MPI_Comm_rank(comm_, &rank_);
  MPI_Comm_size(comm_, &size_);
  sends_.assign(static_cast<std::size_t>(size_), MPI_REQUEST_NULL);
  last_sign_ = std::make_unique<std::atomic<std::int64_t>[]>(static_cast<std::size_t>(size_));
  last_look_ = next_beat_ = now();
  for (int rank = 0; rank < size_; ++rank) last_sign_[rank] = last_look_;
}

/// What has not reached anybody until now reaches nobody.
void Heartbeat::disconnect() {
  for (MPI_Request* request : {&incoming_})
    if (*request != MPI_REQUEST_NULL) {
      MPI_Cancel(request);
      MPI_Wait(request, MPI_STATUS_IGNORE);
    }
  for (MPI_Request& request : sends_)
    if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
}

bool Heartbeat::is_due() {
  const std::int64_t time = now();
  if (time - last_look_ > inattentive)
    for (int rank = 0; rank < size_; ++rank) last_sign_[rank] = time;
  last_look_ = time;
  if (time < next_beat_) return false;
  next_beat_ = time + interval;
  return true;
}

void Heartbeat::beat() {
  for (int to = 0; to < size_; ++to) {
    if (to == rank_) continue;
    MPI_Request& request = sends_[static_cast<std::size_t>(to)];
    int done = 1;
    if (request != MPI_REQUEST_NULL)
      check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (done) check(MPI_Isend(&sign_, 1, MPI_CHAR, to, beat_tag, comm_, &request), "MPI_Isend");
  }
}

void Heartbeat::listen() {
  for (int done = 1; done != 0;) {
    if (incoming_ == MPI_REQUEST_NULL)
      check(MPI_Irecv(&taken_, 1, MPI_CHAR, MPI_ANY_SOURCE, beat_tag, comm_, &incoming_),
            "MPI_Irecv");
    MPI_Status status;
    check(MPI_Test(&incoming_, &done, &status), "MPI_Test");
    if (done) record_sign(status.MPI_SOURCE);
  }
}

void Heartbeat::record_sign(int from) { last_sign_[from] = now(); }

double Heartbeat::silence(int rank) const {
  return static_cast<double>(now() - last_sign_[rank]) / 1000;
}

}  // namespace tessera::mpi
