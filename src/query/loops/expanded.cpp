#include "query/loops/expanded.h"

#include <algorithm>

namespace tessera::query {
namespace {

/// How often a name occurs in steps, those inside included.
int occurrences(const sql::Expression& expression, const std::string& name);

int occurrences(const sql::Steps& steps, const std::string& name) {
  int count = 0;
  for (const sql::StepPtr& step : steps) {
    for (const sql::ExpressionPtr& part : expressions_of(*step)) count += occurrences(*part, name);
    const auto* assignment = std::get_if<sql::Assignment>(&step->node);
    if (assignment != nullptr && assignment->name == name) ++count;
    for (const sql::Steps* block : blocks_of(*step)) count += occurrences(*block, name);
  }
  return count;
}

int occurrences(const sql::Expression& expression, const std::string& name) {
  std::set<std::string> names;
  add_names(expression, names);
  return names.contains(name) ? 1 : 0;
}

/// The loops, from this one inwards, whose bodies make the number before they look at it.
void add_makers(const sql::Step& loop, const std::string& name, std::vector<const sql::Step*> path,
                std::vector<std::vector<const sql::Step*>>& into) {
  path.push_back(&loop);
  const auto& body = std::get<sql::ForLoop>(loop.node).body;
  for (const sql::StepPtr& step : body) {
    const auto* assignment = std::get_if<sql::Assignment>(&step->node);
    if (assignment != nullptr && assignment->name == name) {
      if (assignment->update.empty() && occurrences(*assignment->value, name) == 0)
        into.push_back(path);
      return;
    }
    if (occurrences(sql::Steps{step}, name) == 0) continue;
    if (std::holds_alternative<sql::ForLoop>(step->node))
      add_makers(*step, name, path, into);
    else
      return;
  }
}

/// A step with other names in place of a number.
class Renaming {
 public:
  Renaming(std::string name, std::string array, const std::vector<sql::ExpressionPtr>& indices)
      : name_(std::move(name)), array_(std::move(array)), indices_(indices) {}

  sql::Steps of(const sql::Steps& steps) const {
    sql::Steps made;
    for (const sql::StepPtr& step : steps) made.push_back(of(*step));
    return made;
  }

 private:
  sql::StepPtr of(const sql::Step& step) const {
    sql::Step made = step;
    if (auto* assignment = std::get_if<sql::Assignment>(&made.node)) {
      if (assignment->name == name_) {
        assignment->name = array_;
        assignment->indices = indices_;
      }
    } else if (auto* loop = std::get_if<sql::ForLoop>(&made.node)) {
      loop->body = of(loop->body);
    } else if (auto* branch = std::get_if<sql::Branch>(&made.node)) {
      branch->yes = of(branch->yes);
      branch->no = of(branch->no);
    }
    return std::make_shared<const sql::Step>(std::move(made));
  }

  std::string name_, array_;
  const std::vector<sql::ExpressionPtr>& indices_;
};

sql::ExpressionPtr made(decltype(sql::Expression::node) node, lang::Location location) {
  return std::make_shared<const sql::Expression>(sql::Expression{std::move(node), location});
}

/// The loop with the number as an array, if it can be one; `maker`: the innermost loop of a path.
class Expansion {
 public:
  Expansion(std::string name, const IndexFunctions& functions)
      : name_(std::move(name)), array_("each " + name_), functions_(functions) {}

  /// Of the loop and those inside down to the one that makes the number.
  sql::StepPtr of(const sql::Step& step, const Chain& around,
                  const std::vector<std::vector<const sql::Step*>>& makers,
                  std::vector<sql::ExpressionPtr> indices, Shape shape) {
    const auto& loop = std::get<sql::ForLoop>(step.node);
    const auto index = made(sql::Name{{}, loop.variable}, step.location);
    Chain chain = with(around, {&loop});
    const auto range = functions_.range(*index, chain);
    if (!range) return nullptr;
    const std::int64_t low = std::min<std::int64_t>(0, range->low);
    indices.push_back(low == 0 ? index
                               : made(sql::Binary{sql::BinaryOperator::subtract, index,
                                                  made(sql::Literal{low}, step.location)},
                                      step.location));
    shape.push_back(range->high - low + 1);
    sql::ForLoop changed = loop;
    const bool makes = std::any_of(makers.begin(), makers.end(),
                                   [&](const auto& path) { return path.back() == &step; });
    if (makes) {
      shape_ = shape_ ? larger(*shape_, shape) : shape;
      changed.body = Renaming(name_, array_, indices).of(loop.body);
      const auto element = made(sql::Versioned{array_, indices}, step.location);
      changed.body.insert(changed.body.begin(),
                          std::make_shared<const sql::Step>(
                              sql::Step{sql::Definition{name_, element}, step.location}));
    } else {
      for (sql::StepPtr& inside : changed.body) {
        if (const auto* definition = std::get_if<sql::Definition>(&inside->node))
          chain.push_back({definition});
        const bool leads = std::any_of(makers.begin(), makers.end(), [&](const auto& path) {
          return std::find(path.begin(), path.end(), inside.get()) != path.end();
        });
        if (leads) inside = of(*inside, chain, makers, indices, shape);
        if (inside == nullptr) return nullptr;
      }
    }
    return std::make_shared<const sql::Step>(sql::Step{std::move(changed), step.location});
  }

  const std::string& array() const { return array_; }
  const std::optional<Shape>& shape() const { return shape_; }

 private:
  static std::optional<Shape> larger(const Shape& a, const Shape& b) {
    if (a.rank() != b.rank()) return std::nullopt;
    Shape most = a;
    for (int d = 0; d < a.rank(); ++d) most[d] = std::max(a[d], b[d]);
    return most;
  }

  std::string name_, array_;
  const IndexFunctions& functions_;
  std::optional<Shape> shape_;
};

}  // namespace

std::optional<Expanded> expanded(const sql::Step& loop, const Chain& around,
                                 const std::set<std::string>& numbers, const sql::Program& program,
                                 const IndexFunctions& functions) {
  Expanded made;
  sql::StepPtr current = std::make_shared<const sql::Step>(loop);
  for (const std::string& name : numbers) {
    std::vector<std::vector<const sql::Step*>> makers;
    add_makers(*current, name, {}, makers);
    // All that has to do with it is inside of the loops that make it, at the same depth.
    int inside = 0;
    bool same_depth = true;
    for (const auto& path : makers) {
      inside += occurrences(std::get<sql::ForLoop>(path.back()->node).body, name);
      same_depth = same_depth && path.size() == makers.front().size();
    }
    if (makers.empty() || !same_depth || inside != occurrences(program.steps, name)) continue;
    Expansion expansion(name, functions);
    const sql::StepPtr changed = expansion.of(*current, around, makers, {}, {});
    if (changed == nullptr || !expansion.shape()) continue;
    made.arrays.emplace(expansion.array(), *expansion.shape());
    current = changed;
  }
  if (made.arrays.empty()) return std::nullopt;
  made.loop = current;
  return made;
}

}  // namespace tessera::query
