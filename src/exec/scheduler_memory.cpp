#include "base/bytes.h"
#include "base/check.h"
#include "exec/scheduler.h"
#include "tra/plan_node.h"

// How a scheduler has values read, stored, and written out to make room for others.

namespace tessera::exec {
namespace {

/// How many tasks may be admitted ahead of being run: more would only be looked at more often.
constexpr std::int64_t most_admitted = 256;

std::int64_t bytes_of(const std::vector<Tile>& tiles) {
  std::int64_t bytes = 0;
  for (const Tile& tile : tiles) bytes += tile.bytes();
  return bytes;
}

}  // namespace

/// An error there ends the run as one of a task does.
void Scheduler::call_io(std::int64_t number, std::function<void()> work) {
  io_.call(number, [this, number, work = std::move(work)] {
    std::exception_ptr error;
    try {
      work();
    } catch (...) {
      error = std::current_exception();
    }
    if (!error) return;
    const Lock lock(mutex_);
    fail_with(static_cast<TaskId>(number), error);
  });
}

std::vector<Tile> Scheduler::from_source(const TaskGraph::Given& given) {
  std::vector<Tile> tiles = tiles_from(
      *given.input, {graph_.keys[given.key], graph_.types[graph_.values[given.value].types]});
  ledger_->hold(tiles);
  bytes_read_ += bytes_of(tiles);
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

void Scheduler::store(const TaskGraph::Output& output, const std::vector<Tile>& tiles) {
  sink_(static_cast<std::size_t>(output.result), graph_.keys[output.key], tiles);
}

/// Hands a value that is a result to the sink. It stays where it is until that has it.
void Scheduler::store_outputs(ValueId value) {
  const auto found = to_store_.find(value);
  if (found == to_store_.end()) return;
  if (residence_) {
    const Lock lock(mutex_);
    for (std::size_t i = 0; i < found->second.size(); ++i) residence_->storing(value);
  }
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
  if (sink_) store_outputs(value);
}

/// Results that are sources too are copied one after the other, beside whatever else happens: a
/// task that reads one reads it for itself, and what it holds does not wait for the copy.
void Scheduler::copy_given_outputs() {
  if (!sink_) return;
  for (const auto& [value, given] : sources_) {
    const auto found = to_store_.find(value);
    if (found == to_store_.end()) continue;
    const std::vector<std::int32_t> outputs = std::move(found->second);
    to_store_.erase(found);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      residence_->ignore_output(value);
      --readers_left_[value];
    }
    call_io(static_cast<std::int64_t>(graph_.tasks.size()), [this, given = given, outputs] {
      const std::vector<Tile> tiles = from_source(*given);
      for (const std::int32_t number : outputs) store(graph_.outputs[number], tiles);
      ledger_->release(tiles);
      const Lock lock(mutex_);
      io_left_ -= static_cast<std::int64_t>(outputs.size());
      changed_.notify_all();
    });
  }
}

/// Sends a tile to another site; until it is sent it counts as held, whoever else drops it.
void Scheduler::send(const Task& task) {
  const std::vector<Tile>& tiles = tiles_[graph_.inputs_of(task).front()];
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
  transport_.send(task.output, tiles, task.site, graph_.values[task.output].site, std::move(sent));
}

/// Admits tasks as far as there is room. The lock is held, here and below.
void Scheduler::admit() {
  while (!ended_ && !residence_->all_admitted() && residence_->running() < most_admitted) {
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
      // Nothing else is left to wait for. What is held beyond what was foreseen is shared by views,
      // and cannot go as long as one of them is read.
      const std::int64_t need = residence_->need_of(residence_->next());
      if (need > residence_->limit()) {
        const Task& task = graph_.tasks[residence_->next()];
        fail_with(
            residence_->next(),
            std::make_exception_ptr(OutOfMemory(fmt::format(
                "{} at key {} needs {} in memory at once, with its inputs and its result, and "
                "the limit is {}: use smaller tiles, or allow more (memory_limit)",
                describe_step(graph_.steps[task.op].plan), to_string(graph_.keys[task.key]),
                bytes_text(need), bytes_text(residence_->limit())))));
        return;
      }
      Residence::Orders forced;
      admitted = residence_->admit(-need, false, forced);
      carry_out(forced);
    }
    if (admitted < 0) return;
    inputs_missing_[admitted] = residence_->missing(admitted);
    if (inputs_missing_[admitted] == 0) make_ready(admitted);
  }
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
  // The handles are taken now: later a task may take the value over.
  for (const ValueId value : orders.write)
    call_io(-1,
            [this, value, tiles = tiles_[value]]() mutable { write_out(value, std::move(tiles)); });
  for (const ValueId value : orders.read) {
    const std::int64_t reader = residence_->next();
    call_io(reader, [this, value] { read_back(value); });
  }
}

/// A value has come into memory.
void Scheduler::settle_in(ValueId value, std::int64_t bytes, std::vector<TaskId>& now_ready) {
  const Lock lock(mutex_);
  std::vector<TaskId> waiting;
  residence_->there(value, bytes, waiting);
  for (const TaskId reader : waiting)
    if (--inputs_missing_[reader] == 0) now_ready.push_back(reader);
}

void Scheduler::read_back(ValueId value) {
  std::vector<Tile> tiles;
  if (const auto source = sources_.find(value); source != sources_.end()) {
    tiles = from_source(*source->second);
  } else {
    store::Place place;
    {
      const Lock lock(mutex_);
      place = copies_.at(value);
    }
    tiles = spilled_.read(place);
    ledger_->hold(tiles);
    bytes_read_ += bytes_of(tiles);
  }
  const std::int64_t bytes = bytes_of(tiles);
  tiles_[value] = std::move(tiles);
  std::vector<TaskId> now_ready;
  settle_in(value, bytes, now_ready);
  const Lock lock(mutex_);
  for (const TaskId next : now_ready) make_ready(next);
  admit();
  changed_.notify_all();
}

void Scheduler::write_out(ValueId value, std::vector<Tile> tiles) {
  const store::Place place = spilled_.write(tiles);
  bytes_spilled_ += place.bytes;
  tiles.clear();
  const Lock lock(mutex_);
  copies_[value] = place;
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

/// Results that had to make room are in memory again at the end, as the caller wants them.
void Scheduler::bring_results_back() {
  for (const TaskGraph::Output& output : graph_.outputs) {
    if (!is_mine(graph_.values[output.value].site) || !tiles_[output.value].empty()) continue;
    if (const auto copy = copies_.find(output.value); copy != copies_.end()) {
      tiles_[output.value] = spilled_.read(copy->second);
      ledger_->hold(tiles_[output.value]);
      bytes_read_ += bytes_of(tiles_[output.value]);
    } else if (const auto source = sources_.find(output.value); source != sources_.end()) {
      tiles_[output.value] = from_source(*source->second);
    }
  }
}

}  // namespace tessera::exec
