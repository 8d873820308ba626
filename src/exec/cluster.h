#pragma once

#include <array>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "exec/transport.h"
#include "exec/wire.h"
#include "ia/evaluate.h"
#include "tile/parcel.h"

namespace tessera::exec {

/// The processes that run this program together, each of which runs the sites whose number is its
/// rank, modulo how many there are. Runs are numbered, and so are the rounds in which they talk
/// between runs: every process makes the same ones in the same order, and a message says to which
/// one it belongs.
class Cluster final : public Wire::Handler {
 public:
  explicit Cluster(std::unique_ptr<Wire> wire, double timeout = 300);
  ~Cluster() override;

  int rank() const { return wire_.rank(); }
  int size() const { return wire_.size(); }
  int local_size() const { return wire_.local_size(); }
  int owner(int site) const { return site % size(); }

  /// After so many seconds without a sign of life a process is lost, and whoever waits for it, now
  /// or later, gets a ClusterError that names it.
  void set_timeout(double seconds);
  double timeout();

  /// The transport of the next run. One at a time.
  std::unique_ptr<Transport> open_run(const TaskGraph& graph);
  std::int64_t runs();  // that were opened here
  /// Of the last run since the last round, 0 if there was none: the same in all processes if they
  /// run the same plan. Those that need no tile of each other may not find out while they run.
  std::int64_t mark_of_last_run();
  /// The next run has failed here before it was opened: it counts, and the others, who may have
  /// begun with it, are told.
  void fail_next_run(const std::string& message);

  /// The first process sends the plan of the next run, and the others wait for it; an empty text if
  /// each is to plan by itself. Errors as for rounds, and an IoError if the marks differ: they do
  /// not run the same.
  void send_decisions(std::uint64_t mark, const std::string& decided);
  std::string receive_decisions(std::uint64_t mark);

  // Rounds, which every process takes part in; each waits for the messages to it. ClusterError if
  // another process has ended; IoError if somebody does something else, or cannot be reached.

  /// What everybody says reaches the first process, which gets it by rank; the others get nothing.
  /// It returns, or throws, when everybody has spoken or ended.
  std::vector<std::string> to_first(const std::string& text);
  /// What the first process says reaches all.
  std::string from_first(const std::string& text);

  /// What two are told that do not run the same plan.
  static std::string other_plan(int one, int other);

 private:
  class Run;
  enum Kind : std::int64_t { tuple, failure, agreement, verdict, round_message, decision };
  /// A message of a round.
  struct RoundMessage {
    bool whole = false;     // or still arriving
    std::int64_t runs = 0;  // that the sender had opened
    std::string text = {};
  };
  struct Message {
    int from;
    Wire::Header header;
    std::unique_ptr<Unpacking> unpacking;
    std::string text;
  };

  std::vector<Wire::Memory> begun(int from, const Wire::Header& header,
                                  const std::vector<std::int64_t>& sizes) override;
  void ended(int from, const Wire::Header& header) override;
  void broken(const std::string& message) override;
  void second_passed() override;
  void deliver(Message message);
  void forward_decisions(std::int64_t run, std::int64_t mark, const std::string& text);
  void send_text(int to, Kind kind, std::int64_t run, std::int64_t number, const std::string& text);
  static std::string other_order(int one, int other);
  std::int64_t next_round();
  std::string take(int from, std::int64_t round);

  std::unique_ptr<Wire> owned_;
  Wire& wire_;  // which still calls us while it says good-bye
  std::mutex mutex_;
  double timeout_;
  std::int64_t runs_ = 0;
  std::int64_t last_mark_ = 0;
  Run* active_ = nullptr;
  std::map<std::array<std::int64_t, 4>, Message>
      arriving_;                // by sender and what the header begins with
  std::vector<Message> early_;  // of runs that have not begun here
  std::vector<bool> closed_;    // the ranks that have closed their connection
  std::string broken_;          // why nobody can be reached
  std::string lost_;            // who has given no sign of life for too long
  std::int64_t rounds_ = 0;
  std::map<std::pair<std::int64_t, int>, RoundMessage>
      round_messages_;               // by round and sender, until they are read
  std::vector<std::int64_t> begun_;  // the last run of which something has come, by rank
  std::int64_t decisions_sent_ = 0;  // the last run for which the first process has sent decisions
  struct Decision {
    std::int64_t mark = 0;
    std::string text = {};
  };
  std::map<std::int64_t, Decision> decisions_;  // by run, until they are read
  std::condition_variable message_arrived_;
};

/// The cluster this process belongs to: none unless it was started as one of several. It is
/// joined when first asked for. IoError if the plug-in that connects it is missing. Only engine_of
/// asks, for options that name nobody who runs (scripts/check_layers).
Cluster* cluster_of_process();

}  // namespace tessera::exec
