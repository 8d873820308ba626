#include "tessera/trace.h"

#include <mutex>

#include "exec/context.h"
#include "exec/trace_file.h"
#include "exec/trace_text.h"

namespace tessera {

namespace {

constexpr std::size_t written_at_once = 1 << 16;  // bytes

}  // namespace

class Trace::File {
 public:
  File(const std::string& path, const std::shared_ptr<exec::Engine>& engine,
       const ExternalAccess& access)
      : file_(path, engine, access), text_(engine->processes() > 1 ? engine->rank() : -1) {}

  void run_begins(const ObservedRun& run) {
    const std::lock_guard lock(mutex_);
    text_.run_begins(run);
  }
  void see(const ObservedRun& run, std::span<const RunEvent> events) {
    const std::lock_guard lock(mutex_);
    for (const RunEvent& event : events) {
      text_.add(run, event, file_.since_begin(event.begin));
      text_.add_memory(event.held, file_.since_begin(event.end));
    }
    if (text_.size() >= written_at_once) file_.add(text_.take());
  }
  void run_ends(const ObservedRun& run, const RunEnd& end) {
    const std::lock_guard lock(mutex_);
    text_.run_ends(run);
    text_.add_memory(0, file_.since_begin(end.end));
    file_.add(text_.take());
  }
  void finish() {
    const std::lock_guard lock(mutex_);
    file_.close();
  }

 private:
  std::mutex mutex_;  // runs may share a trace
  exec::TraceFile file_;
  exec::TraceText text_;
};

Trace::Trace(const std::string& path, const RunOptions& options, const ExternalAccess& access)
    : file_(std::make_unique<File>(path, exec::engine_of(options), access)) {}

Trace::~Trace() {
  try {
    finish();
  } catch (const std::exception&) {
    // Whoever wants to know calls finish().
  }
}

void Trace::run_begins(const ObservedRun& run) { file_->run_begins(run); }

void Trace::see(const ObservedRun& run, std::span<const RunEvent> events) {
  file_->see(run, events);
}

void Trace::run_ends(const ObservedRun& run, const RunEnd& end) { file_->run_ends(run, end); }

void Trace::finish() { file_->finish(); }

}  // namespace tessera
