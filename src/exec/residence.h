#pragma once

#include <set>
#include <vector>

#include "exec/value_sizes.h"

namespace tessera::exec {

/// How far ahead of being run tasks are admitted. More than enough to do would only take memory.
struct AdmissionLimits {
  std::int64_t able;         // tasks that have all they need
  std::int64_t reading;      // values on their way into memory
  std::int64_t storing;      // and results to where they are stored
  std::int64_t tasks = 256;  // in all: those that wait for each other do not count as able
  static AdmissionLimits of(std::int64_t threads) { return {3 * threads, 4, 2 * threads + 2}; }
};

/// Which values of a run are in memory, under a limit. This is the policy alone: it says what is to
/// be read, written and dropped, and is told when that has happened, so that a run and the forecast
/// of one obey the same rules.
///
/// Tasks are admitted in the order of their numbers, ahead of being run. An admitted task has its
/// inputs pinned, or on their way into memory, and room for its output; of the values that no
/// admitted task needs, those go first whose next reader is furthest away (Belady's rule, as the
/// order is known). What can be had again from its source, or was written out before, is dropped;
/// the rest must be written out first. So it goes only if its next reader is twice as far away, and
/// never to make room for a task that is admitted far ahead. All tasks before an admitted one are
/// admitted too: they can always run, and a run comes to its end if each of its tasks fits alone.
///
/// What is in memory counts as what it takes. The size of a value to come may be a guess, which is
/// corrected by what others of its type have turned out to take: then tasks that were admitted on
/// too small a guess wait for each other before they are started.
class Residence {
 public:
  /// `mine`: which sites, by number.
  Residence(const TaskGraph& graph, const std::vector<bool>& mine, ValueSizes sizes,
            std::int64_t limit, AdmissionLimits admission);

  /// What a call asks for. Lists are appended to.
  struct Orders {
    std::vector<ValueId> drop;   // at once
    std::vector<ValueId> write;  // and tell `written`
    std::vector<ValueId> read;   // and tell `there`
  };

  bool all_admitted() const { return next_ == graph_.tasks.size(); }
  /// Whether it is time to admit another task.
  bool wants_more() const {
    return able_ < admission_.able && reading_ < admission_.reading &&
           storing_ < admission_.storing && running_ < admission_.tasks;
  }
  /// The task that is next in order, if there is room for it beside the `held` bytes: it is
  /// admitted. Otherwise -1, and what may go has been ordered to; `soon`: even if it must be
  /// written out.
  TaskId admit(std::int64_t held, bool soon, Orders& orders);
  TaskId next() const { return static_cast<TaskId>(next_); }
  /// Orders values to go until the `held` bytes and what is promised are within the limit.
  void relieve(std::int64_t held, Orders& orders);
  /// Whether anything is under way whose end may make room.
  bool anything_under_way() const { return running_ + reading_ + writing_ + storing_ > 0; }
  /// Whether an admitted task may start beside those that have. One that was admitted on a guess
  /// may not if there is no room for it any more: it waits for others, or for what is ordered to
  /// go. What has started is then told by `started`.
  bool may_start(TaskId task, std::int64_t held, Orders& orders);
  void started(TaskId task);
  /// Whether the `held` bytes and what is promised are within the limit.
  bool fits(std::int64_t held) const { return held + promised_ <= limit_; }
  /// Whether anything is on its way to disk, and its memory will be free then.
  bool anything_leaves() const { return leaving_ > 0; }
  std::int64_t running() const { return running_; }  // admitted tasks that have not finished

  /// Whether all of an admitted task's inputs are in memory.
  bool is_able(TaskId task) const { return missing_[task] == 0; }
  /// A value is there, and with it all that some admitted tasks need. `bytes`: what it takes, -1 if
  /// that is as predicted.
  void there(ValueId value, std::int64_t bytes, std::vector<TaskId>& able);
  /// A value has been written out. True: its memory is to be dropped now.
  bool written(ValueId value);
  void finished(TaskId task);
  /// An output is on its way to where it is stored, and has arrived there.
  void storing(ValueId value);
  void stored(ValueId value);

  /// An output that is stored by somebody else, or without our help.
  void ignore_output(ValueId value) { --readers_left_[value]; }

  bool is_in_memory(ValueId value) const {
    return where_[value] == Where::memory || where_[value] == Where::writing;
  }
  /// Whether nobody needs the value any more.
  bool is_dead(ValueId value) const { return readers_left_[value] == 0; }
  std::int64_t bytes(ValueId value) const { return sizes_.bytes[value]; }
  std::int64_t promised() const { return promised_; }
  std::int64_t need_of(TaskId task) const;   // bytes that it needs in memory, if it runs alone
  std::int64_t known_need_of(TaskId) const;  // of that, what is not a guess

 private:
  enum class Where : std::uint8_t { nowhere, coming, memory, disk, reading, writing };
  using Leaving = std::pair<std::int64_t, ValueId>;  // the number of its next reader, negative

  enum class Stage : std::uint8_t { waiting, admitted, started, finished };

  bool counts(ValueId value) const { return sizes_.bytes[value] > 0; }
  std::int64_t expected(ValueId value) const;
  std::int64_t room_for_output(const Task& task) const;
  void learn(TypesId types, std::int64_t bytes);
  std::int64_t next_reader(ValueId value) const;
  bool may_leave(ValueId value) const;
  void pin(ValueId value);
  void unpin(ValueId value);
  void reconsider(ValueId value, bool could_leave);
  void make_room(std::int64_t needed, bool may_write, Orders& orders);
  void skip_others();

  const TaskGraph& graph_;
  const std::vector<bool>& mine_;
  ValueSizes sizes_;
  const std::int64_t limit_;
  const AdmissionLimits admission_;

  std::vector<Where> where_;
  std::vector<char> is_sent_;               // by another process, unasked
  std::vector<char> has_copy_;              // on disk: it need not be written to be dropped
  std::vector<std::int32_t> pins_;          // by admitted tasks, and while it is being stored
  std::vector<std::int32_t> readers_left_;  // tasks that have not finished, and outputs
  std::vector<std::int32_t> next_reader_;   // index of the first that is not admitted
  std::vector<Stage> stage_;                // by task
  std::vector<std::int32_t> missing_;       // by task: inputs that are not in memory
  std::vector<std::int64_t> learnt_;        // by types: the most that was guessed and came; or -1
  std::vector<std::int64_t> room_;          // by task: promised to it, besides what is read for it
  std::vector<char> is_leaving_;            // being stored, and needed by nobody else
  std::set<Leaving> to_drop_, to_write_;    // what may leave, with a copy and without, in order
  std::size_t next_ = 0;                    // the first task that is not admitted
  std::size_t oldest_ = 0;                  // all tasks before it are finished
  std::int64_t promised_ = 0;               // bytes of outputs and reads that will come
  std::int64_t leaving_ = 0;                // bytes that are being written out
  std::int64_t started_room_ = 0, started_ = 0;  // what is promised to tasks that run, and how many
  std::int64_t running_ = 0, able_ = 0;          // admitted tasks, and those that lack nothing
  std::int64_t reading_ = 0, writing_ = 0, storing_ = 0;  // values
};

}  // namespace tessera::exec
