#include "session/job.h"

#include <algorithm>

#include "base/check.h"
#include "base/heap.h"
#include "base/stop.h"
#include "query/lowering/null_marks.h"
#include "session/definition_text.h"
#include "session/state.h"
#include "store/hidden_names.h"
#include "store/json_fields.h"

namespace tessera::session {

using nlohmann::json;
using query::Value;

namespace {

/// How the columns of a result lie that is stored: those of its schema, and behind them marks of
/// NULL, each with the number of the column that it is of.
TableDefinition layout_of(const std::string& text, const query::Schema& schema,
                          const std::string& whose) {
  return store::read_stored(whose, [&] {
    TableDefinition definition = definition_of(text);
    bool well = definition.schema.size() >= schema.size();
    for (std::size_t c = 0; well && c < schema.size(); ++c)
      well = definition.schema[c].type == schema[c].type;
    for (std::size_t c = schema.size(); well && c < definition.schema.size(); ++c)
      well = query::is_boolean(definition.schema[c].type) &&
             std::stoul(definition.schema[c].name) < schema.size();
    TESSERA_REQUIRE(IoError, well, "the stored result has different columns");
    return definition;
  });
}

}  // namespace

Job::Job(const query::Unrolled& plan, query::Framing framing, std::vector<Value> stored,
         Identity identity, Database& database, query::Dictionary& dictionary,
         const query::Settings& settings)
    : plan_(plan),
      framing_(std::move(framing)),
      tables_(std::move(stored)),
      identity_(std::move(identity)),
      database_(database),
      dictionary_(dictionary),
      settings_(settings) {
  if (!settings_.run.progress || framing_.frames.size() <= 1) return;
  settings_.run.progress = [this, tell = settings_.run.progress](const Progress& progress) {
    tell(of_all_frames(progress));
  };
}

/// Frames are about equally large: each is as much of the whole as any other.
Progress Job::of_all_frames(Progress progress) const {
  const auto frames = static_cast<double>(framing_.frames.size());
  double part = 0;
  if (progress.flops > 0)
    part = progress.flops_done / progress.flops;
  else if (progress.tasks > 0)
    part = static_cast<double>(progress.tasks_done) / static_cast<double>(progress.tasks);
  const double done = frame_ - resumed_ + std::min(part, 1.0);
  progress.frame = frame_ + 1;
  progress.frames = static_cast<int>(framing_.frames.size());
  progress.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  progress.seconds_left =
      done > 0 ? progress.seconds * (frames - resumed_ - done) / done : progress.seconds_left;
  return progress;
}

std::string Job::relation_of(std::int64_t op) const { return job_relation(identity_.name, op); }

Value Job::evaluated(std::int64_t op) {
  refuse_if_stopped(settings_.run.stop, "planning operators");
  const auto [which, instance, node] = query::operator_of(plan_, op);
  std::vector<Value*> inputs;
  for (const query::OperatorInput& read : query::reads_of(plan_, op))
    inputs.push_back(read.op >= 0 ? &value(read.op) : &tables_[read.stored]);
  if (settings_.observer != nullptr) settings_.observer->operator_begins(op);
  const auto work = [&] {
    return query::evaluate(*node, inputs, instance.parameters, dictionary_, settings_);
  };
  if (instance.table < 0) return work();
  // The place is in the text of the rule.
  const query::Instance asked = plan_.instances[plan_.wanted.front()];
  return lang::in_other_text(query::version_name(plan_.tables[instance.table], instance.indices),
                             asked.location, work);
}

Value& Job::value(std::int64_t op) {
  const auto found = values_.find(op);
  if (found != values_.end()) return found->second;
  const auto layout = layouts_.find(op);
  if (layout != layouts_.end()) {
    Value stored;
    if (layout->second.empty()) {
      stored.rows = query::Rows{query::operator_of(plan_, op).node->schema, {}};
    } else {
      const query::Schema& schema = query::operator_of(plan_, op).node->schema;
      const std::string whose = fmt::format("job \"{}\"", identity_.name);
      const TableDefinition definition = layout_of(layout->second, schema, whose);
      query::Table table{definition.schema, definition.origins, stored_plan(op)};
      check_origins(definition, table.plan.type(), whose);
      if (definition.schema.size() > schema.size())  // there are marks of NULL
        stored.rows =
            query::unmarked(query::rows_of(table, dictionary_, settings_.run.stop), schema);
      else
        stored.table = std::move(table);
    }
    return values_[op] = std::move(stored);
  }
  // Inputs first, one after the other: a chain of them can be long.
  std::vector<std::int64_t> open{op};
  while (!open.empty()) {
    const std::int64_t next = open.back();
    bool ready = true;
    for (const query::OperatorInput& read : query::reads_of(plan_, next)) {
      if (read.op < 0 || values_.contains(read.op) || layouts_.contains(read.op)) continue;
      open.push_back(read.op);
      ready = false;
    }
    if (!ready) continue;
    open.pop_back();
    if (!values_.contains(next)) values_[next] = evaluated(next);
  }
  return values_[op];
}

bool Job::is_planned() const {
  return settings_.runner != nullptr && !settings_.runner->looks_at_rows();
}

Plan Job::stored_plan(std::int64_t op) const {
  const auto planned = to_come_.find(op);
  return planned != to_come_.end() ? planned->second : database_.plan(relation_of(op));
}

void Job::plan_frame(std::int32_t frame, const std::map<std::int64_t, Stored>& stored) {
  std::vector<Plan> plans;
  for (const auto& [op, result] : stored) plans.push_back(result.plan);
  bool all_known = true;
  for (std::int32_t op : framing_.frames[frame])
    all_known = all_known && (framing_.last_reader[op] <= frame || value(op).is_known());
  RunOptions options = settings_.run;
  options.holes = Holes::allowed;
  settings_.observer->results_begin();
  std::optional<std::vector<TupleSet<TileType>>> types;
  if (all_known && !plans.empty()) types = settings_.runner->store(plans, options);
  std::size_t next = 0;
  for (const auto& [op, result] : stored) {
    values_[op] = {};
    if (!types) {
      settings_.observer->operator_begins(op);
      settings_.observer->known_later("its frame stores results that are not computed yet");
      continue;
    }
    const TileSource nothing = [](const Key&) -> std::vector<Tile> {
      TESSERA_INVARIANT(false, "a result of a frame that is only planned was read");
    };
    to_come_.insert_or_assign(
        op, Plan::input(std::make_shared<const TupleSet<TileType>>((*types)[next++]), nothing,
                        store::shown_name(relation_of(op))));
    layouts_[op] = result.text;
    values_.erase(op);
  }
}

void Job::run_frame(std::int32_t frame) {
  if (settings_.observer != nullptr) settings_.observer->frame_begins(frame);
  for (std::int32_t op : framing_.frames[frame]) (void)value(op);
  Changes changes;
  std::map<std::int64_t, std::string> layouts;
  std::map<std::int64_t, Stored> to_be_stored;
  for (std::int32_t op : framing_.frames[frame]) {
    if (framing_.last_reader[op] <= frame) continue;
    Value& result = value(op);
    if (!result.is_known()) continue;
    // What can be read anyway, as a choice of columns of a stored table, is made again when needed.
    if (result.table && !result.rows && query::is_at_hand(result.table->plan)) continue;
    const query::Schema& schema = query::operator_of(plan_, op).node->schema;
    const bool has_null = result.rows && !query::columns_with_null(*result.rows).empty();
    const query::Rows marks = has_null ? query::marked(*result.rows) : query::Rows{};
    const auto stored =
        has_null ? to_store({std::nullopt, marks}, marks.schema, dictionary_, settings_.run)
                 : to_store(result, schema, dictionary_, settings_.run);
    if (stored) to_be_stored.emplace(op, *stored);
    layouts[op] = stored ? stored->text : std::string();
  }
  if (is_planned()) {
    plan_frame(frame, to_be_stored);
    return;
  }
  for (const auto& [op, stored] : to_be_stored) add_result(changes, relation_of(op), stored);
  // What was read for the last time goes with the same commit.
  std::vector<std::int64_t> gone;
  for (const auto& [op, layout] : layouts_)
    if (framing_.last_reader[op] <= frame) gone.push_back(op);
  for (std::int64_t op : gone) {
    if (!layouts_[op].empty()) changes.dropped.push_back(relation_of(op));
    layouts_.erase(op);
  }
  learn(frame);
  layouts_.insert(layouts.begin(), layouts.end());
  json note{{"frames", frame + 1},
            {"of", framing_.frames.size()},
            {"statement", identity_.statement},
            {"history", identity_.history},
            {"sources", identity_.sources},
            {"layouts", json::object()}};
  for (const auto& [op, layout] : layouts_) note["layouts"][std::to_string(op)] = layout;
  // What was given as a statement need not be UTF-8.
  changes.texts[job_text(identity_.name)] =
      note.dump(-1, ' ', false, json::error_handler_t::replace);
  RunOptions options = settings_.run;
  options.holes = Holes::allowed;
  changes.strings_of = [&](const std::vector<std::int64_t>& codes) {
    return dictionary_.texts(codes);
  };
  database_.change(changes, options);
  // From here on they are read from the database; what nobody reads any more is forgotten.
  std::erase_if(values_, [&](const auto& known) {
    return layouts_.contains(known.first) || framing_.last_reader[known.first] <= frame;
  });
  for (auto& [op, known] : values_) known.rows.reset();
}

void Job::learn(std::int32_t frame) {
  for (std::int32_t op : framing_.frames[frame]) {
    const frames::Kind reader = query::kind_of(*query::operator_of(plan_, op).node);
    for (const query::OperatorInput& read : query::reads_of(plan_, op)) {
      if (read.op < 0 || framing_.frame_of[read.op] != frame) continue;
      const auto known = values_.find(read.op);
      if (known == values_.end()) continue;
      const bool pipelined =
          known->second.table && !known->second.rows && framing_.last_reader[read.op] <= frame;
      history_.add(query::kind_of(*query::operator_of(plan_, read.op).node), reader, pipelined);
    }
  }
}

std::vector<Value> Job::run() {
  std::vector<Value> results;
  const auto frames = static_cast<std::int32_t>(framing_.frames.size());
  if (frames > 1) {
    give_back_free_memory();  // the plan is cut: that took more than it left
    std::int32_t next = 0;
    if (const auto text = database_.text(job_text(identity_.name))) {
      store::read_stored(fmt::format("job \"{}\"", identity_.name), [&] {
        const json note = json::parse(*text);
        next = resumed_ = static_cast<int>(store::integer_of(note.at("frames"), 0, frames));
        for (const auto& [op, layout] : note.at("layouts").items()) {
          const std::int64_t number = std::stoll(op);
          TESSERA_REQUIRE(IoError, number >= 0 && number < plan_.operators(),
                          "it has a result of operator {}, but only {} operators", number,
                          plan_.operators());
          layouts_[number] = layout.get<std::string>();
        }
      });
    }
    for (; next < frames; ++next) {
      frame_ = next;
      if (settings_.run.progress) settings_.run.progress({});
      run_frame(next);
    }
    if (settings_.observer != nullptr) settings_.observer->frame_begins(frames);
  }
  for (int wanted : plan_.wanted) {
    Value result = value(query::result_of(plan_, wanted));
    const query::Schema& schema = plan_.instances[wanted].of->root->schema;
    if (result.table) result.table->schema = schema;
    if (result.rows) result.rows->schema = schema;
    results.push_back(std::move(result));
  }
  return results;
}

std::optional<std::string> history_of_job(const Database& database, const std::string& name) {
  const auto text = database.text(job_text(name));
  if (!text) return std::nullopt;
  return store::read_stored(fmt::format("job \"{}\"", name), [&] {
    const std::string history = json::parse(*text).value("history", "");
    (void)frames::History::from_text(history);
    return std::optional(history);
  });
}

void Job::clean_up(Changes& changes) const {
  if (framing_.frames.size() <= 1) return;
  for (const auto& [op, layout] : layouts_)
    if (!layout.empty()) changes.dropped.push_back(relation_of(op));
  changes.texts[job_text(identity_.name)] = std::nullopt;
}

}  // namespace tessera::session
