#include "exec/scheduler.h"

// What a scheduler tells of what it does. Nothing is looked up where nobody listens.

namespace tessera::exec {

/// Fills in what all events have. The bytes are those of the tiles, unless they are known
/// already.
void Scheduler::tell(RunEvent& event, std::int64_t begin, const std::vector<Tile>& tiles) {
  event.begin = begin;
  event.end = EventStream::now();
  const bool known = event.bytes > 0;
  for (const Tile& tile : tiles) {
    if (!known) event.bytes += tile.bytes();
    event.elements += tile.elements();
  }
  event.held = ledger_->live();
  events_.tell(event);
}

void Scheduler::tell_task(TaskId id, std::int64_t begin, const std::vector<Tile>& tiles,
                          bool failed) {
  if (!events_.is_heard()) return;
  const Task& task = graph_.tasks[id];
  const Cost& cost = graph_.costs[task.cost];
  RunEvent event;
  event.failed = failed;
  event.is_result = events_.is_result(task.output);
  event.site = task.site;
  event.op = task.op;
  event.task = id;
  event.key = task.key;
  event.flops = cost.flops;
  event.work_bytes = cost.bytes;
  tell(event, begin, tiles);
}

/// Of a value that a task has made.
void Scheduler::tell_value(RunEvent::Kind kind, ValueId value, std::int64_t begin,
                           const std::vector<Tile>& tiles, std::int64_t bytes) {
  if (!events_.is_heard()) return;
  RunEvent event;
  event.kind = kind;
  event.site = graph_.values[value].site;
  event.bytes = bytes;
  event.task = events_.maker_of(value);
  const Task& maker = graph_.tasks[event.task];
  event.op = maker.op;
  event.key = maker.key;
  if (kind == RunEvent::Kind::received) event.other_site = maker.site;
  if (kind == RunEvent::Kind::sent) {
    event.other_site = event.site;
    event.site = maker.site;
  }
  tell(event, begin, tiles);
}

void Scheduler::tell_source(const TaskGraph::Given& given, std::int64_t begin,
                            const std::vector<Tile>& tiles) {
  if (!events_.is_heard()) return;
  RunEvent event;
  event.kind = RunEvent::Kind::read;
  event.site = graph_.values[given.value].site;
  event.key = given.key;
  tell(event, begin, tiles);
}

void Scheduler::tell_written(const TaskGraph::Output& output, std::int64_t begin,
                             const std::vector<Tile>& tiles) {
  if (!events_.is_heard()) return;
  RunEvent event;
  event.kind = RunEvent::Kind::written;
  event.site = graph_.values[output.value].site;
  event.task = events_.maker_of(output.value);
  if (event.task >= 0) event.op = graph_.tasks[event.task].op;
  event.key = output.key;
  tell(event, begin, tiles);
}

}  // namespace tessera::exec
