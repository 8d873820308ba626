#pragma once

#include <mpi.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

#include "mpi/heartbeat.h"
#include "mpi/messages.h"
#include "mpi/naps.h"
#include "mpi/roll_call.h"

namespace tessera::mpi {

/// The wire over MPI. One thread makes all calls of MPI, from the first to the last: it starts what
/// others want sent, asks what has arrived, and sleeps a moment when there was nothing, so that the
/// cores are the kernels'.
class MpiWire final : public Wire {
 public:
  /// Joins the others. Throws std::runtime_error if they have not all come after so many seconds.
  static MpiWire* open(double patience);
  ~MpiWire() override;

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  int local_size() const override { return local_size_; }
  std::string name(int rank) const override { return names_[static_cast<std::size_t>(rank)]; }
  double silence(int rank) const override { return heartbeat_.silence(rank); }
  void still_here() override;
  void give_up(const std::string& why) override;

  void start(Handler& handler) override;
  void send(int to, Header header, std::vector<std::span<const std::byte>> pieces,
            std::function<void()> sent) override;

 private:
  MpiWire() = default;
  void live();
  void connect();
  void learn_names();
  void disconnect();
  void work();
  void look_at_the_clock();
  void enqueue(int to, Header header, std::vector<std::span<const std::byte>> pieces,
               std::function<void()> sent);
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
  std::vector<std::string> names_;  // by rank
  Handler* handler_ = nullptr;
  std::thread thread_;
  RollCall roll_call_;

  std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  bool connected_ = false, leaving_ = false;
  std::string failure_;  // why there is no connection
  std::string lost_;     // somebody, for whose good-bye nobody waits
  std::vector<std::deque<std::shared_ptr<Outgoing>>> queues_;  // by receiver
  std::vector<int> under_way_;
  std::int64_t unsent_ = 0;
  bool broken_ = false;

  // Of the thread alone.
  Naps naps_;
  Heartbeat heartbeat_;
  std::vector<std::byte> head_;
  std::vector<MPI_Request> requests_;
  std::vector<Owner> owners_;
  std::vector<int> done_;
  std::vector<MPI_Status> statuses_;
  int closes_received_ = 0, closes_sent_ = 0;  // messages that end a connection
};

}  // namespace tessera::mpi
