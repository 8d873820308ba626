#include "tessera/session.h"

#include <chrono>

#include "base/check.h"
#include "base/failed_allocation.h"
#include "base/stop.h"
#include "exec/engine.h"
#include "exec/statement_memory.h"
#include "lang/sql/parser.h"
#include "query/rows/text_value.h"
#include "session/state.h"

namespace tessera {

const std::vector<ResultColumn>& ResultTable::columns() const { return data_->columns; }
std::int64_t ResultTable::rows() const {
  return static_cast<std::int64_t>(data_->rows.rows.size());
}

SqlValue ResultTable::at(std::int64_t row, int column) const {
  const query::Cell& cell = data_->rows.rows.at(row).at(column);
  if (cell.is_null()) return {};
  if (cell.is_text()) return cell.text();
  const Tile tile = cell.tile();
  if (tile.rank() > 0) return tile;
  switch (tile.dtype()) {
    case DType::boolean: return tile.at<bool>({});
    case DType::i64: return tile.at<std::int64_t>({});
    case DType::f32:
    case DType::f64: break;
  }
  return tile.at<double>({});
}

TileType ResultTable::tile_type(std::int64_t row, int column) const {
  const query::Cell& cell = data_->rows.rows.at(row).at(column);
  return cell.is_null() || cell.is_text() ? TileType{DType::i64, {}} : cell.type();
}

std::string ResultTable::text(std::int64_t row, int column) const {
  return query::text_of(data_->rows.rows.at(row).at(column));
}

const ResultTensor* ResultTable::tensor(int column) const {
  const auto place = static_cast<std::size_t>(column);
  if (place >= data_->tensors.size() || !data_->tensors[place]) return nullptr;
  return &*data_->tensors[place];
}

namespace session {

ResultTable result_of(query::Rows rows) {
  auto data = std::make_shared<ResultTable::Data>();
  for (const query::Column& column : rows.schema)
    data->columns.push_back({column.name, sql::to_string(column.type)});
  data->rows = std::move(rows);
  return ResultTable(std::move(data));
}

ResultTable text_table(const std::vector<std::string>& columns,
                       const std::vector<std::vector<std::string>>& rows) {
  query::Rows table;
  for (const std::string& column : columns)
    table.schema.push_back({column, {sql::Type::Kind::text}});
  for (const auto& row : rows) table.rows.emplace_back(row.begin(), row.end());
  return result_of(std::move(table));
}

std::string count_text(std::int64_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

}  // namespace session

query::Settings Session::State::settings() const {
  query::Settings settings;
  settings.run = options.run;
  settings.by_rows = options.by_rows;
  settings.observer = observer;
  settings.runner = runner;
  return settings;
}

namespace {

/// Whether a statement is there to change the database. What a query notes on the way is none of
/// this.
struct Writes {
  bool operator()(const sql::Copy& copy) const { return copy.from; }
  bool operator()(const sql::CreateTable&) const { return true; }
  bool operator()(const sql::CreateTensor&) const { return true; }
  bool operator()(const sql::CreateView&) const { return true; }
  bool operator()(const sql::Insert&) const { return true; }
  bool operator()(const sql::Drop&) const { return true; }
  bool operator()(const sql::Rename&) const { return true; }
  bool operator()(const sql::DropJob&) const { return true; }
  bool operator()(const sql::Materialize&) const { return true; }
  bool operator()(const sql::Checkpoint&) const { return true; }
  bool operator()(const sql::Vacuum&) const { return true; }
  bool operator()(const auto&) const { return false; }
};

}  // namespace

StatementResult Session::State::run(const sql::Statement& statement, std::string_view text) {
  // Before anything is computed in vain.
  TESSERA_REQUIRE(IoError, !database.is_read_only() || !std::visit(Writes{}, statement.node),
                  "database \"{}\" is read-only", database.folder().string());
  struct Run {
    State& state;
    const sql::Statement& statement;
    std::string_view text;

    void refuse_values(std::string_view what) const {
      if (statement.values > 0)
        lang::fail_type(
            statement.begin,
            "{} cannot contain parameters (?), because it is stored as text; write the values",
            what);
    }

    StatementResult operator()(const sql::QueryPtr& s) const { return state.query(s); }
    StatementResult operator()(const sql::CreateTable& s) const {
      if (!s.indices.empty()) refuse_values("a versioned table");
      return state.create_table(s, text);
    }
    StatementResult operator()(const sql::CreateTensor& s) const {
      return state.create_tensor(s, statement.begin);
    }
    StatementResult operator()(const sql::CreateView& s) const {
      refuse_values("a view");
      return state.create_view(s);
    }
    StatementResult operator()(const sql::Insert& s) const {
      return state.insert(s, statement.begin);
    }
    StatementResult operator()(const sql::Copy& s) const { return state.copy(s, statement.begin); }
    StatementResult operator()(const sql::Drop& s) const { return state.drop(s, statement.begin); }
    StatementResult operator()(const sql::Rename& s) const {
      return state.rename(s, statement.begin);
    }
    StatementResult operator()(const sql::Describe& s) const {
      return state.describe(s, statement.begin);
    }
    StatementResult operator()(const sql::Show& s) const { return state.show(s, statement.begin); }
    StatementResult operator()(const sql::DropJob& s) const {
      return state.drop_job(s, statement.begin);
    }
    StatementResult operator()(const sql::Set& s) const { return state.set(s, statement.begin); }
    StatementResult operator()(const sql::Checkpoint&) const {
      state.database.checkpoint();
      return {"CHECKPOINT", {}, "CHECKPOINT"};
    }
    StatementResult operator()(const sql::Vacuum&) const {
      return {"VACUUM", {}, fmt::format("freed {} bytes", state.database.vacuum())};
    }
    StatementResult operator()(const sql::Materialize& s) const {
      return state.materialize(s, statement);
    }
    StatementResult operator()(const sql::Execute& s) const {
      return state.execute(s, state.receive);
    }
    StatementResult operator()(const sql::Explain& s) const { return state.explain(s); }
  };
  return std::visit(Run{*this, statement, text}, statement.node);
}

StatementResult Session::State::run_on_one_state(const sql::Statement& statement,
                                                 std::string_view text) {
  constexpr int most_tries = 1000;
  for (int tries = 1;; ++tries) {
    snapshot = database.common_snapshot();
    texts = std::make_unique<session::StatementTexts>(*snapshot);
    try {
      return run(statement, text);
    } catch (const Error& error) {
      // An error that has got a place is of another type.
      const bool again =
          snapshot->is_outdated() || dynamic_cast<const Outdated*>(&error) != nullptr;
      // The processes of a cluster cannot tell each other that they begin anew.
      if (!again || tries == most_tries || options.run.engine->processes() > 1) throw;
      refuse_if_stopped(options.run.stop, "retrying after a concurrent change");
      job_lock.reset();
      frames_elsewhere.reset();
    }
  }
}

void Session::State::fill_in_engine() {
  if (!options.run.engine) options.run.engine = database.engine();
  database = database.with_engine(options.run.engine);
}

Snapshot Session::State::commit(Changes& changes, const RunOptions& run_options) {
  changes.since = snapshot;
  const auto expect = [&](const std::string& name) {
    if (!session::is_of_job(name)) changes.relations_as_then.push_back(name);
  };
  for (const std::string& name : changes.dropped) expect(name);
  for (const auto& [name, plan] : changes.results) expect(name);
  for (const auto& [name, more] : changes.appended) expect(name);
  for (const auto& [from, to] : changes.renamed) {
    expect(from);
    expect(to);
  }
  for (const auto& [name, text] : changes.texts)
    if (session::is_definition(name)) changes.texts_as_then.push_back(name);
  changes.strings_of = [&](const std::vector<std::int64_t>& codes) { return texts->texts(codes); };
  return database.change(changes, run_options);
}

Session::Session(Database database, const SessionOptions& options)
    : state_(std::make_unique<State>(State{std::move(database), options})) {
  State& state = *state_;
  ExternalAccess& access = state.options.external_access;
  access = state.database.external_access().and_only(access);
  state.defaults.lock_seconds = state.database.lock_seconds();
  if (!state.options.lock_seconds) state.options.lock_seconds = state.defaults.lock_seconds;
  state.database = state.database.with_lock_seconds(*state.options.lock_seconds);
}
Session::~Session() = default;
Session::Session(Session&&) noexcept = default;

Database& Session::database() { return state_->database; }
const SessionOptions& Session::options() const { return state_->options; }
const ExternalAccess& Session::external_access() const { return state_->options.external_access; }
RunOptions& Session::run_options() { return state_->options.run; }

namespace {

struct LiteralOf {
  sql::Literal operator()(std::monostate) const { return {sql::Null{}}; }
  // As those are that are written out.
  sql::Literal operator()(const Tile& tile) const { return {tile.dense()}; }
  sql::Literal operator()(const auto& value) const { return {value}; }
};

/// Values as the parser takes them.
std::vector<sql::Literal> literals_of(const std::vector<SqlValue>& values) {
  std::vector<sql::Literal> literals;
  literals.reserve(values.size());
  for (const SqlValue& value : values) literals.push_back(std::visit(LiteralOf{}, value));
  return literals;
}

}  // namespace

void Session::execute(std::string_view text,
                      const std::function<void(const StatementResult&)>& receive,
                      const std::vector<SqlValue>& values) {
  lang::Location begin;  // of the statement that runs
  struct LetGo {
    State& state;
    ~LetGo() {
      state.job_lock.reset();
      state.texts.reset();
      state.snapshot.reset();
    }
  };
  const LetGo whatever_happens{*state_};
  const StopScope stop_scope(state_->options.run.stop);
  try {
    state_->fill_in_engine();
    telling_failed_allocations([&] {
      std::int64_t read = 0;  // bytes of what the text has become, which stay to the end
      const std::vector<sql::StatementPtr> statements = [&] {
        const exec::StatementMemory memory(exec::memory_limit_of(state_->options.run));
        state_->values_given = literals_of(values);
        std::vector<sql::StatementPtr> parsed = sql::parse(text, state_->values_given);
        read = MemoryAccount::current()->held();
        return parsed;
      }();
      for (const sql::StatementPtr& statement : statements) {
        begin = statement->begin;
        const exec::StatementMemory memory(exec::memory_limit_of(state_->options.run));
        count_memory(read);
        const auto start = std::chrono::steady_clock::now();
        const std::string_view written =
            text.substr(static_cast<std::size_t>(begin.offset),
                        static_cast<std::size_t>(statement->end.offset - begin.offset));
        state_->receive = receive;
        state_->text_of_statement = written;
        StatementResult result = state_->run_on_one_state(*statement, written);
        state_->job_lock.reset();
        state_->frames_elsewhere.reset();
        result.seconds =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        receive(result);
      }
    });
  } catch (const lang::ErrorAt& error) {
    const lang::LineColumn at = lang::line_and_column(text, error.location);
    throw StatementError(error.kind(), error.what(), at.line, at.column);
  } catch (const StatementError&) {
    throw;
  } catch (const Error& error) {
    const lang::LineColumn at = lang::line_and_column(text, begin);
    throw StatementError(error.kind(), error.what(), at.line, at.column);
  }
}

std::vector<StatementResult> Session::execute(std::string_view text,
                                              const std::vector<SqlValue>& values) {
  std::vector<StatementResult> results;
  execute(
      text, [&](const StatementResult& result) { results.push_back(result); }, values);
  return results;
}

ResultTable Session::query(std::string_view text, const std::vector<SqlValue>& values) {
  const std::vector<StatementResult> results = execute(text, values);
  TESSERA_REQUIRE(TypeError, results.size() == 1 && results[0].table,
                  "query() needs exactly one statement that returns rows");
  return *results[0].table;
}

}  // namespace tessera
