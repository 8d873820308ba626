#include <utility>

#include "base/stop.h"
#include "exec/scheduler.h"

// How a scheduler has accelerators run the tasks of their sites, and moves values to them and back.

namespace tessera::exec {

/// Tiles that come to a site from the host, as they lie there.
std::vector<Tile> Scheduler::moved_in(int site, std::vector<Tile> tiles) {
  if (Accelerator* const there = accelerator_at(site))
    for (Tile& tile : tiles) tile = there->to_device(tile);
  return tiles;
}

/// Tiles of a site, as they lie on the host.
std::vector<Tile> Scheduler::moved_out(int site, std::vector<Tile> tiles) {
  if (Accelerator* const there = accelerator_at(site))
    for (Tile& tile : tiles) tile = there->to_host(tile);
  return tiles;
}

/// Whoever asks for results wants them on the host.
void Scheduler::move_results_out() {
  if (accelerators_.empty()) return;
  std::vector<char> is_out(graph_.values.size(), 0);
  for (const TaskGraph::Output& output : graph_.outputs) {
    const int site = graph_.values[output.value].site;
    if (!is_mine(site) || std::exchange(is_out[output.value], 1) != 0) continue;
    tiles_[output.value] = moved_out(site, std::move(tiles_[output.value]));
  }
}

void Scheduler::launch(Accelerator& accelerator, TaskId id) {
  {
    const Lock lock(mutex_);
    ++launched_;
  }
  const std::int64_t begin = time();
  const auto made = std::make_shared<std::vector<Tile>>();
  const auto compute = [this, id, made] {
    const OpenAccount counted(account_);
    const StopScope stop_scope(options_.stop);
    *made = made_by(graph_.tasks[id]);
  };
  try {
    accelerator.run(compute, [this, id, begin, made](std::exception_ptr error) {
      landed(id, begin, std::move(*made), std::move(error));
    });
  } catch (...) {  // then it calls neither
    const Lock lock(mutex_);
    --launched_;
    throw;
  }
}

void Scheduler::landed(TaskId id, std::int64_t begin, std::vector<Tile> made,
                       std::exception_ptr error) {
  std::vector<TaskId> now_ready;
  try {
    const OpenAccount counted(account_);
    if (error) {
      tell_task(id, begin, {}, true);
    } else {
      finish(id, begin, std::move(made), now_ready);
      if (after_tasks_) after_tasks_();
    }
  } catch (...) {
    error = std::current_exception();
  }
  const Lock lock(mutex_);
  --launched_;
  task_ended(id, error, now_ready);
  changed_.notify_all();
}

}  // namespace tessera::exec
