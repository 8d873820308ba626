#include <unordered_map>

#include "base/check.h"
#include "base/deep_trees.h"
#include "tra/evaluate.h"
#include "tra/plan_node.h"

// The reference interpreter: single-threaded, each operator by its definition, each shared node
// once. Everything faster is tested against it.

namespace tessera {
namespace {

/// Refuses, before any kernel runs, what is known to break an integrity constraint.
void verify(const Plan& plan) {
  const Closedness& closed = plan.closedness();
  TESSERA_REQUIRE(PlanError, closed.non_negative.answer != Answer::no, "{}: {}",
                  describe(operator_of(plan)), closed.non_negative.reason);
  TESSERA_REQUIRE(PlanError, closed.unique.answer != Answer::no, "{}: {}; keys must be unique",
                  describe(operator_of(plan)), closed.unique.reason);
}

[[noreturn]] void refuse_holes(const Plan& plan, const std::string& reason) {
  throw PlanError(fmt::format("{}: {}; rekey the result so that no key is missing, or allow holes",
                              describe(operator_of(plan)), reason));
}

using Results = std::unordered_map<const Plan::Node*, TupleSet<Tile>>;

TupleSet<Tile> result_of(const Plan& plan, const Results& results) {
  const Operator& op = operator_of(plan);
  if (const auto* input = std::get_if<op::Input>(&op)) {
    if (input->source) return tuples_from(*input);
    TESSERA_REQUIRE(PlanError, input->relation.has_value(),
                    "{} has a type but no tuples: the plan can be explained, but not run",
                    describe(op));
    return {input->relation->type(), input->relation->tuples(), input->relation->absent_types()};
  }
  std::vector<const TupleSet<Tile>*> inputs;
  for (const Plan& source : inputs_of(op)) inputs.push_back(&results.at(&source.node()));
  return evaluate<Tile>(op, inputs, plan.type());
}

}  // namespace

void verify_before_running(const std::vector<Plan>& plans, Holes holes) {
  for (const Plan& node : in_order(plans)) verify(node);
  for (const Plan& plan : plans)
    if (holes == Holes::refused && plan.type().presence == Presence::partial &&
        plan.closedness().continuous.answer == Answer::no)
      refuse_holes(plan, plan.closedness().continuous.reason);
}

namespace {

/// What the keys at hand say of a result: its frontier, and whether it has holes.
template <class Payload>
RelationType settled_type(const Plan& plan, const std::vector<BasicTuple<Payload>>& tuples,
                          Holes holes) {
  RelationType type = plan.type();
  if (type.presence == Presence::sparse) return type;
  if (tuples.empty()) {
    type.frontier = Key(type.frontier.size(), 0);
    type.presence = Presence::continuous;
  } else if (type.presence == Presence::partial) {
    type.frontier = frontier_of(tuples, type.arity());
    const auto hole = first_hole(tuples, type.frontier);
    if (!hole) type.presence = Presence::continuous;
    if (hole && holes == Holes::refused)
      refuse_holes(plan, fmt::format("key {} below the frontier {} is missing", to_string(*hole),
                                     to_string(type.frontier)));
  }
  return type;
}

}  // namespace

Relation settle(const Plan& plan, std::vector<Tuple> tuples, Holes holes) {
  const RelationType type = settled_type(plan, tuples, holes);
  if (type.presence == Presence::sparse)
    return Relation::assemble(type, std::move(tuples), listed_without_limit(plan)->absent_types);
  if (tuples.empty()) return Relation::assemble(type, {}, {});
  std::vector<std::string> names;
  for (const Column& column : type.columns) names.push_back(column.name);
  return Relation::of(std::move(tuples), type.presence, type.frontier).rename(names);
}

TupleSet<TileType> settle(const Plan& plan, std::vector<BasicTuple<TileType>> tuples, Holes holes) {
  TupleSet<TileType> result{settled_type(plan, tuples, holes), std::move(tuples), {}};
  if (result.type.presence == Presence::sparse) {
    result.absent_types = listed_without_limit(plan)->absent_types;
  } else if (!result.tuples.empty()) {
    std::vector<Column> columns = columns_of(result.tuples);
    for (std::size_t c = 0; c < columns.size(); ++c) columns[c].name = result.type.columns[c].name;
    result.type.columns = std::move(columns);
  }
  return result;
}

Relation Plan::interpret(Holes holes) const {
  verify_before_running(std::vector<Plan>{*this}, holes);
  // Each result is dropped once its last reader has run.
  auto readers = count_readers(std::vector<Plan>{*this},
                               [](const Plan& plan) { return inputs_of(operator_of(plan)); });
  Results results;
  for (const Plan& plan : in_order(*this)) {
    results[&plan.node()] = result_of(plan, results);
    for (const Plan& input : inputs_of(operator_of(plan)))
      if (--readers[&input.node()] == 0) results.erase(&input.node());
  }
  TupleSet<Tile>& result = results.at(node_.get());
  if (result.type.presence == Presence::sparse)
    return Relation::assemble(result.type, std::move(result.tuples), result.absent_types);
  return settle(*this, std::move(result.tuples), holes);
}

}  // namespace tessera
