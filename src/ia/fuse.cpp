#include "ia/plan_node.h"

// A join whose products only an aggregation reads is put together with it. This is decided here and
// nowhere else, last of all, when it is known where each operator works.

namespace tessera::ia {

bool JoinAggregate::adds_in_place(const TileType& product) const {
  return sums_single_tiles() && !product.is_sparse();
}

bool JoinAggregate::sums_single_tiles() const {
  const Pipeline& projection = join().projection;
  return aggregate.kernels.size() == 1 &&
         aggregate.kernels.front().properties().addition && projection.size() == 1 &&
         projection.front().size() == 1 && projection.front().front().kernel.has_value();
}

std::vector<Plan> fused(const std::vector<Plan>& plans) {
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
    const Join* join =
        aggregate != nullptr ? std::get_if<Join>(&operator_of(aggregate->input)) : nullptr;
    if (join != nullptr && readers.at(&aggregate->input.node()) == 1) {
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
