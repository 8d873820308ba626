#include "query/loops/chain.h"

#include "lang/location.h"
#include "query/binding/bind_aggregate.h"
#include "query/rows/schema.h"

namespace tessera::query {
namespace {

std::optional<Arithmetic> arithmetic_of(sql::BinaryOperator op) {
  using enum sql::BinaryOperator;
  switch (op) {
    case add: return Arithmetic::add;
    case subtract: return Arithmetic::subtract;
    case multiply: return Arithmetic::multiply;
    case integer_divide: return Arithmetic::divide;
    case remainder: return Arithmetic::modulo;
    default: return std::nullopt;
  }
}

std::optional<Comparison> comparison_of(sql::BinaryOperator op) {
  using enum sql::BinaryOperator;
  switch (op) {
    case equal: return Comparison::equal;
    case not_equal: return Comparison::not_equal;
    case less: return Comparison::less;
    case less_equal: return Comparison::less_equal;
    case greater: return Comparison::greater;
    case greater_equal: return Comparison::greater_equal;
    default: return std::nullopt;
  }
}

}  // namespace

int loops_in(const Chain& chain) {
  int count = 0;
  for (const Around& around : chain)
    if (std::holds_alternative<const sql::ForLoop*>(around.node)) ++count;
  return count;
}

Chain before_loop(const Chain& chain, int number) {
  Chain before;
  for (const Around& around : chain) {
    if (std::holds_alternative<const sql::ForLoop*>(around.node) && number-- == 0) break;
    before.push_back(around);
  }
  return before;
}

Chain with(Chain chain, Around around) {
  chain.push_back(std::move(around));
  return chain;
}

std::optional<KeyExpr> IndexFunctions::named(const std::string& name, const Chain& chain) const {
  for (std::size_t i = chain.size(); i-- > 0;) {
    if (const auto* fixed = std::get_if<Around::Fixed>(&chain[i].node)) {
      if (fixed->name == name) return KeyExpr(fixed->value);
      continue;
    }
    const Chain before(chain.begin(), chain.begin() + static_cast<std::ptrdiff_t>(i));
    if (const auto* defined = std::get_if<const sql::Definition*>(&chain[i].node)) {
      if ((*defined)->name == name) return of(*(*defined)->value, before);
    } else if (const auto* loop = std::get_if<const sql::ForLoop*>(&chain[i].node)) {
      if ((*loop)->variable != name) continue;
      const KeyExpr component = key(loops_in(before));
      if (!(*loop)->by) return component;
      const auto from = of(*(*loop)->from, before);
      if (!from) return std::nullopt;
      return *from + component * KeyExpr(step_of(**loop, before));
    }
  }
  return std::nullopt;
}

std::optional<KeyExpr> IndexFunctions::of(const sql::Expression& written,
                                          const Chain& chain) const {
  if (const auto* literal = std::get_if<sql::Literal>(&written.node)) {
    const auto* whole = std::get_if<std::int64_t>(&literal->value);
    return whole == nullptr ? std::nullopt : std::optional(KeyExpr(*whole));
  }
  if (const auto* name = std::get_if<sql::Name>(&written.node))
    return name->table.empty() ? named(name->column, chain) : std::nullopt;
  if (const auto* unary = std::get_if<sql::Unary>(&written.node)) {
    const auto operand = of(*unary->operand, chain);
    if (!operand || unary->op != sql::UnaryOperator::minus) return std::nullopt;
    return KeyExpr(0) - *operand;
  }
  if (const auto* binary = std::get_if<sql::Binary>(&written.node)) {
    const auto op = arithmetic_of(binary->op);
    const auto left = of(*binary->left, chain), right = of(*binary->right, chain);
    if (!op || !left || !right) return std::nullopt;
    return make_operation(*op, *left, *right);
  }
  const auto* call = std::get_if<sql::Call>(&written.node);
  if (call == nullptr || !same_name(call->name, "size") || call->arguments.size() != 2)
    return std::nullopt;
  const auto* array = std::get_if<sql::Name>(&call->arguments[0]->node);
  const auto dimension = constant(*call->arguments[1], chain);
  const auto shape =
      array != nullptr && array->table.empty() ? shape_(array->column) : std::nullopt;
  if (!shape || !dimension || *dimension < 0 || *dimension >= shape->rank()) return std::nullopt;
  return KeyExpr((*shape)[static_cast<int>(*dimension)]);
}

std::optional<KeyPredicate> IndexFunctions::condition(const sql::Expression& written,
                                                      const Chain& chain) const {
  if (const auto* unary = std::get_if<sql::Unary>(&written.node)) {
    const auto operand = condition(*unary->operand, chain);
    if (!operand || unary->op != sql::UnaryOperator::logical_not) return std::nullopt;
    return !*operand;
  }
  const auto* binary = std::get_if<sql::Binary>(&written.node);
  if (binary == nullptr) return std::nullopt;
  const bool both = binary->op == sql::BinaryOperator::logical_and;
  if (both || binary->op == sql::BinaryOperator::logical_or) {
    const auto left = condition(*binary->left, chain), right = condition(*binary->right, chain);
    if (!left || !right) return std::nullopt;
    return both ? *left && *right : *left || *right;
  }
  const auto op = comparison_of(binary->op);
  if (!op) return std::nullopt;
  const auto left = of(*binary->left, chain), right = of(*binary->right, chain);
  if (!left || !right) return std::nullopt;
  return make_relation(*op, *left, *right);
}

std::optional<std::int64_t> IndexFunctions::constant(const sql::Expression& written,
                                                     const Chain& chain) const {
  const auto found = range(written, chain);
  return found && found->low == found->high ? std::optional(found->low) : std::nullopt;
}

std::int64_t IndexFunctions::step_of(const sql::ForLoop& loop, const Chain& around) const {
  if (!loop.by) return 1;
  const auto step = constant(*loop.by, around);
  if (!step || *step == 0)
    lang::fail_type(loop.by->location, "the step of a loop must be a constant other than 0");
  return *step;
}

std::vector<KeyPredicate> IndexFunctions::holding(const Chain& chain) const {
  std::vector<KeyPredicate> known;
  Chain before;
  for (const Around& around : chain) {
    if (const auto* loop = std::get_if<const sql::ForLoop*>(&around.node)) {
      const auto from = of(*(*loop)->from, before), to = of(*(*loop)->to, before);
      const KeyExpr own = key(loops_in(before));
      if (!(*loop)->by) {
        if (from) known.push_back(own >= *from);
        if (to) known.push_back(own <= *to);
      } else {
        const std::int64_t step = step_of(**loop, before);
        known.push_back(own >= KeyExpr(0));
        if (from && to) {
          const KeyExpr index = *from + own * KeyExpr(step);
          known.push_back(step > 0 ? index <= *to : index >= *to);
        }
      }
    } else if (const auto* asked = std::get_if<Around::Asked>(&around.node)) {
      if (const auto holds = condition(*asked->condition, before))
        known.push_back(asked->negated ? !*holds : *holds);
    }
    before.push_back(around);
  }
  return known;
}

std::optional<Bounds> IndexFunctions::bounds(const Chain& chain) const {
  Bounds found;
  Chain before;
  for (const Around& around : chain) {
    if (const auto* loop = std::get_if<const sql::ForLoop*>(&around.node)) {
      const auto from = of(*(*loop)->from, before), to = of(*(*loop)->to, before);
      if (!from || !to) return std::nullopt;
      Ranges ranges(found);
      const auto low = ranges(*from), high = ranges(*to);
      if (!low || !high) return std::nullopt;
      if (!(*loop)->by) {
        found.push_back({low->low, std::max(low->low, high->high)});
      } else {
        const std::int64_t step = step_of(**loop, before);
        const auto length = ranges(*to - *from);
        if (!length) return std::nullopt;
        const std::int64_t most =
            step > 0 ? floor_div(length->high, step) : floor_div(length->low, step);
        found.push_back({0, std::max<std::int64_t>(0, most)});
      }
    }
    before.push_back(around);
  }
  return found;
}

std::optional<Interval> IndexFunctions::range(const sql::Expression& written,
                                              const Chain& chain) const {
  const auto function = of(written, chain);
  if (!function) return std::nullopt;
  if (function->arity() == 0) return Ranges({})(*function);
  const auto around = bounds(chain);
  return around ? Ranges(*around)(*function) : std::nullopt;
}

void add_names(const sql::Expression& expression, std::set<std::string>& into) {
  if (const auto* name = std::get_if<sql::Name>(&expression.node))
    into.insert(name->table.empty() ? name->column : name->table);
  if (const auto* indexed = std::get_if<sql::Versioned>(&expression.node))
    into.insert(indexed->name);
  for (const sql::ExpressionPtr& part : parts_of(expression)) add_names(*part, into);
}

std::vector<sql::ExpressionPtr> expressions_of(const sql::Step& step) {
  struct Own {
    using List = std::vector<sql::ExpressionPtr>;
    List operator()(const sql::Variable& s) const {
      List all = s.extents;
      if (s.value) all.push_back(s.value);
      return all;
    }
    List operator()(const sql::Definition& s) const { return {s.value}; }
    List operator()(const sql::Assignment& s) const {
      List all = s.indices;
      all.push_back(s.value);
      return all;
    }
    List operator()(const sql::ForLoop& s) const {
      return s.by ? List{s.from, s.to, s.by} : List{s.from, s.to};
    }
    List operator()(const sql::WhileLoop& s) const { return {s.condition}; }
    List operator()(const sql::Branch& s) const { return {s.condition}; }
  };
  return std::visit(Own{}, step.node);
}

std::vector<const sql::Steps*> blocks_of(const sql::Step& step) {
  if (const auto* loop = std::get_if<sql::ForLoop>(&step.node)) return {&loop->body};
  if (const auto* loop = std::get_if<sql::WhileLoop>(&step.node)) return {&loop->body};
  if (const auto* branch = std::get_if<sql::Branch>(&step.node)) return {&branch->yes, &branch->no};
  return {};
}

}  // namespace tessera::query
