#include "query/lowering/lowering.h"

#include <algorithm>

#include "query/lowering/lower_operators.h"
#include "query/lowering/projection.h"

namespace tessera::query {
namespace {

/// Whether all that is left to do is to say which columns there are.
bool is_plain(const Projection& projection) {
  return projection.stages.size() == 1 &&
         std::none_of(projection.stages[0].begin(), projection.stages[0].end(),
                      [](const Apply& apply) { return apply.kernel.has_value(); });
}

struct Lower {
  const Node& node;
  const std::vector<Table>& inputs;
  Parameters parameters;

  Lowered operator()(const Scan&) const { return {inputs.at(0)}; }
  Lowered operator()(const ConstantRows&) const { return refused("they are constant rows"); }

  Lowered operator()(const Filter& op) const {
    const Table& in = inputs[0];
    const auto predicate = key_predicate(*op.condition, in.origins, parameters, in.plan.frontier());
    if (!predicate) return refused("the condition reads more than keys");
    return {Table{node.schema, in.origins, in.plan.filter(*predicate)}};
  }

  Lowered operator()(const Project& op) const {
    const Table& in = inputs[0];
    ProjectionMaker maker(in.origins, parameters, in.plan.frontier());
    if (!maker.admits(op.outputs)) return refused("an expression contains more than kernels");
    if (const auto why = extras_refused(in.plan, maker.extras())) return refused(*why);
    Projection projection = maker.make(payload_columns(in.plan));
    if (!maker.extras().empty() || !is_plain(projection))
      return {Table{node.schema, projection.origins,
                    projected(in.plan, maker.extras(), projection.stages)}};
    // Columns that are only chosen stay where they are.
    for (Table::ColumnOrigin& origin : projection.origins)
      if (auto* column = std::get_if<int>(&origin))
        *column = projection.stages[0][*column].columns[0];
    return {Table{node.schema, projection.origins, in.plan}};
  }

  Lowered operator()(const Join& op) const {
    return lower_join(op, node.schema, inputs[0], inputs[1], parameters);
  }
  Lowered operator()(const Aggregate& op) const {
    return lower_aggregate(op, node.schema, inputs[0], parameters);
  }

  Lowered operator()(const UnionAll&) const { return refused("it is a union"); }
  Lowered operator()(const Distinct&) const { return refused("it compares whole rows"); }
  Lowered operator()(const Sort&) const { return refused("it sorts rows"); }
  Lowered operator()(const Limit&) const { return refused("it counts rows"); }
  Lowered operator()(const OnlyRow&) const {
    const Plan::Cardinality rows = inputs[0].plan.cardinality();
    if (!rows.exact || rows.tuples != 1) return refused("it must count its rows");
    return {Table{node.schema, inputs[0].origins, inputs[0].plan}};
  }
};

}  // namespace

Lowered refused(std::string reason) { return {std::nullopt, std::move(reason)}; }

Lowered lower(const Node& node, const std::vector<Table>& inputs, Parameters parameters) {
  // What cannot be planned as a whole is still defined row by row.
  try {
    return std::visit(Lower{node, inputs, parameters}, node.op);
  } catch (const TypeError& error) {
    return refused(error.what());
  } catch (const PlanError& error) {
    return refused(error.what());
  }
}

}  // namespace tessera::query
