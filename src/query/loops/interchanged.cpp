#include "query/loops/interchanged.h"

#include <algorithm>

namespace tessera::query {
namespace {

/// The loop with another body.
sql::StepPtr around_steps(const sql::Step& loop, sql::Steps body) {
  sql::ForLoop made = std::get<sql::ForLoop>(loop.node);
  made.body = std::move(body);
  return std::make_shared<const sql::Step>(sql::Step{std::move(made), loop.location});
}

}  // namespace

sql::Steps interchanged(const sql::Step& loop) {
  const auto& own = std::get<sql::ForLoop>(loop.node);
  std::set<std::string> changing = {own.variable};
  sql::Steps made, definitions;
  bool any = false;
  for (const sql::StepPtr& step : own.body) {
    if (const auto* definition = std::get_if<sql::Definition>(&step->node)) {
      changing.insert(definition->name);
      definitions.push_back(step);
      continue;
    }
    sql::Steps body = definitions;
    const auto* inside = std::get_if<sql::ForLoop>(&step->node);
    std::set<std::string> range;
    for (const sql::ExpressionPtr& part : expressions_of(*step)) add_names(*part, range);
    const bool moves =
        inside != nullptr && std::none_of(range.begin(), range.end(), [&](const std::string& name) {
          return changing.contains(name);
        });
    if (moves)
      body.insert(body.end(), inside->body.begin(), inside->body.end());
    else
      body.push_back(step);
    sql::StepPtr distributed = around_steps(loop, std::move(body));
    made.push_back(moves ? around_steps(*step, {distributed}) : distributed);
    any = any || moves;
  }
  return any ? made : sql::Steps{};
}

}  // namespace tessera::query
