#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <queue>

#include "exec/helpers.h"
#include "exec/ledger.h"
#include "exec/progress_meter.h"
#include "exec/transport.h"
#include "kernel/library_threads.h"

namespace tessera::exec {

/// Runs the tasks of some sites of a graph. Of the tasks that can run, that with the least number
/// is started first; a value is dropped after its last reader. The first error ends the run:
/// nothing new is started, and it is thrown when all that runs has ended.
class Scheduler final : public Receiver {
 public:
  /// `mine`: which sites, by number.
  Scheduler(const TaskGraph& graph, std::vector<bool> mine, const RunOptions& options,
            Transport& transport);

  void run();
  /// The tiles of an output of one of our sites, after run().
  const std::vector<Tile>& result(ValueId output) const { return tiles_[output]; }
  std::int64_t peak_bytes() const { return ledger_.peak(); }
  const ProgressMeter& meter() const { return meter_; }

  void arrived(ValueId value, std::vector<Tile> tiles) override;
  void failed_elsewhere(const std::string& message) override;
  void failed(const std::string& message) override;

 private:
  using Lock = std::unique_lock<std::mutex>;

  bool is_mine(int site) const { return mine_[site]; }
  void prepare();
  void take_given();
  void make_ready(TaskId task);
  void work(Lock& lock);
  void recruit();
  void help(Lock& lock);
  void spread_library_threads();
  void tell_progress(Lock& lock);
  void check_for_stop();
  Interrupted stopped() const;
  void fail_with(TaskId task, std::exception_ptr error);
  bool finished() const { return meter_.tasks_left() == 0 && arrivals_left_ == 0; }

  void execute(TaskId id, std::vector<TaskId>& now_ready);
  void publish(ValueId value, std::vector<Tile> tiles, std::vector<TaskId>& now_ready);
  void drop_reader(ValueId value);

  const TaskGraph& graph_;
  const std::vector<bool> mine_;
  const RunOptions& options_;
  Transport& transport_;
  const int threads_;
  Ledger ledger_;

  // By value: its tiles, written once before any reader is ready, and how many readers are left.
  std::vector<std::vector<Tile>> tiles_;
  std::vector<std::atomic<std::int32_t>> readers_left_;
  // By task: how many inputs are not there yet.
  std::vector<std::atomic<std::int32_t>> inputs_missing_;

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
  int running_ = 0;  // tasks
  std::int64_t arrivals_left_ = 0;
  bool ended_ = false;  // by an error or a stop request: nothing new starts
  bool failed_elsewhere_ = false;
  std::exception_ptr error_;
  TaskId failed_task_ = 0;
  bool telling_ = false;
  ProgressMeter meter_;
  LibraryThreads library_threads_;
  Helpers helpers_;
};

}  // namespace tessera::exec
