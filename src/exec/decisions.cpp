#include <bit>
#include <chrono>

#include "base/check.h"
#include "base/stop.h"
#include "exec/cluster.h"

// What the first process has decided of a run goes from process to process along a tree: each
// passes it on to those whose number is its own with one more leading bit.

namespace tessera::exec {

/// The lock is held, or nobody else can be here.
void Cluster::forward_decisions(std::int64_t run, std::int64_t mark, const std::string& text) {
  for (int bit = std::bit_width(static_cast<unsigned>(rank())); bit < 31; ++bit) {
    const int to = rank() | 1 << bit;
    if (to >= size()) break;
    send_text(to, decision, run, mark, text);
  }
}

void Cluster::send_decisions(std::uint64_t mark, const std::string& decided) {
  const std::lock_guard lock(mutex_);
  if (active_ != nullptr) return;  // of another thread: the run will be refused
  decisions_sent_ = runs_ + 1;
  forward_decisions(decisions_sent_, static_cast<std::int64_t>(mark), decided);
}

std::string Cluster::receive_decisions(std::uint64_t mark) {
  using std::chrono_literals::operator""ms;
  std::unique_lock lock(mutex_);
  if (active_ != nullptr) return {};  // of another thread: the run will be refused
  const std::int64_t run = runs_ + 1;
  // Who receives why the run cannot be has no news for the others: it counts, and that is all.
  const auto require = [&]<class Kind>(std::type_identity<Kind>, bool holds,
                                       const std::string& message) {
    if (holds) return;
    ++runs_;
    throw Kind(message);
  };
  constexpr std::type_identity<ClusterError> cluster_error;
  constexpr std::type_identity<IoError> io_error;
  for (;; message_arrived_.wait_for(lock, 50ms)) {
    const auto found = decisions_.find(run);
    if (found != decisions_.end()) {
      const Decision decided = std::move(found->second);
      decisions_.erase(found);
      // Nothing was decided of what somebody else has made physical: the tasks are compared.
      const bool same = decided.text.empty() || decided.mark == static_cast<std::int64_t>(mark);
      TESSERA_REQUIRE(IoError, same, "{}", other_plan(0, rank()));
      return decided.text;
    }
    for (const Message& message : early_)
      require(cluster_error, message.header[0] != failure || message.header[1] != run,
              message.text);
    require(io_error, broken_.empty(), broken_);
    require(cluster_error, lost_.empty(), lost_);
    for (const auto& [from, message] : round_messages_)
      require(io_error, from.first <= rounds_ || from.second != 0 || message.runs >= run,
              other_order(0, rank()));
    require(cluster_error, !closed_[0], "rank 0 ended before a plan that the other processes run");
    refuse_if_stopped("waiting for the decision of the first process");
  }
}

}  // namespace tessera::exec
