#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <queue>
#include <unordered_map>

#include "base/crew.h"
#include "base/memory_account.h"
#include "exec/accelerator.h"
#include "exec/event_stream.h"
#include "exec/helpers.h"
#include "exec/io_threads.h"
#include "exec/ledger.h"
#include "exec/residence.h"
#include "exec/spill_file.h"
#include "exec/transport.h"
#include "exec/work_left.h"
#include "kernel/library_threads.h"
#include "tessera/run.h"

namespace tessera::exec {

/// Runs the tasks of some sites of a graph. Of the tasks that can run, that with the least number
/// is started first; a value is dropped after its last reader. Sources are read, and results are
/// stored, by threads of their own beside those that compute, unless it is little. The first error
/// ends the run: nothing new is started, and it is thrown when all that runs has ended.
class Scheduler final : public Receiver, private Crew {
 public:
  /// `mine`: which sites, by number. Results go to the sink, if there is one. `residence`: decides
  /// what is in memory; none if all of it can be. What happens is told to `events`; `after_tasks`,
  /// if there is one, is called after tasks, by the threads that ran them, once their events are
  /// told. `accelerators`: by site, none for the host; or empty.
  Scheduler(const TaskGraph& graph, std::vector<bool> mine, const RunOptions& options,
            Transport& transport, TupleSink sink, std::unique_ptr<Residence> residence,
            EventStream& events, std::function<void()> after_tasks = {},
            std::vector<Accelerator*> accelerators = {});
  ~Scheduler();

  void run();
  /// The tiles of an output of one of our sites, after run() without a sink.
  const std::vector<Tile>& result(ValueId output) const { return tiles_[output]; }

  void arrived(ValueId value, std::vector<Tile> tiles) override;
  void agreed() override;
  void failed_elsewhere(const std::string& message) override;
  void failed(const std::string& message) override;

 private:
  using Lock = std::unique_lock<std::mutex>;

  bool is_mine(int site) const { return mine_[site]; }
  void prepare();
  void run_all();
  void take_given();
  void list_outputs();
  void list_sources();
  void make_ready(TaskId task);
  void work(Lock& lock);
  void work_while_there_is(Lock& lock, EventStream::Lane& lane);
  void recruit();
  void help(Lock& lock);
  void share(std::int64_t count, const SharedWork::Part& part) override;
  bool can_help() const;
  void help_with_shared(Lock& lock);
  void task_ended(TaskId task, const std::exception_ptr& error, std::vector<TaskId>& now_ready);
  void check_for_stop();
  Interrupted stopped() const;
  void fail_with(TaskId task, std::exception_ptr error);
  bool finished() const {
    return work_left_.tasks_left() == 0 && arrivals_left_ == 0 && io_left_ == 0 && agreed_;
  }

  // scheduler_values.cpp: values that are made, put in place and dropped.
  bool execute(TaskId id, std::vector<TaskId>& now_ready);
  void finish(TaskId id, std::int64_t begin, std::vector<Tile> made,
              std::vector<TaskId>& now_ready);
  std::vector<Tile> made_by(const Task& task);
  void publish(ValueId value, std::vector<Tile> tiles, std::vector<TaskId>& now_ready);
  void drop_reader(ValueId value);

  // scheduler_accelerators.cpp: tasks and values of sites that are not on the host.
  Accelerator* accelerator_at(int site) const {
    return accelerators_.empty() ? nullptr : accelerators_[site];
  }
  void launch(Accelerator& accelerator, TaskId id);
  void landed(TaskId id, std::int64_t begin, std::vector<Tile> made, std::exception_ptr error);
  std::vector<Tile> moved_in(int site, std::vector<Tile> tiles);
  std::vector<Tile> moved_out(int site, std::vector<Tile> tiles);
  void move_results_out();

  TaskId first_ready() const { return static_cast<TaskId>(ready_.top() & 0xffffffff); }
  bool can_work();

  // scheduler_events.cpp: what is told of all this.
  std::int64_t time() const { return events_.is_heard() ? EventStream::now() : 0; }
  void tell_task(TaskId id, std::int64_t begin, const std::vector<Tile>& tiles, bool failed);
  void tell_value(RunEvent::Kind kind, ValueId value, std::int64_t begin,
                  const std::vector<Tile>& tiles, std::int64_t bytes = 0);
  void tell_source(const TaskGraph::Given& given, std::int64_t begin,
                   const std::vector<Tile>& tiles);
  void tell_written(const TaskGraph::Output& output, std::int64_t begin,
                    const std::vector<Tile>& tiles);
  void tell(RunEvent& event, std::int64_t begin, const std::vector<Tile>& tiles);

  // scheduler_memory.cpp: values on their way to and from disk.
  bool io_is_small() const;
  void call_io(std::int64_t number, std::function<void()> work);
  void do_io(std::int64_t number, const std::function<void()>& work);
  std::vector<Tile> from_source(const TaskGraph::Given& given);
  void read_source(const TaskGraph::Given& given);
  void send(const Task& task);
  void admit();
  bool may_start(TaskId task);
  void relieve();
  void fail_for_want_of_room(const std::string& what, std::int64_t bytes);
  std::vector<Tile> without_what_is_not_shown(std::vector<Tile> tiles);
  void settle_in(ValueId value, std::int64_t bytes, std::vector<TaskId>& now_ready);
  void carry_out(const Residence::Orders& orders);
  void read_back(ValueId value);
  using Handles = std::shared_ptr<const std::vector<Tile>>;
  void write_out(ValueId value, Handles tiles);
  void let_go(ValueId value);
  void finish_resident(TaskId task);
  void forget_copy(ValueId value);

  // scheduler_outputs.cpp: results.
  void store(const TaskGraph::Output& output, const std::vector<Tile>& tiles);
  void stays_to_be_stored(ValueId value);
  void store_outputs(ValueId value);
  void take_in_place(ValueId value, const std::vector<Tile>& tiles);
  void list_copies();
  void copy_more();
  void bring_results_back();

  const TaskGraph& graph_;
  const std::vector<bool> mine_;
  const RunOptions& options_;
  Transport& transport_;
  const TupleSink sink_;
  EventStream& events_;
  const std::function<void()> after_tasks_;
  const std::vector<Accelerator*> accelerators_;
  const int threads_;
  bool small_io_ = false;  // it is done where it is asked for
  const std::shared_ptr<MemoryAccount> account_ = MemoryAccount::current();  // of all threads
  const std::shared_ptr<Ledger> ledger_ = std::make_shared<Ledger>();

  // By value: its tiles, written once before any reader is ready, and how many readers are left.
  std::vector<std::vector<Tile>> tiles_;
  std::vector<std::atomic<std::int32_t>> readers_left_;
  // By task: how many inputs are not there yet.
  std::vector<std::atomic<std::int32_t>> inputs_missing_;
  // The outputs that are to be stored, by value.
  std::unordered_map<ValueId, std::vector<std::int32_t>> to_store_;

  /// What a helper looks at first: one that comes when all is done must find out without us.
  struct Door {
    std::mutex mutex;
    bool open = true;
  };
  const std::shared_ptr<Door> door_ = std::make_shared<Door>();
  std::mutex& mutex_ = door_->mutex;  // guards what follows
  std::condition_variable changed_;
  std::priority_queue<std::int64_t, std::vector<std::int64_t>, std::greater<>> ready_;
  int workers_ = 0;  // the caller of run() and the helpers that are at work
  int called_ = 0;   // helpers that have not come yet
  bool caller_waits_ = false;
  int running_ = 0;   // tasks
  int launched_ = 0;  // tasks that accelerators run
  std::int64_t arrivals_left_ = 0;
  std::int64_t sending_ = 0;  // tiles that make room when others have them
  std::int64_t io_left_ = 0;  // reads of sources and stores of results that have not ended
  const std::unique_ptr<Residence> residence_;
  std::unordered_map<ValueId, const TaskGraph::Given*> sources_;  // that can be read again
  std::unordered_map<ValueId, SpillFile::Copy> copies_;           // of values that were written out
  /// Sources that are results too, and which ones.
  struct Copy {
    const TaskGraph::Given* given;
    std::vector<std::int32_t> outputs;
  };
  std::vector<Copy> to_copy_;
  std::int64_t copying_ = 0;  // bytes of those that are on their way
  std::vector<char> is_kept_result_;
  std::int64_t kept_results_ = 0;  // bytes of those that are there, or were
  bool agreed_ = false;            // that all processes run the same
  bool ended_ = false;             // by an error or a stop request: nothing new starts
  bool failed_elsewhere_ = false;
  std::exception_ptr error_;
  TaskId failed_task_ = 0;
  WorkLeft work_left_;
  std::vector<std::shared_ptr<SharedWork>> shared_;  // of tasks that run
  const OneLibraryThread library_;
  Helpers helpers_;
  SpillFile spilled_;
  IoThreads io_;
};

}  // namespace tessera::exec
