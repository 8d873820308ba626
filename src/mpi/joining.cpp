#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "mpi/check.h"
#include "mpi/mpi_wire.h"

// How a process joins the others, and leaves them.

namespace tessera::mpi {
namespace {

/// What MPI takes of the address space while it starts. One that finds less ends the process in
/// many ways, few of which say whose.
constexpr std::size_t room_to_start = std::size_t{256} << 20;

void require_room_to_start() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
  void* room = ::mmap(nullptr, room_to_start, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room != MAP_FAILED) {
    ::munmap(room, room_to_start);
    return;
  }
  const char* rank = std::getenv("PMIX_RANK");
  char host[256] = {};
  (void)::gethostname(host, sizeof host - 1);
  std::fprintf(stderr,
               "ClusterError: rank %s (on host %s) has too little memory to start: MPI needs %zu "
               "MB of address space in addition to the program's own, and the limit is %llu MB in "
               "total (ulimit -v)\n",
               rank != nullptr ? rank : "?", host, room_to_start >> 20,
               static_cast<unsigned long long>(limit.rlim_cur >> 20));
  std::_Exit(1);  // as MPI would: without memory, libraries wait for their threads at a usual end
}

}  // namespace

MpiWire* MpiWire::open(double patience) {
  auto* wire = new MpiWire;  // which stays if its thread is not heard of again
  wire->thread_ = std::thread([wire] { wire->live(); });
  std::unique_lock lock(wire->mutex_);
  const bool heard =
      wire->changed_.wait_for(lock, std::chrono::duration<double>(std::min(patience, 1e8)),
                              [&] { return wire->connected_ || !wire->failure_.empty(); });
  if (wire->connected_) return wire;
  const std::string failure = wire->failure_;
  lock.unlock();
  if (!heard) {
    wire->thread_.detach();
    const std::string missing = wire->roll_call_.missing();
    char seconds[32];
    std::snprintf(seconds, sizeof seconds, "%g", patience);
    throw std::runtime_error(
        (missing.empty() ? "MPI did not connect the processes" : missing + " did not start") +
        " within " + seconds +
        " s: a process ended or was stopped before its first plan, or had no memory to start; to "
        "wait longer, set TESSERA_CLUSTER_TIMEOUT");
  }
  wire->thread_.join();
  delete wire;
  throw std::runtime_error(failure);
}

/// What the thread does.
void MpiWire::live() {
  try {
    connect();
  } catch (const std::exception& error) {
    const std::lock_guard lock(mutex_);
    failure_ = error.what();
    changed_.notify_all();
    return;
  }
  {
    std::unique_lock lock(mutex_);
    connected_ = true;
    changed_.notify_all();
    changed_.wait(lock, [this] { return handler_ != nullptr || leaving_; });
  }
  if (handler_ != nullptr) work();
  disconnect();
}

void MpiWire::connect() {
  int initialized = 0;
  MPI_Initialized(&initialized);
  int provided = MPI_THREAD_MULTIPLE;
  if (!initialized) {
    require_room_to_start();
    roll_call_.come();
    check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided), "MPI_Init_thread");
    ours_ = true;
  } else {
    MPI_Query_thread(&provided);
  }
  if (provided < MPI_THREAD_SERIALIZED)
    throw std::runtime_error(
        "this MPI library does not support communication from a separate thread");
  check(MPI_Comm_dup(MPI_COMM_WORLD, &comm_), "MPI_Comm_dup");
  MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
  MPI_Comm_rank(comm_, &rank_);
  MPI_Comm_size(comm_, &size_);
  MPI_Comm local;
  MPI_Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &local);
  MPI_Comm_size(local, &local_size_);
  MPI_Comm_free(&local);
  learn_names();
  heartbeat_.connect(comm_);
  queues_.resize(static_cast<std::size_t>(size_));
  under_way_.assign(static_cast<std::size_t>(size_), 0);
}

/// Everybody tells where it is.
void MpiWire::learn_names() {
  constexpr int longest = 256;
  char mine[longest] = {};
  char host[MPI_MAX_PROCESSOR_NAME] = {};
  int length = 0;
  MPI_Get_processor_name(host, &length);
  std::snprintf(mine, longest, "rank %d (process %d on host %.200s)", rank_,
                static_cast<int>(::getpid()), host);
  std::vector<char> all(static_cast<std::size_t>(size_) * longest);
  check(MPI_Allgather(mine, longest, MPI_CHAR, all.data(), longest, MPI_CHAR, comm_),
        "MPI_Allgather");
  for (int rank = 0; rank < size_; ++rank)
    names_.emplace_back(all.data() + static_cast<std::size_t>(rank) * longest);
}

void MpiWire::disconnect() {
  heartbeat_.disconnect();
  MPI_Comm_free(&comm_);
  if (ours_) MPI_Finalize();
  roll_call_.leave();
}

}  // namespace tessera::mpi
