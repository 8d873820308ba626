#include "base/check.h"
#include "database/leftovers.h"
#include "database/outcome.h"
#include "database/relation_writer.h"
#include "database/state.h"
#include "database/stored_part.h"
#include "database/together.h"
#include "database/workload.h"
#include "exec/cluster.h"
#include "tra/tuple_set.h"

// How relations are stored: by one process, or by those of a cluster together, each of which writes
// its own part to segments of its own. The first process has the lock and the catalogue. It commits
// when all parts are on disk; until then nothing of them counts.

namespace tessera {
namespace {

using store::Catalog;
using store::Definition;

/// Writes the tuples of a relation that this process has, and says what the whole is.
using Write = std::function<TupleSet<TileType>(RelationWriter&)>;
/// What the catalogue is to know besides, by who commits.
using Remember = std::function<void(Catalog&)>;

/// What this process has written, as the first one wants to know it.
std::string report_of(exec::Cluster& cluster, RelationWriter& writer, Appender& appender) {
  StoredPart part = finish_part(writer, appender);
  part.mark = cluster.mark_of_last_run();
  return to_text(part);
}

/// The parts of all processes, of which each has written its own or says why not.
std::vector<StoredPart> parts_of(const std::vector<std::string>& said) {
  std::vector<StoredPart> parts;
  std::string first_reason, reason;
  for (std::size_t rank = 0; rank < said.size(); ++rank) {
    const Outcome outcome = outcome_of(said[rank]);
    if (!outcome.failed()) {
      parts.push_back(part_of(outcome.result));
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

/// Of the processes of a cluster, one that is not the first. What it has written stays where it is,
/// even after an error: it does not know who has the lock when the first one is gone. Who has it
/// removes what the catalogue does not name.
class PartOfOther {
 public:
  PartOfOther(const std::filesystem::path& folder, store::Compression compression,
              std::int64_t first_segment, std::int64_t stride)
      : appender_(std::make_unique<store::SegmentWriter>(folder, 0, 0, first_segment, stride),
                  compression) {
    appender_.segments().keep(true);
  }

  void write(exec::Cluster& cluster, const Write& write) {
    Outcome mine;
    std::exception_ptr error;
    try {
      RelationWriter writer(appender_);
      (void)write(writer);
      mine.result = report_of(cluster, writer, appender_);
      appender_.segments().sync();
    } catch (...) {
      error = std::current_exception();
      mine = failure_of(error);
    }
    (void)cluster.to_first(to_text(mine));
    const Outcome all = outcome_of(cluster.from_first(""));
    if (error) std::rethrow_exception(error);
    if (all.failed()) rethrow(all);
  }

 private:
  Appender appender_;
};

/// What the first process does: it writes its part too, and commits all of them.
void write_first(exec::Cluster& cluster, const std::filesystem::path& folder,
                 WriteStatement& statement, const std::string& name, const Write& write,
                 const Remember& remember) {
  Outcome mine, all;
  std::exception_ptr error;
  TupleSet<TileType> whole;
  try {
    RelationWriter writer(statement.appender());
    whole = write(writer);
    mine.result = report_of(cluster, writer, statement.appender());
  } catch (...) {
    error = std::current_exception();
    mine = failure_of(error);
  }
  try {
    // From here on nobody writes.
    const std::vector<std::string> said = cluster.to_first(to_text(mine));
    if (error) std::rethrow_exception(error);
    const std::vector<StoredPart> parts = parts_of(said);
    Definition definition = whole_of(parts, whole.type, store::edges_of(whole));
    definition.name = name;
    TESSERA_INVARIANT(std::cmp_equal(definition.statistics.tuples, whole.tuples.size()),
                      "{} tuples were stored of {}", definition.statistics.tuples,
                      whole.tuples.size());
    statement.commit([&](Catalog& catalog) {
      for (const StoredPart& part : parts) catalog.set_segments(part.segments);
      catalog.add(definition);
      remember(catalog);
    });
  } catch (...) {
    if (!error) error = std::current_exception();
    const Outcome failure = failure_of(error);
    all = {"ClusterError",
           failure.kind == "ClusterError" ? failure.message : "rank 0: " + failure.message};
    try {
      remove_leftovers(folder, statement.catalog());
    } catch (const IoError&) {
      // Nobody knows these bytes: the next statement removes them.
    }
  }
  (void)cluster.from_first(to_text(all));
  if (error) std::rethrow_exception(error);
}

}  // namespace

void Database::State::store(const std::string& name, const std::string& what, const Write& write,
                            const Remember& remember) {
  check_name(name);
  refuse_if_read_only();
  exec::Cluster* cluster = exec::cluster();
  if (cluster == nullptr) {
    WriteStatement statement = writer();
    refuse_taken(statement.catalog(), name);  // before anything is computed in vain
    RelationWriter relation(statement.appender());
    const TupleSet<TileType> whole = write(relation);
    const Definition definition = relation.finish(name, whole.type, store::edges_of(whole));
    statement.commit([&](Catalog& catalog) {
      catalog.add(definition);
      remember(catalog);
    });
    return;
  }
  std::unique_ptr<WriteStatement> statement;
  const std::string next =
      by_first(fmt::format("store '{}' in {} ({})", name, folder.string(), what), [&] {
        statement.reset(new WriteStatement(writer(cluster->size())));
        refuse_taken(statement->catalog(), name);
        return std::to_string(statement->catalog().next_segment());
      });
  if (statement)
    write_first(*cluster, folder, *statement, name, write, remember);
  else
    PartOfOther(folder, compression(), std::stoll(next) + cluster->rank(), cluster->size())
        .write(*cluster, write);
}

void Database::store(const std::string& name, const Relation& relation) {
  const std::string what =
      fmt::format("{}, {} tuples", to_string(relation.type()), relation.size());
  state_->store(
      name, what,
      [&](RelationWriter& writer) {
        const ClusterInfo processes = cluster_info();
        const std::vector<Tuple>& tuples = relation.tuples();
        for (std::size_t i = processes.rank; i < tuples.size(); i += processes.size)
          writer.add(tuples[i].key, tuples[i].tiles);
        return types_of(relation);
      },
      [](Catalog&) {});
}

void Database::store(const std::string& name, const Plan& plan, const RunOptions& options,
                     RunReport* report) {
  RunReport took;
  state_->store(
      name, to_string(plan.type()),
      [&](RelationWriter& writer) {
        const TupleSink sink = [&](std::size_t, const Key& key, const std::vector<Tile>& tiles) {
          writer.add(key, tiles);
        };
        return run_into({plan}, sink, options, &took).front();
      },
      [&](Catalog& catalog) { remember(catalog, name, plan, took); });
  if (report != nullptr) *report = took;
}

}  // namespace tessera
