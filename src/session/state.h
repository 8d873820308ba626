#pragma once

#include "lang/sql/ast.h"
#include "query/versions/framing.h"
#include "session/job_lock.h"
#include "session/statement_texts.h"
#include "session/stored_definitions.h"
#include "tessera/session.h"

namespace tessera {

struct ResultTable::Data {
  std::vector<ResultColumn> columns;
  query::Rows rows;
  std::vector<std::optional<ResultTensor>> tensors = {};  // by column, if there are any
};

namespace session {

struct Output;       // of a statement: a query
struct Computation;  // of all of them
struct Outcome;      // what it comes to
struct ExplainOptions;

ResultTable result_of(query::Rows rows);
/// A table of texts, as SHOW and DESCRIBE give.
ResultTable text_table(const std::vector<std::string>& columns,
                       const std::vector<std::vector<std::string>>& rows);
std::string count_text(std::int64_t count, std::string_view what);  // "1 row", "2 rows"

}  // namespace session

struct Session::State {
  Database database;
  SessionOptions options;
  SessionOptions defaults = {};  // what RESET goes back to

  /// Says in the options who makes the statements that follow: whom they name, or else who makes
  /// those of the database. Processes join others when that is found out, and not before.
  void fill_in_engine();
  /// A statement, on one state of the database; once more if others have changed meanwhile what it
  /// is about.
  StatementResult run_on_one_state(const sql::Statement& statement, std::string_view text);

  /// What statements do, one kind each.
  StatementResult run(const sql::Statement& statement, std::string_view text);

  StatementResult query(const sql::QueryPtr& query);
  StatementResult execute(const sql::Execute& statement,
                          const std::function<void(const StatementResult&)>& receive);
  StatementResult materialize(const sql::Materialize& statement, const sql::Statement& all);
  StatementResult create_table(const sql::CreateTable& statement, std::string_view text);
  StatementResult create_rule(const sql::CreateTable& statement, std::string_view text);
  StatementResult create_view(const sql::CreateView& statement);
  StatementResult create_tensor(const sql::CreateTensor& statement, lang::Location location);
  StatementResult insert(const sql::Insert& statement, lang::Location location);
  StatementResult copy(const sql::Copy& statement, lang::Location location);
  StatementResult copy_selected(const sql::Query& query, const std::string& file,
                                const FormatOptions& format, session::StoredDefinitions& catalogue);
  /// What adds rows of its own types to a table.
  void add_rows(session::StoredDefinitions& catalogue, const std::string& name, query::Rows rows,
                Changes& changes, lang::Location location);
  StatementResult drop(const sql::Drop& statement, lang::Location location);
  StatementResult drop_versions(const sql::Drop& statement, lang::Location location);
  StatementResult rename(const sql::Rename& statement, lang::Location location);
  StatementResult describe(const sql::Describe& statement, lang::Location location);
  StatementResult show(const sql::Show& statement, lang::Location location);
  StatementResult drop_job(const sql::DropJob& statement, lang::Location location);
  StatementResult set(const sql::Set& statement, lang::Location location);
  StatementResult explain(const sql::Explain& statement);
  std::string explained(const sql::Explain& statement, const session::ExplainOptions& wanted,
                        session::StoredDefinitions& catalogue);

  /// What a statement computes. If it will run, and in several frames, it has its job from here on.
  session::Computation computation_of(const sql::Statement& statement,
                                      session::StoredDefinitions& catalogue, bool will_run);
  session::Computation computation_of(std::vector<session::Output> outputs,
                                      session::StoredDefinitions& catalogue, bool will_run);
  session::Computation computation_of(const sql::QueryPtr& query,
                                      session::StoredDefinitions& catalogue, bool will_run);
  session::Computation computation_of(const sql::CreateTable& statement,
                                      session::StoredDefinitions& catalogue, bool will_run);
  session::Computation computation_of(const sql::CreateTensor& statement,
                                      session::StoredDefinitions& catalogue,
                                      lang::Location location, bool will_run);
  /// The one way from what a statement computes to what it shows and stores, whether it runs or is
  /// explained: who runs plans (`runner`) makes the difference. Plans of results that are shown
  /// have been run when it returns; those that are stored run when the outcome is committed.
  session::Outcome outcome_of(session::Computation& computation,
                              session::StoredDefinitions& catalogue);
  Snapshot commit(session::Outcome& outcome);
  /// What its queries yield, evaluated together. `changes` gets what is to be dropped when the
  /// statement is done.
  std::vector<query::Value> evaluate(session::Computation& computation, Changes& changes);
  query::Value evaluate(const query::Request& request, session::StoredDefinitions& catalogue,
                        Changes& changes);
  frames::Limits frame_limits() const;
  frames::History frame_history() const;
  query::Settings settings() const;
  std::vector<std::vector<std::string>> settings_text() const;  // name, value, description
  ResultTable jobs_text() const;
  /// Has the job until the statement is done. IoError if another process has it.
  void take_job(const std::string& name);
  /// Makes a change that was thought of for the state that the statement has seen, and returns the
  /// one that it has made.
  Snapshot commit(Changes& changes, const RunOptions& run_options);

  // Of the statement that runs.
  std::optional<Snapshot> snapshot = {};                     // the state that it sees
  std::unique_ptr<session::StatementTexts> texts = {};       // that it reads and writes
  std::function<void(const StatementResult&)> receive = {};  // of results inside it
  query::EvaluationObserver* observer = nullptr;             // of what it takes
  query::PlanRunner* runner = nullptr;                       // of its plans; nobody: they just run
  std::vector<sql::Literal> values_given = {};               // that were given for each ?
  std::string text_of_statement = {};
  std::optional<session::JobLock> job_lock = {};
  std::optional<Database> frames_elsewhere = {};  // of a database that is open for reading only
};

namespace session {

/// The rules of a versioned table and what is stored of it.
ResultTable described_versions(StoredDefinitions& catalogue, const std::string& table);
/// What a user calls it: "versioned table".
std::string_view kind_name(StoredDefinitions::Kind kind);
/// TypeError if there is something of that name.
void refuse_taken(StoredDefinitions& catalogue, const std::string& name, lang::Location location);
/// The same, unless OR REPLACE allows it.
void refuse_taken(StoredDefinitions& catalogue, const sql::CreateTable& statement,
                  lang::Location location);
void refuse_taken(StoredDefinitions& catalogue, const sql::CreateTensor& statement,
                  lang::Location location);
/// What there is of that name is dropped by the changes that make it anew.
void drop_replaced(StoredDefinitions& catalogue, const Snapshot& snapshot, const std::string& name,
                   Changes& changes);

}  // namespace session
}  // namespace tessera
