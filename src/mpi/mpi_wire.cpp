#include "mpi/mpi_wire.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "mpi/check.h"

namespace tessera::mpi {

namespace {

constexpr int head_tag = 1;
constexpr int body_tag = 2;
constexpr std::size_t head_bytes = 16384;
constexpr int window = 2;  // messages under way to one process: more would only share its link

/// How much goes in one call: MPI counts with 31 bits. Tests make it small.
std::size_t largest_chunk() {
  static const std::size_t chunk = [] {
    const char* said = std::getenv("TESSERA_MPI_CHUNK");
    return said != nullptr ? std::max<std::size_t>(1, std::strtoull(said, nullptr, 10))
                           : std::size_t{1} << 30;
  }();
  return chunk;
}

}  // namespace

MpiWire::~MpiWire() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    if (handler_ != nullptr)
      // An empty header is the good-bye.
      for (int other = 0; other < size_; ++other)
        if (other != rank_) enqueue(other, {}, {}, [] {});
    leaving_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void MpiWire::start(Handler& handler) {
  const std::lock_guard lock(mutex_);
  handler_ = &handler;
  changed_.notify_all();
}

void MpiWire::still_here() {
  if (std::this_thread::get_id() == thread_.get_id()) heartbeat_.beat();
}

void MpiWire::give_up(const std::string& why) {
  const std::lock_guard lock(mutex_);
  lost_ = why;
}

/// Once a second.
void MpiWire::look_at_the_clock() {
  if (!heartbeat_.is_due()) return;
  if (closes_sent_ == 0) heartbeat_.beat();
  handler_->second_passed();
  const std::lock_guard lock(mutex_);
  if (!leaving_ || lost_.empty()) return;
  std::fprintf(stderr, "tessera: %s; all processes end\n", lost_.c_str());
  MPI_Abort(comm_, 1);
}

void MpiWire::send(int to, Header header, std::vector<std::span<const std::byte>> pieces,
                   std::function<void()> sent) {
  {
    const std::lock_guard lock(mutex_);
    // The other one may be gone when it has our good-bye, and would never take what follows it.
    if (leaving_) return;
    enqueue(to, std::move(header), std::move(pieces), std::move(sent));
  }
  changed_.notify_all();
}

/// The lock is held.
void MpiWire::enqueue(int to, Header header, std::vector<std::span<const std::byte>> pieces,
                      std::function<void()> sent) {
  auto message = std::make_shared<Outgoing>();
  message->header = std::move(header);
  message->pieces = std::move(pieces);
  message->sent = std::move(sent);
  queues_[to].push_back(std::move(message));
  ++unsent_;
}

void MpiWire::work() {
  try {
    listen();
    while (!over()) {
      look_at_the_clock();
      heartbeat_.listen();
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
    heartbeat_.listen();
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

bool MpiWire::over() {
  const std::lock_guard lock(mutex_);
  const bool only_listens = requests_.size() == 1;  // and receives no pieces
  return closes_received_ == size_ - 1 && closes_sent_ == size_ - 1 && unsent_ == 0 && only_listens;
}

bool MpiWire::can_start() const {
  for (int to = 0; to < size_; ++to)
    if (!queues_[to].empty() && under_way_[to] < window) return true;
  return false;
}

void MpiWire::listen() {
  if (requests_.empty()) {
    head_.resize(head_bytes);
    requests_.push_back(MPI_REQUEST_NULL);
    owners_.emplace_back();
  }
  check(MPI_Irecv(head_.data(), static_cast<int>(head_bytes), MPI_BYTE, MPI_ANY_SOURCE, head_tag,
                  comm_, &requests_[0]),
        "MPI_Irecv");
}

bool MpiWire::start_sends() {
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
    if (message->header.empty()) ++closes_sent_;
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

void MpiWire::post_send(int to, const std::shared_ptr<Outgoing>& message,
                        std::span<const std::byte> bytes, int tag) {
  requests_.push_back(MPI_REQUEST_NULL);
  owners_.push_back({to, message, nullptr});
  ++message->open;
  check(MPI_Isend(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, to, tag, comm_,
                  &requests_.back()),
        "MPI_Isend");
}

bool MpiWire::take_completions() {
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

void MpiWire::finished(int to, Outgoing& message) {
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

void MpiWire::forget_done() {
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

void MpiWire::receive(const MPI_Status& status) {
  int bytes = 0;
  MPI_Get_count(&status, MPI_BYTE, &bytes);
  std::int64_t counts[3];
  std::memcpy(counts, head_.data(), sizeof counts);
  auto message = std::make_shared<Incoming>();
  message->from = status.MPI_SOURCE;
  heartbeat_.record_sign(message->from);
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
    ++closes_received_;
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
                        static_cast<int>(std::min(largest_chunk(), piece.size() - done)), MPI_BYTE,
                        message->from, body_tag, comm_, &requests_.back()),
              "MPI_Irecv");
      }
  }
  listen();
  if (message->open == 0) handler_->ended(message->from, message->header);
}

}  // namespace tessera::mpi

extern "C" tessera::exec::Wire* tessera_open_wire(double patience) {
  return tessera::mpi::MpiWire::open(patience);
}
