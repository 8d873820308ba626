#pragma once

#include <string>
#include <vector>

#include "optimizer/rules/rule.h"
#include "support/law_trials.h"

namespace tessera {

/// A physical plan that is derived from the one of table 1, rule by rule. Each step says which
/// result of the logical plan it is about, and throws if the rule does not apply there.
class Derivation {
 public:
  Derivation(const std::vector<Plan>& results, const ia::PlaceInput& placed);

  /// Applies a rule to the operator whose result is `what`.
  Derivation& at(const Plan& what, const optimizer::Rule& rule);
  Derivation& at(const Plan& what, const std::string& rule) { return at(what, rule_named(rule)); }
  /// Applies a rule to the input of that operator.
  Derivation& below(const Plan& what, const std::string& rule);
  /// Brings the groups of an aggregation or a concatenation together there.
  Derivation& gathered(const Plan& what, const Placement& to);
  /// Moves that are made twice are made once, and those that move nothing are left out.
  std::vector<ia::Plan> plans() const;

 private:
  ia::Plan node(const Plan& what) const;
  Derivation& apply(const ia::Plan& node, const optimizer::Rule& rule);

  std::vector<ia::Plan> plans_;
};

/// "BCAST: Input A", for each move of some plans, inputs first.
std::vector<std::string> moves_of(const std::vector<ia::Plan>& plans);

}  // namespace tessera
