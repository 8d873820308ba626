#include <algorithm>

#include "base/bytes.h"
#include "base/check.h"
#include "base/stop.h"
#include "exec/scheduler.h"
#include "tile/buffer_bytes.h"
#include "tile/tile_rep.h"
#include "tra/plan_node.h"

// How a scheduler has values read, and written out to make room for others.

namespace tessera::exec {

/// Whether so little is read and stored that a thread of its own would take longer to wake.
bool Scheduler::io_is_small() const {
  constexpr std::size_t few = 16;        // tuples
  constexpr std::int64_t little = 1000;  // elements of a tile
  const bool all_here = !residence_ && graph_.sites == 1;
  if (!all_here || graph_.given.size() + to_store_.size() > few) return false;
  const auto is_small = [&](ValueId value) {
    const TypesId types = graph_.values[value].types;
    return types != unknown_types &&
           std::all_of(graph_.types[types].begin(), graph_.types[types].end(),
                       [](const TileType& type) { return type.shape.elements() <= little; });
  };
  return std::all_of(graph_.given.begin(), graph_.given.end(),
                     [&](const auto& given) { return is_small(given.value); }) &&
         std::all_of(to_store_.begin(), to_store_.end(),
                     [&](const auto& stored) { return is_small(stored.first); });
}

void Scheduler::call_io(std::int64_t number, std::function<void()> work) {
  if (small_io_) return do_io(number, work);
  io_.call(number, [this, number, work = std::move(work)] { do_io(number, work); });
}

/// An error there ends the run as one of a task does.
void Scheduler::do_io(std::int64_t number, const std::function<void()>& work) {
  std::exception_ptr error;
  try {
    const StopScope stop_scope(options_.stop);
    work();
  } catch (...) {
    error = std::current_exception();
  }
  if (!error) return;
  const Lock lock(mutex_);
  check_for_stop();  // which may be what has ended it
  fail_with(static_cast<TaskId>(number), error);
}

std::vector<Tile> Scheduler::from_source(const TaskGraph::Given& given) {
  const std::int64_t begin = time();
  const Value& value = graph_.values[given.value];
  std::vector<Tile> tiles = moved_in(
      value.site, tiles_from(*given.input, {graph_.keys[given.key], graph_.types[value.types]}));
  ledger_->hold(tiles);
  tell_source(given, begin, tiles);
  return tiles;
}

/// Where everything fits, sources are read in the order in which they are needed.
void Scheduler::read_source(const TaskGraph::Given& given) {
  {
    const Lock lock(mutex_);
    ++io_left_;
  }
  const auto readers = graph_.readers_of(given.value);
  call_io(readers.empty() ? static_cast<std::int64_t>(graph_.tasks.size()) : readers.front(),
          [this, &given] {
            std::vector<TaskId> now_ready;
            publish(given.value, from_source(given), now_ready);
            const Lock lock(mutex_);
            --io_left_;
            for (const TaskId next : now_ready) make_ready(next);
            changed_.notify_all();
          });
}

/// A tile that shows a part of a larger one would hold all of it, as long as it is there.
std::vector<Tile> Scheduler::without_what_is_not_shown(std::vector<Tile> tiles) {
  for (Tile& tile : tiles)
    if (!tile.is_sparse() && std::cmp_less(tile.bytes(), buffer_bytes(tile.rep().owner)) &&
        !ledger_->is_exempt(tile))
      tile = MutableTile::copy_of(tile).publish();
  return tiles;
}

/// Sends a tile to another site; until it is sent it counts as held, whoever else drops it.
void Scheduler::send(const Task& task) {
  const std::vector<Tile> tiles = moved_out(task.site, tiles_[graph_.inputs_of(task).front()]);
  std::function<void()> sent;
  if (residence_) {
    ledger_->hold(tiles);
    sent = [this, ledger = ledger_, door = door_, held = std::vector<Tile>(tiles)]() mutable {
      ledger->release(held);
      held.clear();
      const Lock lock(door->mutex);
      if (!door->open) return;
      --sending_;
      admit();
      changed_.notify_all();
    };
    const Lock lock(mutex_);
    ++sending_;
  }
  tell_value(RunEvent::Kind::sent, task.output, time(), tiles);
  transport_.send(task.output, tiles, task.site, graph_.values[task.output].site, std::move(sent));
}

/// Admits tasks as far as there is room. The lock is held, here and below.
void Scheduler::admit() {
  while (!ended_ && !residence_->all_admitted() && residence_->wants_more()) {
    Residence::Orders orders;
    // As long as every thread has something to do, nothing is written out for what comes later.
    const bool soon = residence_->running() < threads_;
    TaskId admitted = residence_->admit(ledger_->live(), soon, orders);
    carry_out(orders);
    if (admitted < 0 && (!orders.drop.empty() || !orders.write.empty())) {
      if (orders.drop.empty()) return;  // until they are written
      continue;
    }
    if (admitted < 0 && !residence_->anything_under_way() && sending_ == 0) {
      // Nothing else is left to wait for: it fits alone, or it was guessed that it does not.
      const TaskId next = residence_->next();
      if (residence_->known_need_of(next) > options_.memory_limit) {
        const Task& task = graph_.tasks[next];
        fail_for_want_of_room(
            fmt::format("{} at key {}, with its inputs and its result,",
                        describe_step(graph_.steps[task.op]), to_string(graph_.keys[task.key])),
            residence_->known_need_of(next));
        return;
      }
      Residence::Orders forced;
      admitted = residence_->admit(-residence_->need_of(next), false, forced);
      carry_out(forced);
    }
    if (admitted < 0) return;
    if (residence_->is_able(admitted)) make_ready(admitted);
  }
  copy_more();
}

/// Whether a task that has all it needs may be started now.
bool Scheduler::may_start(TaskId task) {
  for (;;) {
    Residence::Orders orders;
    if (residence_->may_start(task, ledger_->live(), orders)) return true;
    carry_out(orders);
    if (orders.drop.empty()) return false;
  }
}

void Scheduler::fail_for_want_of_room(const std::string& what, std::int64_t bytes) {
  fail_with(
      residence_->next(),
      std::make_exception_ptr(OutOfMemory(fmt::format(
          "{} needs {} of memory, but the limit is {}: use smaller tiles, {}or raise memory_limit",
          what, bytes_text(bytes), bytes_text(options_.memory_limit),
          sink_ ? "" : "store the result in a database instead of reading it, "))));
}

/// What others send comes unasked, and something else may have to go.
void Scheduler::relieve() {
  Residence::Orders orders;
  residence_->relieve(ledger_->live(), orders);
  carry_out(orders);
  admit();
}

void Scheduler::carry_out(const Residence::Orders& orders) {
  for (const ValueId value : orders.drop) let_go(value);
  // The handles are taken now: later a task may take the value over, and add to a copy of it. They
  // count until they are let go, be it that the run ends before they are written.
  for (const ValueId value : orders.write) {
    ledger_->hold(tiles_[value]);
    Handles handles(new std::vector<Tile>(tiles_[value]),
                    [ledger = ledger_](const std::vector<Tile>* tiles) {
                      ledger->release(*tiles);
                      delete tiles;
                    });
    call_io(-1, [this, value, handles = std::move(handles)]() mutable {
      write_out(value, std::move(handles));
    });
  }
  for (const ValueId value : orders.read) {
    const std::int64_t reader = residence_->next();
    call_io(reader, [this, value] { read_back(value); });
  }
}

/// A value has come to be: it was made, or sent by others.
void Scheduler::settle_in(ValueId value, std::int64_t bytes, std::vector<TaskId>& now_ready) {
  const Lock lock(mutex_);
  residence_->there(value, bytes, now_ready);
  stays_to_be_stored(value);
  if (sink_ || !is_kept_result_[value]) return;
  kept_results_ += bytes;
  if (kept_results_ > options_.memory_limit)
    fail_for_want_of_room("the part of the result that is computed", kept_results_);
}

void Scheduler::read_back(ValueId value) {
  std::vector<Tile> tiles;
  if (const auto source = sources_.find(value); source != sources_.end()) {
    tiles = from_source(*source->second);
  } else {
    SpillFile::Copy copy;
    {
      const Lock lock(mutex_);
      copy = copies_.at(value);
    }
    const std::int64_t begin = time();
    tiles = moved_in(graph_.values[value].site, spilled_.read(copy));
    ledger_->hold(tiles);
    tell_value(RunEvent::Kind::read, value, begin, tiles);
  }
  const std::int64_t bytes = ledger_->charged(tiles);
  tiles_[value] = std::move(tiles);
  std::vector<TaskId> now_ready;
  const Lock lock(mutex_);
  residence_->there(value, bytes, now_ready);
  for (const TaskId next : now_ready) make_ready(next);
  admit();
  changed_.notify_all();
}

void Scheduler::write_out(ValueId value, Handles tiles) {
  const std::int64_t begin = time();
  SpillFile::Copy copy = spilled_.write(moved_out(graph_.values[value].site, *tiles));
  tell_value(RunEvent::Kind::spilled, value, begin, *tiles, copy.range.bytes);
  tiles.reset();
  const Lock lock(mutex_);
  copies_[value] = std::move(copy);
  if (residence_->written(value)) let_go(value);
  if (residence_->is_dead(value)) forget_copy(value);
  admit();
  changed_.notify_all();
}

void Scheduler::let_go(ValueId value) {
  ledger_->release(tiles_[value]);
  tiles_[value].clear();
}

void Scheduler::finish_resident(TaskId task) {
  residence_->finished(task);
  for (const ValueId input : graph_.inputs_of(graph_.tasks[task]))
    if (residence_->is_dead(input)) forget_copy(input);
  admit();
}

void Scheduler::forget_copy(ValueId value) {
  const auto copy = copies_.extract(value);
  if (copy) spilled_.forget(copy.mapped());
}

}  // namespace tessera::exec
