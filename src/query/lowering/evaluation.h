#pragma once

#include "query/lowering/evaluation_observer.h"
#include "query/lowering/table.h"
#include "tessera/run.h"

namespace tessera::query {

/// A table, in whichever form it is at hand: as a plan, as rows, or both; or in neither, where a
/// statement is only planned and this is known when it runs.
struct Value {
  std::optional<Table> table = {};
  std::optional<Rows> rows = {};

  bool is_known() const { return table || rows; }
};

/// Carries out what the evaluation of a query cannot do without. A statement that runs and one that
/// is explained are evaluated by the same code, and differ in who this is.
class PlanRunner {
 public:
  virtual ~PlanRunner() = default;
  /// What plans yield that are run together; none if they are only planned.
  virtual std::optional<std::vector<Relation>> run(const std::vector<Plan>& plans,
                                                   const RunOptions& options) = 0;
  /// Whether tuples are read and rows are made: no if the query is only planned.
  virtual bool looks_at_rows() const = 0;
  /// Where a query is only planned: the keys and types of results that a frame stores. None if they
  /// are known only when it runs.
  virtual std::optional<std::vector<TupleSet<TileType>>> store(const std::vector<Plan>& plans,
                                                               const RunOptions& options) = 0;
};

/// How queries are evaluated.
struct Settings {
  RunOptions run = {};
  bool by_rows = false;  // every operator by definition: slow, and what the rest is held to
  EvaluationObserver* observer = nullptr;  // or nobody
  PlanRunner* runner = nullptr;            // or, if it is nobody, tessera::run
  double* lowering_seconds = nullptr;      // what operators take to become plans is added to it
};

/// What an operator yields for its inputs. What can be a plan of the tensor relational algebra
/// becomes one, over the plans of its inputs, and is computed by whoever wants to look at it. Where
/// rows have to be looked at, plans of inputs are run for it, and stay computed; the observer is
/// told.
Value evaluate(const Node& node, const std::vector<Value*>& inputs, Parameters parameters,
               Dictionary& dictionary, const Settings& settings);

/// The value as rows, for which its plan is run; null if they are known when the query runs.
const Rows* rows_if_known(Value& value, Dictionary& dictionary, const Settings& settings);
/// The same where queries are run, not only planned.
const Rows& as_rows(Value& value, Dictionary& dictionary, const Settings& settings);
/// Runs what has to be computed before these values can be rows, all at once: they may have much in
/// common, as the versions of a chain have.
void compute_together(const std::vector<Value*>& values, const Settings& settings);

/// Whether a plan's tuples can be read without computing anything.
bool is_at_hand(const Plan& plan);
}  // namespace tessera::query
