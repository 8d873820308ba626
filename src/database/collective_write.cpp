#include "database/collective_write.h"

#include "base/check.h"
#include "database/outcome.h"
#include "exec/cluster.h"

namespace tessera {
namespace {

/// What this process has written, as the first one wants to know it.
std::string report_of(exec::Engine& engine, const Write& write, Appender& appender) {
  Written written = write(appender);
  written.mark = engine.mark_of_last_run();
  return to_text(written);
}

/// The parts of all processes, of which each has written its own or says why not.
std::vector<Written> parts_of(const std::vector<std::string>& said) {
  std::vector<Written> parts;
  std::string first_reason, reason;
  for (std::size_t rank = 0; rank < said.size(); ++rank) {
    const Outcome outcome = outcome_of(said[rank]);
    if (!outcome.failed()) {
      parts.push_back(written_of(outcome.result));
      continue;
    }
    // Some only say that another one has failed.
    std::string& of = outcome.kind == "ClusterError" ? first_reason : reason;
    if (of.empty()) of = fmt::format("rank {}: {}", rank, outcome.message);
  }
  if (!reason.empty()) throw ClusterError(reason);
  if (!first_reason.empty()) throw ClusterError(first_reason);
  for (std::size_t rank = 1; rank < parts.size(); ++rank)
    TESSERA_REQUIRE(IoError, parts[rank].mark == parts[0].mark, "{}",
                    exec::Cluster::other_plan(0, static_cast<int>(rank)));
  return parts;
}

}  // namespace

void write_part(exec::Engine& engine, Appender& appender, store::Sync sync, const Write& write) {
  appender.segments().keep(true);
  Outcome mine;
  std::exception_ptr error;
  try {
    mine.result = report_of(engine, write, appender);
    appender.segments().sync(sync);
  } catch (...) {
    error = std::current_exception();
    mine = failure_of(error);
  }
  (void)engine.to_first(to_text(mine));
  const Outcome all = outcome_of(engine.from_first(""));
  if (error) std::rethrow_exception(error);
  if (all.failed()) rethrow(all);
}

void write_and_commit(exec::Engine& engine, WriteStatement& statement, const Write& write,
                      const std::function<void(const std::vector<Written>&)>& commit) {
  Outcome mine, all;
  std::exception_ptr error;
  try {
    mine.result = report_of(engine, write, statement.appender());
  } catch (...) {
    error = std::current_exception();
    mine = failure_of(error);
  }
  try {
    // From here on nobody writes.
    const std::vector<std::string> said = engine.to_first(to_text(mine));
    if (error) std::rethrow_exception(error);
    commit(parts_of(said));
  } catch (...) {
    if (!error) error = std::current_exception();
    const Outcome failure = failure_of(error);
    all = {"ClusterError",
           failure.kind == "ClusterError" ? failure.message : "rank 0: " + failure.message};
    try {
      statement.remove_leftovers();
    } catch (const IoError&) {
      // Nobody knows these bytes: the next statement removes them.
    }
  }
  (void)engine.from_first(to_text(all));
  if (error) std::rethrow_exception(error);
}

}  // namespace tessera
