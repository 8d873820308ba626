#include "exec/perform.h"
#include "exec/scheduler.h"

// Values: made by tasks or sent by others, put in place for their readers, dropped after the last.

namespace tessera::exec {

/// False: an accelerator runs it, and says when it has ended.
bool Scheduler::execute(TaskId id, std::vector<TaskId>& now_ready) {
  const Task& task = graph_.tasks[id];
  const bool is_transfer = task.kind == TaskKind::transfer;
  if (Accelerator* const accelerator = accelerator_at(task.site); accelerator && !is_transfer) {
    launch(*accelerator, id);
    return false;
  }
  const std::int64_t begin = time();
  std::vector<Tile> made;
  try {
    if (is_transfer)
      send(task);
    else
      made = made_by(task);
  } catch (...) {
    tell_task(id, begin, {}, true);
    throw;
  }
  finish(id, begin, std::move(made), now_ready);
  return true;
}

/// Puts what a task has made in place, and drops what nobody reads any more.
void Scheduler::finish(TaskId id, std::int64_t begin, std::vector<Tile> made,
                       std::vector<TaskId>& now_ready) {
  const Task& task = graph_.tasks[id];
  const auto inputs = graph_.inputs_of(task);
  const bool is_transfer = task.kind == TaskKind::transfer;
  tell_task(id, begin, is_transfer ? tiles_[inputs.front()] : made, false);
  if (!is_transfer) publish(task.output, std::move(made), now_ready);
  for (const ValueId input : inputs) drop_reader(input);
}

/// Runs the kernels of a task.
std::vector<Tile> Scheduler::made_by(const Task& task) {
  const auto inputs = graph_.inputs_of(task);
  std::int64_t handed_over = 0;
  Arguments arguments;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    std::vector<Tile>& tiles = tiles_[inputs[i]];
    if (i > 0 || !is_folding(task.kind)) {
      arguments.inputs.push_back(&tiles);
    } else if (readers_left_[inputs[i]].load(std::memory_order_acquire) == 1) {
      handed_over = ledger_->hand_over(tiles);
      arguments.accumulator = std::move(tiles);
      tiles.clear();
    } else {
      arguments.accumulator = tiles;  // others read it too
    }
  }
  Accelerator* const accelerator = accelerator_at(task.site);
  Made made = perform(graph_, task, std::move(arguments),
                      accelerator != nullptr ? accelerator->device() : Device::cpu);
  if (task.kind == TaskKind::fill) made.tiles = moved_in(task.site, std::move(made.tiles));
  if (residence_ && accelerator == nullptr)
    made.tiles = without_what_is_not_shown(std::move(made.tiles));
  ledger_->made_of(handed_over, made.tiles, made.transient_bytes);
  return std::move(made.tiles);
}

/// Puts a value in place. The counters order its tiles before any reader.
void Scheduler::publish(ValueId value, std::vector<Tile> tiles, std::vector<TaskId>& now_ready) {
  if (readers_left_[value].load(std::memory_order_relaxed) == 0) {
    ledger_->release(tiles);
    return;
  }
  const std::int64_t bytes = residence_ ? ledger_->charged(tiles) : 0;
  tiles_[value] = std::move(tiles);
  if (residence_) settle_in(value, bytes, now_ready);
  if (sink_) store_outputs(value);
  if (residence_) return;
  for (const TaskId reader : graph_.readers_of(value))
    if (inputs_missing_[reader].fetch_sub(1, std::memory_order_acq_rel) == 1)
      now_ready.push_back(reader);
}

void Scheduler::drop_reader(ValueId value) {
  if (readers_left_[value].fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  std::vector<Tile> last = std::move(tiles_[value]);
  tiles_[value].clear();
  ledger_->release(last);
}

void Scheduler::arrived(ValueId value, std::vector<Tile> tiles) {
  std::vector<TaskId> now_ready;
  tiles = moved_in(graph_.values[value].site, std::move(tiles));
  ledger_->hold(tiles);
  tell_value(RunEvent::Kind::received, value, time(), tiles);
  publish(value, std::move(tiles), now_ready);
  Lock lock(mutex_);
  --arrivals_left_;
  for (const TaskId next : now_ready) make_ready(next);
  if (residence_) relieve();
  changed_.notify_all();
  // Who sends faster than the disk writes has to wait: nothing else arrives before this returns. To
  // wait for anything but the disk would be to wait for each other.
  const auto has_room = [this] {
    return ended_ || residence_->fits(ledger_->live()) || !residence_->anything_leaves();
  };
  while (residence_ && !changed_.wait_for(lock, std::chrono::seconds(1), has_room)) {
    lock.unlock();
    transport_.still_here();
    lock.lock();
  }
}

}  // namespace tessera::exec
