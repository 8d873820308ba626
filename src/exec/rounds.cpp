#include "base/check.h"
#include "exec/cluster.h"

// Rounds: the messages between the processes of a cluster between runs.

namespace tessera::exec {

std::string Cluster::other_order(int one, int other) {
  return fmt::format(
      "ranks {} and {} do not do the same: all processes must execute the same plans and "
      "statements in the same order",
      std::min(one, other), std::max(one, other));
}

std::string Cluster::other_plan(int one, int other) {
  return fmt::format(
      "ranks {} and {} do not run the same plan: all processes must run the same plans of the same "
      "relations in the same order",
      std::min(one, other), std::max(one, other));
}

std::int64_t Cluster::next_round() {
  const std::lock_guard lock(mutex_);
  ++rounds_;
  last_mark_ = 0;
  // Of rounds that were given up there may be messages that nobody reads any more.
  round_messages_.erase(round_messages_.begin(), round_messages_.lower_bound({rounds_, 0}));
  return rounds_;
}

std::string Cluster::take(int from, std::int64_t round) {
  std::unique_lock lock(mutex_);
  for (;; message_arrived_.wait(lock)) {
    const auto found = round_messages_.find({round, from});
    if (found != round_messages_.end() && found->second.whole) {
      const RoundMessage message = std::move(found->second);
      round_messages_.erase(found);
      TESSERA_REQUIRE(IoError, message.runs == runs_, "{}", other_order(from, rank()));
      return message.text;
    }
    TESSERA_REQUIRE(IoError, broken_.empty(), "{}", broken_);
    TESSERA_REQUIRE(ClusterError, lost_.empty(), "{}", lost_);
    if (found != round_messages_.end()) continue;  // the rest of it is on its way
    TESSERA_REQUIRE(IoError, begun_[from] <= runs_, "{}", other_order(from, rank()));
    TESSERA_REQUIRE(ClusterError, !closed_[from], "rank {} ended while rank {} was waiting for it",
                    from, rank());
  }
}

std::vector<std::string> Cluster::to_first(const std::string& text) {
  const std::int64_t round = next_round(), so_far = runs();
  if (rank() != 0) {
    send_text(0, round_message, round, so_far, text);
    return {};
  }
  std::vector<std::string> all{text};
  std::exception_ptr missing;
  for (int from = 1; from < size(); ++from) {
    try {
      all.push_back(take(from, round));
    } catch (const Error&) {
      if (!missing) missing = std::current_exception();
    }
  }
  if (missing) std::rethrow_exception(missing);
  return all;
}

std::string Cluster::from_first(const std::string& text) {
  const std::int64_t round = next_round(), so_far = runs();
  if (rank() != 0) return take(0, round);
  for (int to = 1; to < size(); ++to) send_text(to, round_message, round, so_far, text);
  return text;
}

}  // namespace tessera::exec
