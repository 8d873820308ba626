#include "exec/new_keys.h"

#include "base/check.h"
#include "exec/task_graph.h"
#include "tra/tuple_set.h"

namespace tessera::exec {

NewKeys::NewKeys(const ia::Plan& plan)
    : plan_(plan), may_collide_(plan.logical().closedness().unique.answer != Answer::yes) {}

Key NewKeys::rename(const KeyFunction& function, const Key& from, int branch) {
  const Key to = function.evaluate(from);
  for (std::int64_t component : to)
    TESSERA_REQUIRE(PlanError, component >= 0 && component < max_key_component,
                    "{}: key {} becomes {}, which is not in the range 0 to 2^62",
                    describe_step(plan_), to_string(from), to_string(to));
  if (!may_collide_) return to;
  const Origin origin{from, branch};
  const auto [place, added] = seen_.emplace(to, origin);  // again: a copy at another site
  TESSERA_REQUIRE(PlanError, added || place->second == origin,
                  "{}: keys {} and {} both map to {}; keys must be unique", describe_step(plan_),
                  to_string(place->second.key), to_string(from), to_string(to));
  return to;
}

}  // namespace tessera::exec
