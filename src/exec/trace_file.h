#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "exec/engine.h"
#include "tessera/external_access.h"

namespace tessera::exec {

/// A file of events in the Trace Event Format. What is written always ends with what completes the
/// JSON, which the next events overwrite: the file is valid at any time.
///
/// On a cluster every process writes a file of its own, which it locks; the first one joins them
/// when they are closed. A lock goes with its process, so that nobody waits for one that was
/// killed.
class TraceFile {
 public:
  /// All processes of the engine call this together.
  TraceFile(const std::string& path, std::shared_ptr<Engine> engine, ExternalAccess access);

  /// Adds events, each a JSON object that begins with a line break; commas between them.
  void add(const std::string& events);
  /// Joins the parts; all processes call this, or end.
  void close();

  /// The time since all have begun, from nanoseconds of std::chrono::steady_clock.
  std::int64_t since_begin(std::int64_t time) const { return time - begin_; }

 private:
  void open();
  void begin_together();
  void join(int rank);
  void wait_for_first();
  std::string part(int rank) const;

  const std::string path_;
  const std::shared_ptr<Engine> engine_;
  const int rank_;
  const ExternalAccess access_;
  std::optional<File> file_;
  std::int64_t end_ = 0;  // where the next event goes
  bool any_ = false;      // event
  std::int64_t begin_ = 0;
};

}  // namespace tessera::exec
