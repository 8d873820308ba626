#include "exec/scheduler.h"

#include <algorithm>
#include <stop_token>

#include "base/check.h"
#include "base/stop.h"
#include "tra/plan_node.h"

namespace tessera::exec {
namespace {

std::string message_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& known) {
    return known.what();
  } catch (...) {
    return "unknown error";
  }
}

}  // namespace

Scheduler::Scheduler(const TaskGraph& graph, std::vector<bool> mine, const RunOptions& options,
                     Transport& transport, TupleSink sink, std::unique_ptr<Residence> residence,
                     EventStream& events, std::function<void()> after_tasks,
                     std::vector<Accelerator*> accelerators)
    : graph_(graph),
      mine_(std::move(mine)),
      options_(options),
      transport_(transport),
      sink_(std::move(sink)),
      events_(events),
      after_tasks_(std::move(after_tasks)),
      accelerators_(std::move(accelerators)),
      threads_(options.threads > 0 ? options.threads : all_cores()),
      tiles_(graph.values.size()),
      readers_left_(graph.values.size()),
      inputs_missing_(graph.tasks.size()),
      residence_(std::move(residence)),
      helpers_(threads_ - 1),
      spilled_(options.temporary_folder),
      io_(std::min(threads_, 2)) {}

Scheduler::~Scheduler() = default;

/// Counts what is to come.
void Scheduler::prepare() {
  for (std::size_t t = 0; t < graph_.tasks.size(); ++t) {
    const Task& task = graph_.tasks[t];
    if (task.kind == TaskKind::transfer && is_mine(graph_.values[task.output].site))
      ++arrivals_left_;
    if (!is_mine(task.site)) continue;
    work_left_.expect(graph_.costs[task.cost]);
    inputs_missing_[t] = task.inputs;
    if (task.inputs == 0 && !residence_) make_ready(static_cast<TaskId>(t));
  }
  const std::vector<std::int32_t> readers = graph_.count_readers();
  for (std::size_t v = 0; v < readers.size(); ++v) readers_left_[v] = readers[v];
  if (sink_) list_outputs();
  if (residence_) list_sources();
  small_io_ = io_is_small();
}

/// What can be read whenever it is needed. Complete before anything arrives or is stored, as room
/// is then looked for, and found by dropping and reading these.
void Scheduler::list_sources() {
  for (const TaskGraph::Given& given : graph_.given)
    if (given.tiles == nullptr && is_mine(graph_.values[given.value].site) &&
        readers_left_[given.value] > 0)
      sources_[given.value] = &given;
  if (sink_) {
    list_copies();
    return;
  }
  is_kept_result_.assign(graph_.values.size(), 0);
  for (const TaskGraph::Output& output : graph_.outputs)
    if (is_mine(graph_.values[output.value].site)) is_kept_result_[output.value] = 1;
}

/// Of several copies of a tuple, the first is stored, by whoever has it.
void Scheduler::list_outputs() {
  const TaskGraph::Output* last = nullptr;
  for (std::size_t i = 0; i < graph_.outputs.size(); ++i) {
    const TaskGraph::Output& output = graph_.outputs[i];
    const bool copy = last != nullptr && last->result == output.result &&
                      graph_.keys[last->key] == graph_.keys[output.key];
    last = &output;
    if (!copy && is_mine(graph_.values[output.value].site)) {
      to_store_[output.value].push_back(static_cast<std::int32_t>(i));
      ++io_left_;
    } else {
      --readers_left_[output.value];
      if (residence_) residence_->ignore_output(output.value);
    }
  }
}

/// Puts what is given in place, or has it read. Tiles of others may arrive meanwhile.
void Scheduler::take_given() {
  std::vector<TaskId> now_ready;
  for (const TaskGraph::Given& given : graph_.given) {
    if (!is_mine(graph_.values[given.value].site)) continue;
    if (readers_left_[given.value] == 0) continue;
    if (given.tiles != nullptr) {
      ledger_->exempt(*given.tiles);
      std::vector<Tile> tiles = moved_in(graph_.values[given.value].site, *given.tiles);
      if (residence_)
        take_in_place(given.value, tiles);
      else
        publish(given.value, std::move(tiles), now_ready);
    } else if (!residence_) {
      read_source(given);
    }
  }
  const Lock lock(mutex_);
  for (const TaskId next : now_ready) make_ready(next);
  if (residence_) admit();
}

/// Transfers go first: they take no time here, and others wait for them.
void Scheduler::make_ready(TaskId task) {
  const bool transfer = graph_.tasks[task].kind == TaskKind::transfer;
  ready_.push((transfer ? 0 : std::int64_t{1} << 32) | task);
}

void Scheduler::run() {
  events_.begin();
  try {
    run_all();
  } catch (...) {
    events_.end({true, 0, ledger_->live(), ledger_->peak()});
    throw;
  }
  events_.end({false, 0, ledger_->live(), ledger_->peak()});
  if (events_.has_failed()) std::rethrow_exception(events_.error());
}

void Scheduler::run_all() {
  prepare();
  agreed_ = !transport_.waits_for_agreement();
  transport_.start(*this);
  take_given();
  // Wakes the thread that waits below; workers see the request by themselves.
  const std::stop_callback on_stop(options_.stop, [this] {
    const Lock lock(mutex_);
    changed_.notify_all();
  });
  {
    Lock lock(mutex_);
    workers_ = 1;
    while (!ended_ && !finished()) {
      work(lock);
      caller_waits_ = true;
      changed_.wait(lock, [this] {
        check_for_stop();
        return ended_ || finished() || can_work() || can_help();
      });
      caller_waits_ = false;
    }
    if (ended_ && !failed_elsewhere_) {
      const std::string why = message_of(error_);
      lock.unlock();
      transport_.fail(why);
      lock.lock();
    }
    changed_.wait(lock, [this] { return workers_ == 1 && launched_ == 0; });
    door_->open = false;
  }
  io_.stop();
  transport_.finish();
  if (error_) std::rethrow_exception(error_);
  if (residence_ && !sink_) bring_results_back();
  if (!sink_) move_results_out();
  if (error_) std::rethrow_exception(error_);
}

/// Whether there is a task that may be started.
bool Scheduler::can_work() { return !ready_.empty() && (!residence_ || may_start(first_ready())); }

/// Runs ready tasks, and helps with what others share, until there is nothing to do. The lock is
/// held, but not while a task runs.
void Scheduler::work(Lock& lock) {
  const CrewScope crew(this);
  EventStream::Lane lane(events_);
  try {
    work_while_there_is(lock, lane);
  } catch (...) {
    // Not of a task, but of what is noted of it: there is no memory for that either.
    if (!lock.owns_lock()) lock.lock();
    fail_with(0, std::current_exception());
  }
}

void Scheduler::work_while_there_is(Lock& lock, EventStream::Lane& lane) {
  std::vector<TaskId> now_ready;
  for (check_for_stop(); !ended_; check_for_stop()) {
    if (!can_work()) {
      if (can_help()) {
        help_with_shared(lock);
      } else {
        if (lane.is_empty()) break;
        lock.unlock();
        lane.hand_over();
        lock.lock();
      }
      continue;
    }
    const TaskId task = first_ready();
    ready_.pop();
    ++running_;
    if (residence_) residence_->started(task);
    recruit();
    lock.unlock();
    std::exception_ptr error;
    bool ended = true;
    try {
      const StopScope stop_scope(options_.stop);
      ended = execute(task, now_ready);
      if (lane.hand_over_if_due() && after_tasks_) after_tasks_();
      if (events_.has_failed()) error = events_.error();
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    --running_;
    if (ended || error) task_ended(task, error, now_ready);
  }
}

/// The lock is held.
void Scheduler::task_ended(TaskId task, const std::exception_ptr& error,
                           std::vector<TaskId>& now_ready) {
  check_for_stop();  // which may be what has ended the task
  if (error) {
    fail_with(task, error);
    return;
  }
  work_left_.done(graph_.costs[graph_.tasks[task].cost]);
  for (const TaskId next : now_ready) make_ready(next);
  now_ready.clear();
  if (residence_) finish_resident(task);
}

/// Calls as many helpers as there are tasks for them. A helper leaves when it finds none. To wake
/// one takes longer than to do a few small tasks alone.
void Scheduler::recruit() {
  if (graph_.costs_known && work_left_.seconds() < 50e-6) return;
  auto tasks = static_cast<std::int64_t>(ready_.size());
  if (can_help()) tasks = threads_;
  if (caller_waits_ && tasks > 0) {
    changed_.notify_all();
    --tasks;
  }
  const auto wanted = std::min<std::int64_t>(threads_ - workers_ - called_, tasks - called_);
  for (std::int64_t i = 0; i < wanted; ++i) {
    ++called_;
    helpers_.call([this, door = door_] {
      Lock lock(door->mutex);
      if (door->open) help(lock);
    });
  }
}

void Scheduler::help(Lock& lock) {
  --called_;
  ++workers_;
  {
    const OpenAccount counted(account_);
    work(lock);
  }
  --workers_;
  changed_.notify_all();
}

/// A task has come to work in parts: those who find no other task help.
void Scheduler::share(std::int64_t count, const SharedWork::Part& part) {
  const auto work = std::make_shared<SharedWork>(count, part);
  if (threads_ > 1) {
    const Lock lock(mutex_);
    shared_.push_back(work);
    recruit();
  }
  while (work->do_one()) {
  }
  if (threads_ > 1) {
    const Lock lock(mutex_);
    std::erase(shared_, work);
  }
  work->wait();
}

bool Scheduler::can_help() const {
  return std::any_of(shared_.begin(), shared_.end(),
                     [](const auto& work) { return work->has_more(); });
}

/// One part, so that tasks that have become ready meanwhile do not wait for more.
void Scheduler::help_with_shared(Lock& lock) {
  const auto found = std::find_if(shared_.begin(), shared_.end(),
                                  [](const auto& work) { return work->has_more(); });
  const std::shared_ptr<SharedWork> work = *found;
  recruit();
  lock.unlock();
  {
    const StopScope stop_scope(options_.stop);
    (void)work->do_one();
  }
  lock.lock();
}

void Scheduler::check_for_stop() {
  if (ended_ || finished() || !options_.stop.stop_requested()) return;
  fail_with(0, std::make_exception_ptr(stopped()));
}

Interrupted Scheduler::stopped() const {
  return Interrupted(fmt::format("the run was stopped after {} of {} tasks",
                                 work_left_.tasks_done(), work_left_.tasks()));
}

/// Of several tasks that fail before the run has ended, the first in order is told.
void Scheduler::fail_with(TaskId task, std::exception_ptr error) {
  const bool first = !ended_;
  ended_ = true;
  if (first || (error_ && task < failed_task_)) {
    error_ = std::move(error);
    failed_task_ = task;
  }
  changed_.notify_all();
}

void Scheduler::agreed() {
  const Lock lock(mutex_);
  agreed_ = true;
  changed_.notify_all();
}

void Scheduler::failed_elsewhere(const std::string& message) {
  const Lock lock(mutex_);
  if (ended_) return;
  failed_elsewhere_ = true;
  fail_with(0, std::make_exception_ptr(ClusterError(message)));
}

void Scheduler::failed(const std::string& message) {
  const Lock lock(mutex_);
  if (!ended_) fail_with(0, std::make_exception_ptr(IoError(message)));
}

}  // namespace tessera::exec
