#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "exec/wire.h"

// The wire over MPI. One thread makes all calls of MPI: it starts what others want sent, asks what
// has arrived, and sleeps a moment when there was nothing, so that the cores are the kernels'.

namespace {

using tessera::exec::Wire;

constexpr int head_tag = 1;
constexpr int body_tag = 2;
constexpr std::size_t head_bytes = 16384;
constexpr int window = 2;  // messages under way to one process: more would only share its link

using Clock = std::chrono::steady_clock;
using Microseconds = std::chrono::duration<double, std::micro>;

/// How long the thread sleeps when it found nothing to do. MPI moves large messages on only while
/// it is called, a few fragments each time: asked too seldom it wastes the link, asked too often it
/// takes the kernels' time. So while messages are under way, the pause is what a fragment takes at
/// the best rate seen; and when there are none, it grows with the time since the last one.
class Naps {
 public:
  void moved(std::size_t bytes, Clock::duration time) {
    if (static_cast<double>(bytes) < 4 * fragment) return;
    rate_ = std::max(rate_, static_cast<double>(bytes) / Microseconds(time).count());
  }
  void busy() {
    nap_ = Microseconds(20);
    idle_since_ = Clock::now();
  }
  Microseconds next(bool under_way) {
    const Microseconds idle = Clock::now() - idle_since_;
    const Microseconds longest =
        under_way ? std::clamp(Microseconds(fragment / rate_), Microseconds(50), Microseconds(1000))
                  : std::clamp(idle / 8, Microseconds(100), Microseconds(5000));
    nap_ = std::min(nap_ * 2, longest);
    return nap_;
  }

 private:
  static constexpr double fragment = 128 * 1024;
  double rate_ = fragment / 100;  // bytes in a microsecond, until better is known
  Microseconds nap_{20};
  Clock::time_point idle_since_ = Clock::now();
};

/// How much goes in one call: MPI counts with 31 bits. Tests make it small.
std::size_t largest_chunk() {
  static const std::size_t chunk = [] {
    const char* said = std::getenv("TESSERA_MPI_CHUNK");
    return said != nullptr ? std::max<std::size_t>(1, std::strtoull(said, nullptr, 10))
                           : std::size_t{1} << 30;
  }();
  return chunk;
}

void check(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw std::runtime_error(std::string(what) + ": " + std::string(text, length));
}

struct Outgoing {
  Wire::Header header;
  std::vector<std::span<const std::byte>> pieces;
  std::function<void()> sent;
  std::vector<std::byte> head;  // what goes first: sizes, header and, if they are small, pieces
  int open = 0;                 // requests that are not done
  std::size_t bytes = 0;
  Clock::time_point begun = {};
};

struct Incoming {
  int from = 0;
  Wire::Header header;
  int open = 0;
};

/// The head of a message: counts, the header, the sizes of the pieces, and small pieces themselves.
std::vector<std::byte> make_head(const Outgoing& message, bool inline_pieces) {
  std::vector<std::int64_t> numbers{static_cast<std::int64_t>(message.header.size()),
                                    static_cast<std::int64_t>(message.pieces.size()),
                                    inline_pieces ? 1 : 0};
  numbers.insert(numbers.end(), message.header.begin(), message.header.end());
  for (const auto& piece : message.pieces)
    numbers.push_back(static_cast<std::int64_t>(piece.size()));
  std::vector<std::byte> head(numbers.size() * sizeof(std::int64_t));
  std::memcpy(head.data(), numbers.data(), head.size());
  if (inline_pieces)
    for (const auto& piece : message.pieces) head.insert(head.end(), piece.begin(), piece.end());
  return head;
}

class MpiWire final : public Wire {
 public:
  MpiWire() {
    int initialized = 0;
    MPI_Initialized(&initialized);
    int provided = MPI_THREAD_MULTIPLE;
    if (!initialized) {
      check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided), "MPI_Init_thread");
      ours_ = true;
    } else {
      MPI_Query_thread(&provided);
    }
    if (provided < MPI_THREAD_SERIALIZED)
      throw std::runtime_error("this MPI does not let a thread of its own do the communication");
    check(MPI_Comm_dup(MPI_COMM_WORLD, &comm_), "MPI_Comm_dup");
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm_, &rank_);
    MPI_Comm_size(comm_, &size_);
    MPI_Comm local;
    MPI_Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &local);
    MPI_Comm_size(local, &local_size_);
    MPI_Comm_free(&local);
    queues_.resize(static_cast<std::size_t>(size_));
    under_way_.assign(static_cast<std::size_t>(size_), 0);
    head_.resize(head_bytes);
  }

  ~MpiWire() override {
    if (thread_.joinable()) {
      // An empty header is the good-bye.
      for (int other = 0; other < size_; ++other)
        if (other != rank_) send(other, {}, {}, [] {});
      thread_.join();
    }
    MPI_Comm_free(&comm_);
    if (ours_) MPI_Finalize();
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  int local_size() const override { return local_size_; }

  void start(Handler& handler) override {
    handler_ = &handler;
    thread_ = std::thread([this] { work(); });
  }

  void send(int to, Header header, std::vector<std::span<const std::byte>> pieces,
            std::function<void()> sent) override {
    auto message = std::make_shared<Outgoing>();
    message->header = std::move(header);
    message->pieces = std::move(pieces);
    message->sent = std::move(sent);
    {
      const std::lock_guard lock(mutex_);
      queues_[to].push_back(std::move(message));
      ++unsent_;
    }
    changed_.notify_all();
  }

 private:
  void work() {
    try {
      listen();
      while (!over()) {
        const bool started = start_sends();
        const bool done = take_completions();
        if (started || done) {
          naps_.busy();
          continue;
        }
        const auto nap = naps_.next(requests_.size() > 1);
        std::unique_lock lock(mutex_);
        changed_.wait_for(lock, nap, [this] { return can_start(); });
      }
      MPI_Cancel(&requests_[0]);
      MPI_Wait(&requests_[0], MPI_STATUS_IGNORE);
    } catch (const std::exception& error) {
      {
        const std::lock_guard lock(mutex_);
        broken_ = true;
      }
      changed_.notify_all();
      handler_->broken(error.what());
    }
  }

  /// Everybody has said good-bye, and so have we.
  bool over() {
    const std::lock_guard lock(mutex_);
    return gone_ == size_ - 1 && said_goodbye_ == size_ - 1 && unsent_ == 0;
  }

  bool can_start() const {
    for (int to = 0; to < size_; ++to)
      if (!queues_[to].empty() && under_way_[to] < window) return true;
    return false;
  }

  void listen() {
    if (requests_.empty()) {
      requests_.push_back(MPI_REQUEST_NULL);
      owners_.emplace_back();
    }
    check(MPI_Irecv(head_.data(), static_cast<int>(head_bytes), MPI_BYTE, MPI_ANY_SOURCE, head_tag,
                    comm_, &requests_[0]),
          "MPI_Irecv");
  }

  bool start_sends() {
    std::vector<std::pair<int, std::shared_ptr<Outgoing>>> starting;
    {
      const std::lock_guard lock(mutex_);
      for (int i = 0; i < size_; ++i) {
        const int to = (rank_ + i) % size_;  // not everybody to the same one first
        while (!queues_[to].empty() && under_way_[to] < window) {
          starting.emplace_back(to, queues_[to].front());
          queues_[to].pop_front();
          ++under_way_[to];
        }
      }
    }
    for (auto& [to, message] : starting) {
      std::size_t bytes = (3 + message->header.size() + message->pieces.size()) * 8;
      for (const auto& piece : message->pieces) bytes += piece.size();
      const bool small = bytes <= head_bytes;
      message->bytes = bytes;
      message->begun = Clock::now();
      message->head = make_head(*message, small);
      if (message->header.empty()) ++said_goodbye_;
      // A head of many pieces is too long for one message: the rest follows.
      const std::span<const std::byte> head(message->head);
      post_send(to, message, head.first(std::min(head_bytes, head.size())), head_tag);
      if (head.size() > head_bytes) post_send(to, message, head.subspan(head_bytes), body_tag);
      if (small) continue;
      for (const auto& piece : message->pieces)
        for (std::size_t at = 0; at < piece.size(); at += largest_chunk())
          post_send(to, message, piece.subspan(at, std::min(largest_chunk(), piece.size() - at)),
                    body_tag);
    }
    return !starting.empty();
  }

  void post_send(int to, const std::shared_ptr<Outgoing>& message, std::span<const std::byte> bytes,
                 int tag) {
    requests_.push_back(MPI_REQUEST_NULL);
    owners_.push_back({to, message, nullptr});
    ++message->open;
    check(MPI_Isend(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, to, tag, comm_,
                    &requests_.back()),
          "MPI_Isend");
  }

  bool take_completions() {
    int count = 0;
    done_.resize(requests_.size());
    statuses_.resize(requests_.size());
    check(MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &count, done_.data(),
                       statuses_.data()),
          "MPI_Testsome");
    if (count == MPI_UNDEFINED || count == 0) return false;
    bool head_arrived = false;
    MPI_Status head_status{};
    for (int i = 0; i < count; ++i) {
      const int index = done_[i];
      if (index == 0) {
        head_arrived = true;
        head_status = statuses_[i];
        continue;
      }
      Owner& owner = owners_[index];
      if (owner.outgoing) finished(owner.peer, *owner.outgoing);
      if (owner.incoming && --owner.incoming->open == 0)
        handler_->ended(owner.incoming->from, owner.incoming->header);
      owner = {};
    }
    forget_done();
    if (head_arrived) receive(head_status);
    return true;
  }

  void finished(int to, Outgoing& message) {
    if (--message.open > 0) return;
    naps_.moved(message.bytes, Clock::now() - message.begun);
    if (message.sent) message.sent();
    {
      const std::lock_guard lock(mutex_);
      --under_way_[to];
      --unsent_;
    }
    changed_.notify_all();
  }

  /// Keeps the requests that are still open; the first is always the one that listens.
  void forget_done() {
    std::size_t kept = 1;
    for (std::size_t i = 1; i < requests_.size(); ++i) {
      if (requests_[i] == MPI_REQUEST_NULL) continue;
      if (kept != i) {
        requests_[kept] = requests_[i];
        owners_[kept] = std::move(owners_[i]);
      }
      ++kept;
    }
    requests_.resize(kept);
    owners_.resize(kept);
  }

  /// A head has arrived: the pieces are asked for in the order they were sent.
  void receive(const MPI_Status& status) {
    int bytes = 0;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    std::int64_t counts[3];
    std::memcpy(counts, head_.data(), sizeof counts);
    auto message = std::make_shared<Incoming>();
    message->from = status.MPI_SOURCE;
    message->header.resize(static_cast<std::size_t>(counts[0]));
    std::vector<std::int64_t> sizes(static_cast<std::size_t>(counts[1]));
    const std::size_t length = sizeof counts + (message->header.size() + sizes.size()) * 8;
    if (length > head_bytes) {
      // The sender has sent the rest already, and pieces are asked for in the order they were sent.
      head_.resize(length);
      check(MPI_Recv(head_.data() + head_bytes, static_cast<int>(length - head_bytes), MPI_BYTE,
                     message->from, body_tag, comm_, MPI_STATUS_IGNORE),
            "MPI_Recv");
    }
    const std::byte* at = head_.data() + sizeof counts;
    std::memcpy(message->header.data(), at, message->header.size() * 8);
    at += message->header.size() * 8;
    std::memcpy(sizes.data(), at, sizes.size() * 8);
    at += sizes.size() * 8;
    if (message->header.empty()) {
      ++gone_;
      listen();
      handler_->ended(message->from, {});
      return;
    }
    const std::vector<Memory> memory = handler_->begun(message->from, message->header, sizes);
    if (counts[2] == 1) {
      for (const Memory& piece : memory) {
        std::memcpy(piece.data(), at, piece.size());
        at += piece.size();
      }
    } else {
      for (const Memory& piece : memory)
        for (std::size_t done = 0; done < piece.size(); done += largest_chunk()) {
          requests_.push_back(MPI_REQUEST_NULL);
          owners_.push_back({message->from, nullptr, message});
          ++message->open;
          check(MPI_Irecv(piece.data() + done,
                          static_cast<int>(std::min(largest_chunk(), piece.size() - done)),
                          MPI_BYTE, message->from, body_tag, comm_, &requests_.back()),
                "MPI_Irecv");
        }
    }
    listen();
    if (message->open == 0) handler_->ended(message->from, message->header);
  }

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

}  // namespace

extern "C" Wire* tessera_open_wire() { return new MpiWire; }
