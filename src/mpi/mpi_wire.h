#pragma once

#include <mpi.h>

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

#include "mpi/messages.h"
#include "mpi/naps.h"

namespace tessera::mpi {

/// The wire over MPI. One thread makes all calls of MPI: it starts what others want sent, asks what
/// has arrived, and sleeps a moment when there was nothing, so that the cores are the kernels'.
class MpiWire final : public Wire {
 public:
  MpiWire();
  ~MpiWire() override;

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  int local_size() const override { return local_size_; }

  void start(Handler& handler) override;
  void send(int to, Header header, std::vector<std::span<const std::byte>> pieces,
            std::function<void()> sent) override;

 private:
  void work();
  /// Everybody has said good-bye, and so have we.
  bool over();
  bool can_start() const;
  void listen();
  bool start_sends();
  void post_send(int to, const std::shared_ptr<Outgoing>& message, std::span<const std::byte> bytes,
                 int tag);
  bool take_completions();
  void finished(int to, Outgoing& message);
  /// Keeps the requests that are still open; the first is always the one that listens.
  void forget_done();
  /// A head has arrived: the pieces are asked for in the order they were sent.
  void receive(const MPI_Status& status);

  struct Owner {
    int peer = 0;
    std::shared_ptr<Outgoing> outgoing = nullptr;
    std::shared_ptr<Incoming> incoming = nullptr;
  };

  bool ours_ = false;
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1, local_size_ = 1;
  Handler* handler_ = nullptr;
  std::thread thread_;

  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::vector<std::deque<std::shared_ptr<Outgoing>>> queues_;  // by receiver
  std::vector<int> under_way_;
  std::int64_t unsent_ = 0;
  bool broken_ = false;

  // Of the thread alone.
  Naps naps_;
  std::vector<std::byte> head_;
  std::vector<MPI_Request> requests_;
  std::vector<Owner> owners_;
  std::vector<int> done_;
  std::vector<MPI_Status> statuses_;
  int gone_ = 0, said_goodbye_ = 0;
};

}  // namespace tessera::mpi
