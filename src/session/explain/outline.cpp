#include "session/explain/outline.h"

#include <algorithm>

#include "query/lowering/lowering.h"
#include "tra/plan_node.h"

namespace tessera::session {
namespace {

using query::Table;
using query::Value;

/// Finds the plan of each operator, inputs first, and notes which have none.
class Lowering {
 public:
  Lowering(Outline& outline, Catalogue& catalogue, query::Dictionary& dictionary)
      : outline_(outline), plan_(*outline.unrolled), dictionary_(dictionary) {
    for (const std::string& name : plan_.stored) {
      Value value = catalogue.value(name);
      stored_.push_back(value.table ? *value.table : query::table_of(*value.rows, dictionary));
    }
  }

  void run() {
    for (std::int64_t op = 0; op < plan_.operators(); ++op) tables_.push_back(lowered(op));
    Part results{outline_.parts.empty() ? "" : "the result", {}};
    for (int wanted : plan_.wanted)
      if (const auto& table = tables_[query::result_of(plan_, wanted)])
        results.plans.push_back(table->plan);
    if (!results.plans.empty()) outline_.parts.push_back(std::move(results));
  }

 private:
  std::optional<Table> lowered(std::int64_t op) {
    const auto [which, instance, node] = query::operator_of(plan_, op);
    std::vector<Table> inputs;
    for (const query::Read& read : query::reads_of(plan_, op)) {
      const auto& input = read.op >= 0 ? tables_[read.op] : stored_[read.stored];
      if (input) inputs.push_back(*input);
    }
    const std::vector<query::NodePtr> below = query::inputs_of(*node);
    if (inputs.size() < below.size()) {
      look_at_rows(op, "its input is known when it runs", inputs);
      return std::nullopt;
    }
    for (std::size_t i = 0; i < inputs.size(); ++i) inputs[i].schema = below[i]->schema;
    try {
      if (std::holds_alternative<query::ConstantRows>(node->op))
        return query::table_of(query::evaluate(*node, {}, instance.parameters), dictionary_);
      query::Lowered result = query::lower(*node, inputs, instance.parameters);
      if (result.table) return std::move(result.table);
      look_at_rows(op, result.reason, inputs);
    } catch (const TypeError& error) {  // NULL has no place in a plan
      look_at_rows(op, error.what(), inputs);
    }
    return std::nullopt;
  }

  /// Plans of its inputs are run for an operator that looks at their rows, each once.
  void look_at_rows(std::int64_t op, const std::string& why, const std::vector<Table>& inputs) {
    outline_.by_rows[op] = why;
    for (const Table& input : inputs) {
      const bool known =
          std::any_of(outline_.parts.begin(), outline_.parts.end(),
                      [&](const Part& part) { return part.plans.front().is_same(input.plan); });
      if (!known && !query::is_at_hand(input.plan))
        outline_.parts.push_back({"the rows of " + describe(plan_, op), {input.plan}});
    }
  }

  Outline& outline_;
  const query::Unrolled& plan_;
  query::Dictionary& dictionary_;
  std::vector<std::optional<Table>> stored_, tables_;
};

}  // namespace

std::string describe(const query::Unrolled& plan, std::int64_t op) {
  return query::describe(*query::operator_of(plan, op).node);
}

std::int64_t results_for_later(const query::Framing& framing, std::size_t frame) {
  return std::count_if(
      framing.frames[frame].begin(), framing.frames[frame].end(),
      [&](std::int32_t op) { return std::cmp_greater(framing.last_reader[op], frame); });
}

bool has_data(const Plan& plan) {
  const std::vector<Plan> all = in_order(plan);
  return std::all_of(all.begin(), all.end(), [](const Plan& node) {
    return !std::holds_alternative<op::Input>(operator_of(node)) || query::is_at_hand(node);
  });
}

Outline outline_of(const std::vector<query::Request>& requests, Catalogue& catalogue,
                   query::Dictionary& dictionary, const Circumstances& under) {
  Outline result;
  result.unrolled = query::unroll(requests, catalogue, under.stop);
  result.framing = query::framed(*result.unrolled, under.history, under.limits);
  if (result.in_frames()) return result;
  if (under.by_rows) {
    for (std::int64_t op = 0; op < result.unrolled->operators(); ++op)
      result.by_rows[op] = "by_rows is on";
    return result;
  }
  Lowering(result, catalogue, dictionary).run();
  return result;
}

Outline outline_of(const sql::CreateTensor& statement, const Snapshot& snapshot,
                   Catalogue& catalogue, int tile_size, int sites, lang::Place place) {
  Outline result;
  result.tensor = planned(statement, snapshot, catalogue, tile_size, place);
  result.parts.push_back({"", {result.tensor->tensor.plan}});
  result.placed = [&catalogue, sites](const Plan& input) -> std::optional<Placement> {
    if (query::is_at_hand(input)) return ia::dealt_out(sites)(input);  // as a run has it
    const auto* named = std::get_if<op::Input>(&operator_of(input));
    const auto tensor = named == nullptr ? std::nullopt : catalogue.virtual_tensor(named->name);
    if (!tensor || tensor->partition_by.empty()) return std::nullopt;
    return Placement::part(tensor->partition_by, input.frontier(), sites);
  };
  return result;
}

}  // namespace tessera::session
