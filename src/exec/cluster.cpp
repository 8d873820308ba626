#include "exec/cluster.h"

#include <algorithm>
#include <atomic>
#include <set>

#include "base/check.h"
#include "base/memory_account.h"
#include "exec/agreement.h"

namespace tessera::exec {
namespace {

/// The same for graphs that are the same: to find out when processes disagree about what to run.
std::int64_t fingerprint(const TaskGraph& graph) {
  std::uint64_t hash = 1469598103934665603u;
  const auto mix = [&](std::int64_t number) {
    hash = (hash ^ static_cast<std::uint64_t>(number)) * 1099511628211u;
  };
  mix(graph.sites);
  for (const ia::Plan& step : graph.steps)
    for (const char letter : ia::describe(step)) mix(letter);
  for (const std::int64_t word : graph.keys.words()) mix(word);
  for (const std::vector<TileType>& types : graph.types.lists())
    for (const TileType& type : types)
      for (const char letter : to_string(type)) mix(letter);
  for (const Task& task : graph.tasks) {
    mix(static_cast<int>(task.kind));
    mix(task.site);
    mix(task.output);
  }
  for (const ValueId input : graph.task_inputs) mix(input);
  for (const TaskGraph::Output& output : graph.outputs) mix(output.value);
  std::set<const op::Input*> sources;
  for (const TaskGraph::Given& given : graph.given)
    if (given.input != nullptr && sources.insert(given.input).second)
      mix(static_cast<std::int64_t>(given.input->facts.version));
  return static_cast<std::int64_t>(hash);
}

constexpr std::size_t prefix = 4;  // of a tuple's header: kind, run, value, what the sender runs

}  // namespace

/// The transport of one run.
class Cluster::Run final : public Transport {
 public:
  Run(Cluster& cluster, std::int64_t number, const TaskGraph& graph, std::vector<InputNote> notes)
      : cluster_(cluster),
        number_(number),
        fingerprint_(fingerprint(graph)),
        notes_(static_cast<std::size_t>(cluster.size())),
        spoken_(static_cast<std::size_t>(cluster.size()), false),
        owed_(static_cast<std::size_t>(cluster.size()), 0) {
    for (const Task& task : graph.tasks) {
      if (task.kind != TaskKind::transfer) continue;
      const int from = cluster.owner(task.site);
      const int to = cluster.owner(graph.values[task.output].site);
      if (from != to && to == cluster.rank()) ++owed_[from];
    }
    notes_[static_cast<std::size_t>(cluster.rank())] = std::move(notes);
  }

  ~Run() override { finish(); }

  void finish() override {
    const std::lock_guard lock(cluster_.mutex_);
    if (cluster_.active_ == this) cluster_.active_ = nullptr;
  }

  bool waits_for_agreement() const override { return true; }

  void start(Receiver& receiver) override {
    if (cluster_.rank() != 0)
      cluster_.send_text(0, agreement, number_, fingerprint_,
                         to_text(notes_[static_cast<std::size_t>(cluster_.rank())]));
    const std::lock_guard lock(cluster_.mutex_);
    receiver_ = &receiver;
    if (cluster_.rank() == 0) receive_notes(0, notes_.front());
    cluster_.active_ = this;
    std::vector<Message> early = std::move(cluster_.early_);
    cluster_.early_.clear();
    for (Message& message : early) cluster_.deliver(std::move(message));
    for (int other = 0; other < cluster_.size(); ++other)
      if (cluster_.closed_[other]) left(other);
    if (!cluster_.broken_.empty()) lose_contact(cluster_.broken_);
    if (!cluster_.lost_.empty()) receive_failure(cluster_.lost_);
    for (const auto& [from, message] : cluster_.round_messages_)
      if (from.first > cluster_.rounds_) compare_order(from.second, message.runs);
  }

  void send(ValueId value, const std::vector<Tile>& tiles, int, int to_site,
            std::function<void()> sent) override {
    const int to = cluster_.owner(to_site);
    if (to == cluster_.rank()) {
      receiver_->arrived(value, tiles);
      if (sent) sent();
      return;
    }
    Parcel parcel = pack(tiles);
    Wire::Header header{tuple, number_, value, fingerprint_};
    header.insert(header.end(), parcel.description.begin(), parcel.description.end());
    cluster_.wire_.send(to, std::move(header), std::move(parcel.pieces),
                        [keeps = std::move(parcel.keeps), sent = std::move(sent)]() mutable {
                          keeps.reset();
                          if (sent) sent();
                        });
  }

  void fail(const std::string& message) override {
    if (told_.exchange(true)) return;
    for (int other = 0; other < cluster_.size(); ++other)
      if (other != cluster_.rank())
        cluster_.send_text(other, failure, number_, 0,
                           fmt::format("rank {}: {}", cluster_.rank(), message));
  }

  void still_here() override { cluster_.wire_.still_here(); }

  std::int64_t number() const { return number_; }
  std::int64_t mark() const { return fingerprint_; }

  // What the cluster receives for this run.
  void take(int from, ValueId value, std::vector<Tile> tiles) {
    // They were allocated by a thread that serves all runs, and count in ours from here on.
    const OpenAccount counted(account_);
    for (const Tile& tile : tiles) count_memory(tile.bytes());
    --owed_[from];
    receiver_->arrived(value, std::move(tiles));
  }
  void receive_failure(const std::string& message) {
    told_ = true;  // everybody was
    receiver_->failed_elsewhere(message);
  }
  void lose_contact(const std::string& message) {
    told_ = true;  // nobody could be
    receiver_->failed(message);
  }
  /// Whether another one runs what we do. No tile of one that does not is ever used.
  bool compare(int from, std::int64_t other) {
    if (other == fingerprint_) return true;
    receiver_->failed(other_plan(from, cluster_.rank()));
    return false;
  }
  /// The first process receives the notes on the inputs of all, and sends whether they are equal.
  void receive_notes(int from, std::vector<InputNote> notes) {
    notes_[static_cast<std::size_t>(from)] = std::move(notes);
    spoken_[static_cast<std::size_t>(from)] = true;
    if (std::find(spoken_.begin(), spoken_.end(), false) != spoken_.end()) return;
    const std::string wrong = disagreement(notes_);
    if (!wrong.empty()) return end_all(wrong);
    for (int other = 1; other < cluster_.size(); ++other)
      cluster_.send_text(other, verdict, number_, 0, "");
    receive_verdict();
  }
  void receive_verdict() {
    agreed_ = true;
    receiver_->agreed();
  }
  /// For what everybody is to be told in the same words.
  void end_all(const std::string& message) {
    for (int other = 0; other < cluster_.size(); ++other)
      if (other != cluster_.rank()) cluster_.send_text(other, failure, number_, 0, message);
    receive_failure(message);
  }
  /// Another one speaks in a round that we have not come to, after so many runs.
  void compare_order(int from, std::int64_t runs) {
    if (runs < number_) receiver_->failed(other_order(from, cluster_.rank()));
  }
  void left(int other) {
    if (told_) return;  // the run has failed already
    const bool awaited =
        cluster_.rank() == 0 ? !spoken_[static_cast<std::size_t>(other)] : other == 0 && !agreed_;
    if (owed_[other] > 0)
      receive_failure(
          fmt::format("rank {} ended while other processes were waiting for its tiles", other));
    else if (awaited)
      end_all(fmt::format("rank {} ended before a plan that the other processes run", other));
  }

 private:
  Cluster& cluster_;
  const std::int64_t number_;
  const std::int64_t fingerprint_;
  const std::shared_ptr<MemoryAccount> account_ = MemoryAccount::current();
  Receiver* receiver_ = nullptr;
  std::vector<std::vector<InputNote>> notes_;  // by rank; the first process receives those of all
  std::vector<bool> spoken_;                   // who has told theirs
  bool agreed_ = false;
  std::vector<std::int64_t> owed_;  // tuples that are still to come, by rank
  std::atomic<bool> told_ = false;
};

Cluster::Cluster(std::unique_ptr<Wire> wire, double timeout)
    : owned_(std::move(wire)), wire_(*owned_), timeout_(timeout) {
  closed_.assign(static_cast<std::size_t>(wire_.size()), false);
  begun_.assign(static_cast<std::size_t>(wire_.size()), 0);
  wire_.start(*this);
}

Cluster::~Cluster() { owned_.reset(); }

void Cluster::set_timeout(double seconds) {
  const std::lock_guard lock(mutex_);
  timeout_ = seconds;
}

double Cluster::timeout() {
  const std::lock_guard lock(mutex_);
  return timeout_;
}

std::unique_ptr<Transport> Cluster::open_run(const TaskGraph& graph) {
  std::vector<InputNote> notes = note_inputs(graph);  // which may take a moment
  const std::lock_guard lock(mutex_);
  TESSERA_REQUIRE(PlanError, active_ == nullptr,
                  "another plan is running, and a cluster runs only one plan at a time");
  auto run = std::make_unique<Run>(*this, ++runs_, graph, std::move(notes));
  // Of plans that somebody else has made physical there is nothing to decide.
  if (rank() == 0 && decisions_sent_ < runs_) forward_decisions(runs_, 0, "");
  decisions_.erase(decisions_.begin(), decisions_.upper_bound(runs_));
  last_mark_ = run->mark();
  return run;
}

std::int64_t Cluster::runs() {
  const std::lock_guard lock(mutex_);
  return runs_;
}

std::int64_t Cluster::mark_of_last_run() {
  const std::lock_guard lock(mutex_);
  return last_mark_;
}

void Cluster::fail_next_run(const std::string& message) {
  std::int64_t number = 0;
  {
    const std::lock_guard lock(mutex_);
    if (active_ != nullptr) return;  // of another thread: this one should not have begun
    number = ++runs_;
  }
  for (int other = 0; other < size(); ++other)
    if (other != rank())
      send_text(other, failure, number, 0, fmt::format("rank {}: {}", rank(), message));
}

void Cluster::send_text(int to, Kind kind, std::int64_t run, std::int64_t number,
                        const std::string& text) {
  auto kept = std::make_shared<std::string>(text);
  std::vector<std::span<const std::byte>> pieces;
  if (!text.empty()) pieces.push_back(std::as_bytes(std::span(kept->data(), kept->size())));
  wire_.send(to, {kind, run, number}, std::move(pieces), [kept] {});
}

std::vector<Wire::Memory> Cluster::begun(int from, const Wire::Header& header,
                                         const std::vector<std::int64_t>& sizes) {
  Message message{from, header, nullptr, {}};
  std::vector<Wire::Memory> memory;
  if (header[0] == tuple) {
    message.unpacking = std::make_unique<Unpacking>(std::span(header).subspan(prefix), sizes);
    memory = message.unpacking->memory();
  }
  const std::lock_guard lock(mutex_);
  Message& kept =
      arriving_.insert_or_assign({from, header[0], header[1], header[2]}, std::move(message))
          .first->second;
  if (header[0] == round_message) round_messages_[{header[1], from}] = {false, header[2], {}};
  if (header[0] != tuple && !sizes.empty()) {
    kept.text.resize(static_cast<std::size_t>(sizes.front()));
    memory.push_back(std::as_writable_bytes(std::span(kept.text.data(), kept.text.size())));
  }
  return memory;
}

void Cluster::ended(int from, const Wire::Header& header) {
  const std::lock_guard lock(mutex_);
  if (header.empty()) {
    closed_[from] = true;
    if (active_ != nullptr) active_->left(from);
    message_arrived_.notify_all();
    return;
  }
  auto message = arriving_.extract({from, header[0], header[1], header[2]});
  deliver(std::move(message.mapped()));
}

/// The lock is held.
void Cluster::deliver(Message message) {
  const std::int64_t run = message.header[1], number = message.header[2];
  if (message.header[0] == round_message) {
    round_messages_[{run, message.from}] = {true, number, std::move(message.text)};
    if (active_ != nullptr && run > rounds_) active_->compare_order(message.from, number);
    message_arrived_.notify_all();
    return;
  }
  if (message.header[0] == decision) {
    forward_decisions(run, number, message.text);
    if (run > runs_) decisions_[run] = {number, std::move(message.text)};
    message_arrived_.notify_all();
    return;
  }
  begun_[message.from] = std::max(begun_[message.from], run);
  message_arrived_.notify_all();
  if (active_ == nullptr || active_->number() < run) {
    if (run > runs_ || active_ == nullptr) early_.push_back(std::move(message));
    return;
  }
  if (active_->number() > run) return;  // of a run that failed here
  switch (static_cast<Kind>(message.header[0])) {
    case tuple:
      if (active_->compare(message.from, message.header[3]))
        active_->take(message.from, static_cast<ValueId>(number),
                      std::move(*message.unpacking).tiles());
      break;
    case failure: active_->receive_failure(message.text); break;
    case agreement:
      if (active_->compare(message.from, number))
        active_->receive_notes(message.from, notes_of(message.text));
      break;
    case verdict: active_->receive_verdict(); break;
    case round_message:
    case decision: break;
  }
}

void Cluster::broken(const std::string& message) {
  const std::lock_guard lock(mutex_);
  broken_ = "lost the connection to the cluster: " + message;
  if (active_ != nullptr) active_->lose_contact(broken_);
  message_arrived_.notify_all();
}

/// Processes that have closed their connection owe no sign of life.
void Cluster::second_passed() {
  const std::lock_guard lock(mutex_);
  for (int other = 0; other < size() && lost_.empty(); ++other) {
    if (other == rank() || closed_[other] || wire_.silence(other) < timeout_) continue;
    lost_ = fmt::format(
        "{} has not responded for {:.0f} s: it was stopped, or cannot be reached; to wait longer, "
        "set cluster_timeout or TESSERA_CLUSTER_TIMEOUT",
        wire_.name(other), wire_.silence(other));
    wire_.give_up(lost_);
    if (active_ != nullptr) active_->receive_failure(lost_);
    message_arrived_.notify_all();
  }
}

}  // namespace tessera::exec
