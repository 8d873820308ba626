#include "base/check.h"
#include "exec/cluster.h"

// Rounds: what the processes of a cluster say to each other between runs.

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
  // Of rounds that were given up there may be words that nobody asks for any more.
  words_.erase(words_.begin(), words_.lower_bound({rounds_, 0}));
  return rounds_;
}

std::string Cluster::take(int from, std::int64_t round) {
  std::unique_lock lock(mutex_);
  for (;; heard_.wait(lock)) {
    const auto found = words_.find({round, from});
    if (found != words_.end() && found->second.whole) {
      const Word said = std::move(found->second);
      words_.erase(found);
      TESSERA_REQUIRE(IoError, said.runs == runs_, "{}", other_order(from, rank()));
      return said.text;
    }
    TESSERA_REQUIRE(IoError, broken_.empty(), "{}", broken_);
    TESSERA_REQUIRE(ClusterError, lost_.empty(), "{}", lost_);
    if (found != words_.end()) continue;  // the rest of it is on its way
    TESSERA_REQUIRE(IoError, begun_[from] <= runs_, "{}", other_order(from, rank()));
    TESSERA_REQUIRE(ClusterError, !gone_[from], "rank {} ended while rank {} was waiting for it",
                    from, rank());
  }
}

std::vector<std::string> Cluster::to_first(const std::string& said) {
  const std::int64_t round = next_round(), so_far = runs();
  if (rank() != 0) {
    say(0, word, round, so_far, said);
    return {};
  }
  std::vector<std::string> all{said};
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

std::string Cluster::from_first(const std::string& said) {
  const std::int64_t round = next_round(), so_far = runs();
  if (rank() != 0) return take(0, round);
  for (int to = 1; to < size(); ++to) say(to, word, round, so_far, said);
  return said;
}

}  // namespace tessera::exec
