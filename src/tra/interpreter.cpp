#include <unordered_map>

#include "base/check.h"
#include "tra/evaluate.h"
#include "tra/plan_node.h"

// The reference interpreter: single-threaded, each operator by its definition, each shared node
// once. Everything faster is tested against it.

namespace tessera {
namespace {

/// Refuses, before any kernel runs, what is known to break an integrity constraint.
void verify(const Plan& plan, std::unordered_map<const Plan::Node*, bool>& seen) {
  if (!seen.emplace(&plan.node(), true).second) return;
  for (const Plan& input : inputs_of(operator_of(plan))) verify(input, seen);
  const Closedness& closed = plan.closedness();
  TESSERA_REQUIRE(PlanError, closed.non_negative.answer != Answer::no, "{}: {}",
                  describe(operator_of(plan)), closed.non_negative.reason);
  TESSERA_REQUIRE(PlanError, closed.unique.answer != Answer::no, "{}: {}; keys must be unique",
                  describe(operator_of(plan)), closed.unique.reason);
}

[[noreturn]] void refuse_holes(const Plan& plan, const std::string& reason) {
  throw PlanError(fmt::format("{}: {}; rekey the result so that none is, or allow holes",
                              describe(operator_of(plan)), reason));
}

class Interpreter {
 public:
  const TupleSet<Tile>& operator()(const Plan& plan) {
    const auto found = results_.find(&plan.node());
    if (found != results_.end()) return found->second;
    const Operator& op = operator_of(plan);
    if (const auto* input = std::get_if<op::Input>(&op)) {
      TESSERA_REQUIRE(PlanError, input->relation.has_value(),
                      "{} has a type but no tuples: the plan can be explained, not run",
                      describe(op));
      return results_[&plan.node()] = {input->relation->type(), input->relation->tuples(),
                                       input->relation->absent_types()};
    }
    std::vector<const TupleSet<Tile>*> inputs;
    for (const Plan& source : inputs_of(op)) inputs.push_back(&(*this)(source));
    return results_[&plan.node()] = evaluate<Tile>(op, inputs, plan.type());
  }

 private:
  std::unordered_map<const Plan::Node*, TupleSet<Tile>> results_;  // references stay valid
};

}  // namespace

Relation Plan::run(Holes holes) const {
  std::unordered_map<const Plan::Node*, bool> seen;
  verify(*this, seen);
  if (holes == Holes::refused && type().presence == Presence::partial &&
      closedness().continuous.answer == Answer::no)
    refuse_holes(*this, closedness().continuous.reason);

  Interpreter interpret;
  const TupleSet<Tile>& result = interpret(*this);
  if (holes == Holes::refused && result.type.presence == Presence::partial)
    if (const auto hole = first_hole(result.tuples, result.type.frontier))
      refuse_holes(*this, fmt::format("key {} below the frontier {} is missing", to_string(*hole),
                                      to_string(result.type.frontier)));
  if (result.tuples.empty() || result.type.presence == Presence::sparse)
    return Relation::assemble(result.type, result.tuples, result.absent_types);
  std::vector<std::string> names;
  for (const Column& column : type().columns) names.push_back(column.name);
  return Relation::of(result.tuples, result.type.presence, result.type.frontier).rename(names);
}

}  // namespace tessera
