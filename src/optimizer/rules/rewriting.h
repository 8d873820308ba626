#pragma once

#include <string>
#include <vector>

#include "optimizer/rules/rule.h"
#include "tessera/error.h"

// What the rules have in common: looking at the root of a plan, and building another one that
// computes the same.

namespace tessera::optimizer {

/// The operator at the root, if it is of this kind.
template <class Op>
const Op* root(const ia::Plan& plan) {
  return std::get_if<Op>(&ia::operator_of(plan));
}

/// A plan with this operator at its root. PlanError if the operator must see zeros that a sparse
/// input leaves out.
ia::Plan built(ia::Operator op);

/// What a law makes of a plan: `after`, which computes what `before` does and says so. Or no, if
/// its type differs, as it does where other zeros are left out, or what is still to be folded.
Rewrite confirmed(const ia::Plan& before, const ia::Plan& after);

/// What `build` makes; that it is refused, or that its type differs, is why the rule does not
/// apply.
template <class Build>
Rewrite rewritten(const ia::Plan& before, Build&& build) {
  try {
    return confirmed(before, build());
  } catch (const PlanError& error) {
    return Rewrite::no(error.what());
  } catch (const TypeError& error) {
    return Rewrite::no(error.what());
  } catch (const ValueError& error) {
    return Rewrite::no(error.what());
  }
}

ia::Plan moved_as(const ia::Plan& move, ia::Plan what);  // by the move at the root of `move`

/// The branch of a map that makes one tuple of each and cuts nothing; null if it does not.
const ia::Branch* only_branch(const ia::Map& map);
/// Whether each tuple stays one tuple under its key.
bool keeps_keys(const ia::Map& map);

/// One pipeline after the other.
ia::Pipeline chained(ia::Pipeline first, const ia::Pipeline& then);

}  // namespace tessera::optimizer
