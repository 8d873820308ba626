#include "exec/scheduler.h"
#include "tile/kept_memory.h"

// How a scheduler hands results over, or has them in memory when it is done.

namespace tessera::exec {

void Scheduler::store(const TaskGraph::Output& output, const std::vector<Tile>& tiles) {
  const std::int64_t begin = time();
  sink_(static_cast<std::size_t>(output.result), graph_.keys[output.key],
        moved_out(graph_.values[output.value].site, tiles));
  tell_written(output, begin, tiles);
}

/// A value that is a result, and has just come, will be handed to the sink. The lock is held.
void Scheduler::stays_to_be_stored(ValueId value) {
  if (const auto found = to_store_.find(value); found != to_store_.end())
    for (std::size_t i = 0; i < found->second.size(); ++i) residence_->storing(value);
}

/// Hands a value that is a result to the sink. It stays where it is until that has it.
void Scheduler::store_outputs(ValueId value) {
  const auto found = to_store_.find(value);
  if (found == to_store_.end()) return;
  for (const std::int32_t number : found->second)
    // Results go before reads: they make room, which whoever reads needs.
    call_io(-1, [this, value, number] {
      store(graph_.outputs[number], tiles_[value]);
      drop_reader(value);
      const Lock lock(mutex_);
      --io_left_;
      if (residence_) {
        residence_->stored(value);
        if (residence_->is_dead(value)) forget_copy(value);
        admit();
      }
      changed_.notify_all();
    });
}

/// The user's own tiles are in memory whatever we do, and count nothing.
void Scheduler::take_in_place(ValueId value, const std::vector<Tile>& tiles) {
  tiles_[value] = tiles;
  {
    const Lock lock(mutex_);
    stays_to_be_stored(value);
  }
  store_outputs(value);
}

/// Results that are sources too are copied when all else is done: a task that reads one reads it
/// for itself.
void Scheduler::list_copies() {
  for (const auto& [value, given] : sources_) {
    const auto found = to_store_.find(value);
    if (found == to_store_.end()) continue;
    for (std::size_t i = 0; i < found->second.size(); ++i) {
      residence_->ignore_output(value);
      --readers_left_[value];
    }
    to_copy_.push_back({given, std::move(found->second)});
    to_store_.erase(found);
  }
}

/// Has as many copied at once as there is room for, or one. The lock is held.
void Scheduler::copy_more() {
  while (!ended_ && !to_copy_.empty() && residence_->all_admitted()) {
    const ValueId value = to_copy_.back().given->value;
    const std::int64_t bytes = residence_->bytes(value);
    const bool alone = copying_ == 0 && !residence_->anything_under_way() && sending_ == 0;
    if (!alone && !residence_->fits(ledger_->live() + copying_ + bytes)) return;
    copying_ += bytes;
    call_io(static_cast<std::int64_t>(graph_.tasks.size()),
            [this, bytes, copy = std::move(to_copy_.back())] {
              const std::vector<Tile> tiles = from_source(*copy.given);
              for (const std::int32_t number : copy.outputs) store(graph_.outputs[number], tiles);
              ledger_->release(tiles);
              const Lock lock(mutex_);
              copying_ -= bytes;
              io_left_ -= static_cast<std::int64_t>(copy.outputs.size());
              copy_more();
              changed_.notify_all();
            });
    to_copy_.pop_back();
  }
}

/// Results that had to make room are in memory again at the end, as the caller wants them.
void Scheduler::bring_results_back() {
  const std::int64_t rest = std::max<std::int64_t>(0, options_.memory_limit - kept_results_);
  const KeepAtMost keep(static_cast<std::size_t>(rest));
  for (const TaskGraph::Output& output : graph_.outputs) {
    if (!is_mine(graph_.values[output.value].site) || !tiles_[output.value].empty()) continue;
    if (const auto copy = copies_.find(output.value); copy != copies_.end()) {
      const std::int64_t begin = time();
      tiles_[output.value] =
          moved_in(graph_.values[output.value].site, spilled_.read(copy->second));
      ledger_->hold(tiles_[output.value]);
      tell_value(RunEvent::Kind::read, output.value, begin, tiles_[output.value]);
    } else if (const auto source = sources_.find(output.value); source != sources_.end()) {
      tiles_[output.value] = from_source(*source->second);
    }
    if (ledger_->live() > options_.memory_limit) {
      fail_for_want_of_room("the result", ledger_->live());
      return;
    }
  }
}

}  // namespace tessera::exec
