#include <fmt/format.h>

#include "ia/plan_node.h"

// A join whose products only an aggregation reads is put together with it. This is decided here and
// nowhere else, last of all, when it is known where each operator works.

namespace tessera::ia {

bool JoinAggregate::adds_in_place(const TileType& product) const {
  return sums_single_tiles() && !product.is_sparse();
}

bool JoinAggregate::sums_single_tiles() const {
  const Pipeline& projection = join().projection;
  return aggregate.kernels.size() == 1 && aggregate.kernels.front().properties().addition &&
         projection.size() == 1 && projection.front().size() == 1 &&
         projection.front().front().kernel.has_value();
}

namespace {

/// What stands between an aggregation and a join to be fused with; empty: nothing.
std::string unfused_because(const Aggregate& aggregate, const ReaderCounts& readers) {
  const Plan& input = aggregate.input;
  if (!std::holds_alternative<Join>(operator_of(input))) {
    const std::string whole = describe(input);
    return fmt::format("the aggregation reads the result of {}, not of a join",
                       std::string_view(whole).substr(0, whole.find(' ')));
  }
  return readers.at(&input.node()) == 1 ? "" : "another operator reads the products of the join";
}

}  // namespace

std::vector<Plan> fused(const std::vector<Plan>& plans, std::map<std::string, int>* refusals) {
  const ReaderCounts readers = count_readers(plans);
  std::unordered_map<const Plan::Node*, Plan> done;
  for (const Plan& node : in_order(plans)) {
    const Operator& op = operator_of(node);
    std::vector<Plan> inputs;
    bool same = true;
    for (const Plan& input : inputs_of(op)) {
      inputs.push_back(done.at(&input.node()));
      same = same && inputs.back().is_same(input);
    }
    const auto* aggregate = std::get_if<Aggregate>(&op);
    const std::string why = aggregate != nullptr ? unfused_because(*aggregate, readers) : "";
    if (!why.empty() && refusals != nullptr) ++(*refusals)[why];
    if (aggregate != nullptr && why.empty()) {
      Aggregate folds = *aggregate;
      folds.input = inputs.front();
      done.emplace(&node.node(), make(JoinAggregate{std::move(folds)}, node.logical()));
    } else {
      done.emplace(&node.node(), same ? node : make(with_inputs(op, inputs), node.logical()));
    }
  }
  std::vector<Plan> result;
  for (const Plan& plan : plans) result.push_back(done.at(&plan.node()));
  return result;
}

Plan fused(const Plan& plan) { return fused(std::vector<Plan>{plan}).front(); }

}  // namespace tessera::ia
