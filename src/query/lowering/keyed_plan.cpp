#include "query/lowering/keyed_plan.h"

namespace tessera::query {
namespace {

/// All components of a key, and then others.
KeyFunction key_and(int arity, const std::vector<KeyExpr>& others) {
  std::vector<KeyExpr> components;
  for (int d = 0; d < arity; ++d) components.push_back(key(d));
  components.insert(components.end(), others.begin(), others.end());
  return KeyFunction(std::move(components));
}

}  // namespace

std::optional<int> component_of(const KeyExpr& expression, int arity) {
  for (int d = 0; d < arity; ++d)
    if (equal(expression, key(d))) return d;
  return std::nullopt;
}

std::optional<KeyedPlan> with_components(const Plan& plan, const std::vector<KeyExpr>& expressions,
                                         bool leave_out_negative) {
  KeyedPlan result{plan, {}, 0};
  const int arity = plan.type().arity();
  std::vector<KeyExpr> others;
  KeyPredicate not_negative = KeyPredicate::always();
  for (const KeyExpr& expression : expressions) {
    const auto component = component_of(expression, arity);
    result.components.push_back(component ? *component : arity + static_cast<int>(others.size()));
    if (component) continue;
    others.push_back(expression);
    not_negative = not_negative && expression >= 0;
  }
  result.added = static_cast<int>(others.size());
  if (result.added == 0) return result;
  const auto is_fit = [](const Plan& rekeyed) {
    return rekeyed.closedness().non_negative.answer == Answer::yes;
  };
  result.plan = plan.rekey(key_and(arity, others));
  if (is_fit(result.plan)) return result;
  result.plan = plan.filter(not_negative).rekey(key_and(arity, others));
  if (leave_out_negative && is_fit(result.plan)) return result;
  return std::nullopt;
}

}  // namespace tessera::query
