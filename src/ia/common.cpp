#include "ia/common.h"

#include <fmt/format.h>

#include "tra/plan_node.h"

namespace tessera::ia {
namespace {

std::string text(const std::vector<Apply>& projection) {
  std::string result;
  for (const Apply& apply : projection)
    result +=
        fmt::format("{}@{}({})[{}];", apply.to_string(),
                    static_cast<const void*>(apply.kernel ? &apply.kernel->kernel() : nullptr),
                    fmt::join(apply.columns, ","), fmt::join(apply.names, ","));
  return result;
}

/// What an operator does, beside its inputs; empty if that cannot be told.
struct Signature {
  std::string operator()(const op::Input& input) const {
    if (input.listing) return fmt::format("stored {}", static_cast<const void*>(&*input.listing));
    if (!input.relation) return {};
    std::string names;
    for (const Column& column : input.type.columns) names += column.name + ",";
    return fmt::format("input {} {} {}", static_cast<const void*>(input.relation->tuples().data()),
                       input.relation->size(), names + to_string(input.type));
  }
  std::string operator()(const op::Aggregate& aggregate) const {
    std::string kernels;
    for (const KernelCall& kernel : aggregate.kernels) kernels += kernel.to_string() + ";";
    return fmt::format("aggregate {} {}", fmt::join(aggregate.group_by, ","), kernels);
  }
  std::string operator()(const op::Join& join) const {
    return fmt::format("join {} {} {}", fmt::join(join.left_keys, ","),
                       fmt::join(join.right_keys, ","), text(join.projection));
  }
  std::string operator()(const op::ReKey& rekey) const {
    return rekey.function.is_opaque() ? "" : "rekey " + rekey.function.to_string();
  }
  std::string operator()(const op::Filter& filter) const {
    return filter.predicate.is_opaque() ? "" : "filter " + filter.predicate.to_string();
  }
  std::string operator()(const op::Transform& transform) const {
    return "transform " + text(transform.projection);
  }
  std::string operator()(const op::Tile& tile) const {
    return fmt::format("tile {} {}", tile.dimension, tile.size);
  }
  std::string operator()(const op::Concat& concat) const {
    return fmt::format("concat {} {}", concat.key_component, concat.dimension);
  }
};

}  // namespace

const tessera::Plan& CommonNodes::canonical(const tessera::Plan& plan) {
  const auto known = found_.find(&plan.node());
  if (known != found_.end()) return known->second;
  const tessera::Operator& op = tessera::operator_of(plan);
  std::string signature = std::visit(Signature{}, op);
  // Relations that are empty share no storage that could tell them apart.
  if (std::holds_alternative<op::Input>(op) && plan.cardinality().tuples == 0) signature.clear();
  if (signature.empty()) return found_.emplace(&plan.node(), plan).first->second;
  for (const tessera::Plan& input : tessera::inputs_of(op))
    signature += fmt::format(" {}", static_cast<const void*>(&canonical(input).node()));
  const tessera::Plan& first = by_signature_.emplace(signature, plan).first->second;
  return found_.emplace(&plan.node(), first).first->second;
}

}  // namespace tessera::ia
