#pragma once

#include <memory>
#include <string>

#include "tessera/events.h"
#include "tessera/external_access.h"
#include "tessera/run.h"

namespace tessera {

/// Writes what runs do to a file that Perfetto and chrome://tracing show: a group of tracks for
/// each site, in it a track for each thread, and the memory that is held. The file is in the Trace
/// Event Format, and is valid JSON at any time. Several runs may have one trace:
/// RunOptions::observer.
///
/// On a cluster every process makes the trace with the same path, in a folder that all of them see.
/// Each writes a part of its own; the first process joins them in `finish`.
class Trace final : public RunObserver {
 public:
  /// IoError if the file cannot be written, or may not: it is outside of what `access` allows, or
  /// in the folder of a database. A file that is there is replaced. `options`: of the runs, which
  /// say who runs them.
  explicit Trace(const std::string& path, const RunOptions& options = {},
                 const ExternalAccess& access = {});
  ~Trace() override;  // finishes; what goes wrong then is not told

  void run_begins(const ObservedRun& run) override;
  void see(const ObservedRun& run, std::span<const RunEvent> events) override;
  void run_ends(const ObservedRun& run, const RunEnd& end) override;

  /// Completes the file: on a cluster, as soon as all processes have done this, or have ended.
  void finish();

 private:
  class File;
  std::unique_ptr<File> file_;
};

}  // namespace tessera
