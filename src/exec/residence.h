#pragma once

#include <set>
#include <vector>

#include "exec/task_graph.h"

namespace tessera::exec {

/// Predicted bytes of each value. What the user's own relations hold counts nothing. Entries of
/// sparse tiles cannot be counted beforehand: they are guessed, and corrected when they are there.
std::vector<std::int64_t> predicted_bytes(const TaskGraph& graph);

/// Which values of a run are in memory, under a limit. This is the policy alone: it says what is to
/// be read, written and dropped, and is told when that has happened, so that a run and the forecast
/// of one obey the same rules.
///
/// Tasks are admitted in the order of their numbers, ahead of being run. An admitted task has its
/// inputs pinned, or on their way into memory, and room for its output; of the values that no
/// admitted task needs, those go first whose next reader is furthest away (Belady's rule, as the
/// order is known). What can be had again from its source, or was written out before, is dropped;
/// the rest must be written out first, so that it goes only if it is twice as far away, and not
/// for a task that is admitted long before its time. All tasks before an admitted one are admitted
/// too: they can always run, and a run comes to its end if each of its tasks fits alone.
class Residence {
 public:
  /// `mine`: which sites, by number. The bytes are corrected by what is told later.
  Residence(const TaskGraph& graph, const std::vector<bool>& mine, std::vector<std::int64_t> bytes,
            std::int64_t limit);

  /// What a call asks for. Lists are appended to.
  struct Orders {
    std::vector<ValueId> drop;   // at once
    std::vector<ValueId> write;  // and tell `written`
    std::vector<ValueId> read;   // and tell `there`
  };

  bool all_admitted() const { return next_ == graph_.tasks.size(); }
  /// The task that is next in order, if there is room for it beside the `held` bytes: it is
  /// admitted. Otherwise -1, and what may go has been ordered to; `soon`: even if it must be
  /// written out.
  TaskId admit(std::int64_t held, bool soon, Orders& orders);
  TaskId next() const { return static_cast<TaskId>(next_); }
  /// Orders values to go until the `held` bytes and what is promised are within the limit.
  void relieve(std::int64_t held, Orders& orders);
  /// Whether anything is under way whose end may make room.
  bool anything_under_way() const { return running_ > 0 || under_way_ > 0; }
  /// Whether the `held` bytes and what is promised are within the limit.
  bool fits(std::int64_t held) const { return held + promised_ <= limit_; }
  /// Whether anything is on its way to disk, and its memory will be free then.
  bool anything_leaves() const { return leaving_ > 0; }
  std::int64_t running() const { return running_; }  // admitted tasks that have not finished

  /// How many of an admitted task's inputs are not in memory.
  int missing(TaskId task) const;
  /// The admitted tasks that wait for a value, which is now there; one is named as often as it
  /// reads it. `bytes`: what it takes, -1 if that is as predicted.
  void there(ValueId value, std::int64_t bytes, std::vector<TaskId>& waiting);
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
  std::int64_t bytes(ValueId value) const { return bytes_[value]; }
  std::int64_t limit() const { return limit_; }
  std::int64_t need_of(TaskId task) const;  // bytes that it needs in memory, if it runs alone

 private:
  enum class Where : std::uint8_t { nowhere, coming, memory, disk, reading, writing };
  using Leaving = std::pair<std::int64_t, ValueId>;  // the number of its next reader, negative

  bool counts(ValueId value) const { return bytes_[value] > 0; }
  std::int64_t room_for_output(const Task& task) const;
  std::int64_t next_reader(ValueId value) const;
  bool may_leave(ValueId value) const;
  void pin(ValueId value);
  void unpin(ValueId value);
  void reconsider(ValueId value, bool could_leave);
  void make_room(std::int64_t needed, bool may_write, Orders& orders);
  void skip_others();

  const TaskGraph& graph_;
  const std::vector<bool>& mine_;
  std::vector<std::int64_t> bytes_;
  const std::int64_t limit_;

  std::vector<Where> where_;
  std::vector<char> is_sent_;               // by another process, unasked
  std::vector<char> has_copy_;              // on disk: it need not be written to be dropped
  std::vector<std::int32_t> pins_;          // by admitted tasks, and while it is being stored
  std::vector<std::int32_t> readers_left_;  // tasks that have not finished, and outputs
  std::vector<std::int32_t> next_reader_;   // index of the first that is not admitted
  std::vector<char> is_finished_;           // by task
  std::vector<std::int64_t> room_;          // by task: promised to it, besides what is read for it
  std::vector<char> is_leaving_;            // being stored, and needed by nobody else
  std::set<Leaving> to_drop_, to_write_;    // what may leave, with a copy and without, in order
  std::size_t next_ = 0;                    // the first task that is not admitted
  std::int64_t promised_ = 0;               // bytes of outputs and reads that will come
  std::int64_t leaving_ = 0;                // bytes that are being written out
  std::int64_t running_ = 0, under_way_ = 0;  // tasks; reads, writes and outputs being stored
};

}  // namespace tessera::exec
