#include "base/characters.h"
#include "base/check.h"
#include "base/stop.h"
#include "database/by_first.h"
#include "database/catalog_update.h"
#include "database/collective_write.h"
#include "database/names.h"
#include "database/snapshot.h"
#include "database/workload.h"
#include "exec/statement_memory.h"
#include "tra/relation_hash.h"
#include "tra/tuple_set.h"

// The one statement behind all that store, drop and rename: by one process, or by those of a
// cluster together.

namespace tessera {
namespace {

using store::Catalog;

void check_names(const Changes& changes, const NamedRelations& stored) {
  for (const auto& [from, to] : changes.renamed) check_any_name(to);
  for (const auto& [name, plan] : changes.results) check_any_name(name);
  for (const auto& [name, relation] : stored) check_any_name(name);
  for (const auto& [name, more] : changes.appended) check_any_name(name);
  for (const auto& [name, text] : changes.texts)
    TESSERA_REQUIRE(TypeError, !name.empty() && name.size() <= 1000 && is_utf8(name),
                    "the name of a text must have 1 to 1000 bytes of valid UTF-8");
}

/// Of several processes with a number that tells contents apart: each stores some of the tuples,
/// and would store some of another relation.
std::string description(const Relation& relation, bool together) {
  std::string text = fmt::format("{}, {} tuples", to_string(relation.type()), relation.size());
  if (together) text += fmt::format(", contents {:016x}", hash_of(relation));
  return text;
}

/// What the processes of a cluster compare, lest they make different statements.
std::string description(const Changes& changes, const NamedRelations& stored, bool together) {
  std::vector<std::string> all;
  for (const std::string& name : changes.dropped) all.push_back(fmt::format("drop \"{}\"", name));
  for (const auto& [from, to] : changes.renamed)
    all.push_back(fmt::format("rename \"{}\" to \"{}\"", from, to));
  for (const auto& [name, plan] : changes.results)
    all.push_back(fmt::format("store \"{}\" ({})", name, to_string(plan.type())));
  for (const auto& [name, relation] : stored)
    all.push_back(fmt::format("store \"{}\" ({})", name, description(relation, together)));
  for (const auto& [name, more] : changes.appended)
    all.push_back(fmt::format("append to \"{}\" ({})", name, description(more, together)));
  for (const auto& [name, text] : changes.texts)
    all.push_back(
        text ? fmt::format("set the text \"{}\" ({:x})", name, std::hash<std::string>()(*text))
             : fmt::format("remove the text \"{}\"", name));
  return fmt::format("{}", fmt::join(all, ", "));
}

/// The last looks, while all can still be taken back.
void refuse_if_run_stopped(const RunOptions& options) {
  TESSERA_REQUIRE(Interrupted, !options.stop.stop_requested(), "stopped; no changes were saved");
}

/// Writes all, or, on a cluster, what this process has of it, and says in `wholes` what it all is.
Written write_tiles(const Changes& changes, const NamedRelations& stored, const RunOptions& options,
                    Appender& appender, RunReport& took, std::vector<TupleSet<TileType>>& wholes) {
  std::deque<RelationWriter> writers;  // which do not move
  std::vector<Plan> plans;
  const exec::Engine& engine = *options.engine;
  const auto string_columns = [&](const std::string& name) {
    const auto known = changes.string_columns.find(name);
    return known != changes.string_columns.end() ? known->second : std::vector<int>{};
  };
  for (const auto& [name, plan] : changes.results) {
    writers.emplace_back(appender, string_columns(name));
    plans.push_back(plan);
  }
  if (!plans.empty())
    wholes = run_into(
        plans,
        [&](std::size_t result, const Key& key, const std::vector<Tile>& tiles) {
          writers[result].add(key, tiles);
        },
        options, &took);
  refuse_if_run_stopped(options);
  for (const NamedRelations* relations : {&stored, &changes.appended})
    for (const auto& [name, relation] : *relations) {
      const std::vector<Tuple>& tuples = relation.tuples();
      RelationWriter& writer = writers.emplace_back(appender, string_columns(name));
      for (std::size_t i = engine.rank(); i < tuples.size(); i += engine.processes()) {
        refuse_if_run_stopped(options);
        writer.add(tuples[i].key, tuples[i].tiles);
      }
      wholes.push_back(types_of(relation));
    }
  return finish(writers, appender);
}

}  // namespace

Snapshot Database::State::change(const Changes& changes, const NamedRelations& stored,
                                 const RunOptions& asked, RunReport* report) {
  const RunOptions running = filled_in(asked);
  const exec::StatementMemory memory(exec::memory_limit_of(running));
  const StopScope stop_scope(running.stop);
  check_names(changes, stored);
  refuse_if_read_only();
  const bool tiles = !changes.results.empty() || !stored.empty() || !changes.appended.empty();
  exec::Engine& engine = *running.engine;
  const bool together = engine.processes() > 1;
  RunReport took;
  std::vector<TupleSet<TileType>> wholes;
  const Write write = [&](Appender& appender) {
    return write_tiles(changes, stored, running, appender, took, wholes);
  };
  std::unique_ptr<WriteStatement> statement;
  std::unique_ptr<CatalogUpdate> update;
  const auto commit = [&](const std::vector<Written>& written) {
    update->complete(written, wholes, statement->appender());
    statement->commit([&](Catalog& changed) {
      for (std::size_t rank = 1; rank < written.size(); ++rank)
        changed.set_segments(written[rank].segments);
      update->apply(changed);
      if (!changes.results.empty()) remember(changed, changes.results, took);
      if (!together) refuse_if_run_stopped(running);
    });
  };
  const std::string next = by_first(
      engine, fmt::format("{} in {}", description(changes, stored, together), folder.string()),
      [&]() -> std::string {
        statement.reset(new WriteStatement(writer(engine.processes(), running.stop)));
        update = std::make_unique<CatalogUpdate>(
            folder, statement->catalog(), changes, stored,
            changes.since ? changes.since->state_->catalog.get() : nullptr);
        if (!together || !tiles) {
          commit({write(statement->appender())});
          return "";
        }
        return std::to_string(statement->catalog().next_segment());
      });
  if (together && tiles) {
    if (statement) {
      write_and_commit(engine, *statement, write, commit);
    } else {
      Appender appender(std::make_unique<store::SegmentWriter>(
                            folder, 0, 0, std::stoll(next) + engine.rank(), engine.processes()),
                        compression());
      write_part(engine, appender, sync, write);
    }
  }
  if (report != nullptr && !changes.results.empty()) *report = took;
  // What is done is done: who has written does not look at the disk again.
  return snapshot_of(statement ? statement->state() : catalog->now());
}

Snapshot Database::change(const Changes& changes, const RunOptions& options, RunReport* report) {
  return state_->change(changes, {}, options, report);
}

void Database::store(const std::string& name, const Relation& relation, const RunOptions& options) {
  check_name(name);
  (void)state_->change({}, {{name, relation}}, options, nullptr);
}

void Database::store(const std::string& name, const Plan& plan, const RunOptions& options,
                     RunReport* report) {
  check_name(name);
  (void)change({.results = {{name, plan}}}, options, report);
}

void Database::drop(const std::string& name, const RunOptions& options) {
  (void)change({.dropped = {name}}, options);
}

void Database::rename(const std::string& from, const std::string& to, const RunOptions& options) {
  check_name(to);
  (void)change({.renamed = {{from, to}}}, options);
}

}  // namespace tessera
