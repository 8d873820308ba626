#include "query/loops/dependence.h"

#include <algorithm>

#include "key/solver.h"
#include "query/binding/bind_aggregate.h"
#include "query/rows/schema.h"

namespace tessera::query {
namespace {

constexpr std::int64_t farthest = std::int64_t{1} << 40;

/// An element that an assignment reads or writes.
struct Access {
  std::string array;
  /// Nothing: any index. No dimensions: a number, or all of an array.
  std::vector<std::optional<KeyExpr>> at;
  Chain chain;
  int assignment = 0;  // in the order of the text
  bool writes = false;
  std::string update;  // of a write that folds into what is there
  std::string text;    // as it is written
};

std::string text_of_element(const std::string& name,
                            const std::vector<sql::ExpressionPtr>& indices) {
  constexpr std::string_view of_each = "each ";  // a number that each iteration has for itself
  if (name.starts_with(of_each)) return name.substr(of_each.size());
  if (indices.empty()) return name;
  std::string text;
  for (const sql::ExpressionPtr& index : indices)
    text += (text.empty() ? "" : ", ") + sql::to_string(*index);
  return fmt::format("{}[{}]", name, text);
}

/// Collects what a loop does.
class Accesses {
 public:
  Accesses(const std::set<std::string>& locals, const IndexFunctions& functions)
      : locals_(locals), functions_(functions) {}

  /// Why it cannot be done at once, whatever is read and written.
  std::optional<std::string> add(const sql::Steps& steps, Chain chain) {
    for (const sql::StepPtr& step : steps) {
      if (const auto* definition = std::get_if<sql::Definition>(&step->node)) {
        chain.push_back({definition});
      } else if (const auto* assignment = std::get_if<sql::Assignment>(&step->node)) {
        add(*assignment, chain);
      } else if (const auto* loop = std::get_if<sql::ForLoop>(&step->node)) {
        if (auto why = add(*loop, chain)) return why;
      } else if (const auto* branch = std::get_if<sql::Branch>(&step->node)) {
        if (auto why = add(*branch, chain)) return why;
      } else {
        return fmt::format("\"{}\" is inside of it", sql::head_text(*step));
      }
    }
    return std::nullopt;
  }
  std::optional<std::string> add(const sql::ForLoop& loop, const Chain& chain) {
    if (!functions_.of(*loop.from, chain) || !functions_.of(*loop.to, chain))
      return fmt::format("the range of {} depends on values", loop.variable);
    (void)functions_.step_of(loop, chain);
    return add(loop.body, with(chain, {&loop}));
  }

  const std::vector<Access>& all() const { return all_; }

 private:
  std::optional<std::string> add(const sql::Branch& branch, const Chain& chain) {
    const int before = assignments_;
    const std::size_t first = all_.size();
    if (auto why = add(branch.yes, with(chain, {Around::Asked{branch.condition}}))) return why;
    if (auto why = add(branch.no, with(chain, {Around::Asked{branch.condition, true}}))) return why;
    if (assignments_ - before < 2) return std::nullopt;
    // The condition is asked once, before the assignments.
    std::set<std::string> asked;
    add_names(*branch.condition, asked);
    for (std::size_t i = first; i < all_.size(); ++i)
      if (all_[i].writes && asked.contains(all_[i].array))
        return fmt::format("{} is assigned where the condition {} has read {}", all_[i].text,
                           sql::to_string(*branch.condition), all_[i].array);
    return std::nullopt;
  }

  void add(const sql::Assignment& assignment, const Chain& chain) {
    for (const Around& around : chain)
      if (const auto* asked = std::get_if<Around::Asked>(&around.node))
        reads(*asked->condition, chain, chain, false);
    for (const sql::ExpressionPtr& index : assignment.indices) reads(*index, chain, chain, false);
    reads(*assignment.value, chain, chain, false);
    Access made{assignment.name,
                at(assignment.indices, chain),
                chain,
                assignments_,
                true,
                {},
                text_of_element(assignment.name, assignment.indices)};
    made.update = assignment.update == "-" ? "+" : assignment.update;
    if (assignment.update == "/") {
      made.update = "";
      Access read = made;
      read.writes = false;
      all_.push_back(read);
    }
    all_.push_back(std::move(made));
    ++assignments_;
  }

  std::vector<std::optional<KeyExpr>> at(const std::vector<sql::ExpressionPtr>& indices,
                                         const Chain& chain) const {
    std::vector<std::optional<KeyExpr>> found;
    for (const sql::ExpressionPtr& index : indices) found.push_back(functions_.of(*index, chain));
    return found;
  }

  /// `scope`: the part of the chain that the names in the expression are of. `anywhere`: inside of
  /// a comprehension, whose own indices are not known here.
  void reads(const sql::Expression& expression, const Chain& scope, const Chain& chain,
             bool anywhere) {
    if (const auto* call = std::get_if<sql::Call>(&expression.node))
      if (same_name(call->name, "size")) return;
    if (const auto* name = std::get_if<sql::Name>(&expression.node)) {
      const std::string& written = name->table.empty() ? name->column : name->table;
      for (std::size_t i = scope.size(); i-- > 0 && name->table.empty();)
        if (const auto* defined = std::get_if<const sql::Definition*>(&scope[i].node))
          if ((*defined)->name == written)
            return reads(*(*defined)->value,
                         {scope.begin(), scope.begin() + static_cast<std::ptrdiff_t>(i)}, chain,
                         anywhere);
      if (locals_.contains(written)) read(written, {}, chain, written);
      return;
    }
    if (const auto* indexed = std::get_if<sql::Versioned>(&expression.node))
      if (locals_.contains(indexed->name))
        read(indexed->name,
             anywhere ? std::vector<std::optional<KeyExpr>>{} : at(indexed->indices, scope), chain,
             text_of_element(indexed->name, indexed->indices));
    const bool inside =
        anywhere ||
        std::holds_alternative<std::shared_ptr<const sql::Comprehension>>(expression.node);
    for (const sql::ExpressionPtr& part : parts_of(expression)) reads(*part, scope, chain, inside);
  }
  void read(const std::string& array, std::vector<std::optional<KeyExpr>> at, const Chain& chain,
            const std::string& text) {
    all_.push_back({array, std::move(at), chain, assignments_, false, {}, text});
  }

  const std::set<std::string>& locals_;
  const IndexFunctions& functions_;
  std::vector<Access> all_;
  int assignments_ = 0;
};

std::vector<const sql::ForLoop*> loops_of(const Chain& chain) {
  std::vector<const sql::ForLoop*> loops;
  for (const Around& around : chain)
    if (const auto* loop = std::get_if<const sql::ForLoop*>(&around.node)) loops.push_back(*loop);
  return loops;
}

/// The component that an index is, plus a constant, if it is that.
std::optional<int> shifted_component(const KeyExpr& index) {
  if (const auto* plain = std::get_if<KeyExpr::Node::Component>(&index.node().form))
    return plain->index;
  const auto* operation = std::get_if<KeyExpr::Node::Operation>(&index.node().form);
  if (operation == nullptr || operation->right.arity() != 0) return std::nullopt;
  if (operation->op != Arithmetic::add && operation->op != Arithmetic::subtract)
    return std::nullopt;
  return shifted_component(operation->left);
}

/// Two accesses, and whether a later iteration of the second can be before one of the first.
class Pair {
 public:
  /// `levels`: of how many loops, from the outermost on, the order of iterations counts.
  Pair(const Access& first, const Access& second, int outside, int levels = max_rank * max_rank)
      : first_(first), second_(second), outside_(outside) {
    const auto a = loops_of(first.chain), b = loops_of(second.chain);
    common_ = outside;
    while (common_ - outside < levels && std::cmp_less(common_, std::min(a.size(), b.size())) &&
           a[static_cast<std::size_t>(common_)] == b[static_cast<std::size_t>(common_)])
      ++common_;
  }

  /// Where the second access, in an earlier iteration of the loops that both have, is of the same
  /// element: "at i = 1 and i = 0"; nothing if that is nowhere; an empty text if it is not known.
  std::optional<std::string> conflict(const IndexFunctions& functions, KeySolver& solver) const {
    if (same_iteration_only()) return std::nullopt;
    KeyQuery query(solver);
    const auto unknowns = [&](const Chain& chain, const std::vector<KeyQuery::Term>* shared) {
      std::vector<KeyQuery::Term> components;
      for (int i = 0; i < loops_in(chain); ++i)
        components.push_back(i < outside_ && shared != nullptr
                                 ? (*shared)[static_cast<std::size_t>(i)]
                                 : query.unknown({-farthest, farthest}));
      return components;
    };
    const std::vector<KeyQuery::Term> own = unknowns(first_.chain, nullptr);
    const std::vector<KeyQuery::Term> other = unknowns(second_.chain, &own);
    const KeyQuery::Point here = query.point(own), there = query.point(other);
    for (const KeyPredicate& holds : functions.holding(first_.chain))
      query.require(query.holds(holds, here));
    for (const KeyPredicate& holds : functions.holding(second_.chain))
      query.require(query.holds(holds, there));
    for (std::size_t d = 0; d < std::min(first_.at.size(), second_.at.size()); ++d)
      if (first_.at[d] && second_.at[d])
        query.require(query.compare(Comparison::equal, query.value(*first_.at[d], here),
                                    query.value(*second_.at[d], there)));
    std::vector<KeyQuery::Condition> earlier, equal_so_far;
    for (int level = outside_; level < common_; ++level) {
      const auto l = static_cast<std::size_t>(level);
      std::vector<KeyQuery::Condition> all = equal_so_far;
      all.push_back(query.compare(Comparison::less, other[l], own[l]));
      earlier.push_back(query.all(all));
      equal_so_far.push_back(query.compare(Comparison::equal, other[l], own[l]));
    }
    query.require(query.any(earlier));
    switch (query.satisfiable()) {
      case Answer::no: return std::nullopt;
      case Answer::unknown: return "";
      case Answer::yes: break;
    }
    return fmt::format("{} at {} and {} at {}", first_.text,
                       values_text(query, first_.chain, here, functions), second_.text,
                       values_text(query, second_.chain, there, functions));
  }

  std::string texts() const { return fmt::format("{} and {}", first_.text, second_.text); }

 private:
  /// Whether equal indices mean equal iterations of all loops that both have.
  bool same_iteration_only() const {
    std::set<int> equal_components;
    for (std::size_t d = 0; d < std::min(first_.at.size(), second_.at.size()); ++d)
      if (first_.at[d] && second_.at[d] && equal(*first_.at[d], *second_.at[d]))
        if (const auto component = shifted_component(*first_.at[d]))
          equal_components.insert(*component);
    for (int level = outside_; level < common_; ++level)
      if (!equal_components.contains(level)) return false;
    return true;
  }

  /// "i = 1, j = 0"
  std::string values_text(const KeyQuery& query, const Chain& chain, const KeyQuery::Point& point,
                          const IndexFunctions& functions) const {
    const Key solution = query.solution(point);
    const auto loops = loops_of(chain);
    std::string text;
    for (std::size_t l = static_cast<std::size_t>(outside_); l < loops.size(); ++l) {
      const sql::Expression name{sql::Name{{}, loops[l]->variable}, {}};
      const auto index = functions.of(name, before_loop(chain, static_cast<int>(l) + 1));
      if (!index) continue;
      text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", loops[l]->variable,
                          index->evaluate(solution));
    }
    return text;
  }

  const Access &first_, &second_;
  int outside_, common_;
};

}  // namespace

std::optional<std::string> why_in_sequence(const sql::Step& loop, const Chain& around,
                                           const std::set<std::string>& locals,
                                           const IndexFunctions& functions) {
  Accesses accesses(locals, functions);
  if (auto why = accesses.add(std::get<sql::ForLoop>(loop.node), around)) return why;
  KeySolver solver(std::chrono::milliseconds(500));
  const int outside = loops_in(around);
  const auto ask = [&](const Access& first, const Access& second,
                       std::string_view what) -> std::optional<std::string> {
    const Pair pair(first, second, outside);
    const auto found = pair.conflict(functions, solver);
    if (!found) return std::nullopt;
    if (found->empty()) return fmt::format("{} may be the same element", pair.texts());
    return fmt::format("{}: {}", what, *found);
  };
  for (const Access& a : accesses.all())
    for (const Access& b : accesses.all()) {
      if (a.array != b.array || (!a.writes && !b.writes)) continue;
      const bool fold = a.writes && b.writes && !a.update.empty() && a.update == b.update;
      if (fold || a.assignment > b.assignment) continue;
      std::optional<std::string> why;
      if (a.assignment < b.assignment) {
        // All of the first is done before all of the second.
        why = ask(a, b,
                  a.writes && b.writes ? "an element is assigned in several iterations"
                  : a.writes           ? "an iteration overwrites what an earlier one reads"
                                       : "an iteration reads what an earlier one assigns");
      } else if (b.writes) {
        // All reads of an assignment are before its writes.
        why = ask(a, b,
                  a.writes ? "an element is assigned in several iterations"
                           : "an iteration reads what an earlier one assigns");
      }
      if (why) return why;
    }
  return std::nullopt;
}

bool is_independent(const sql::Step& loop, const Chain& around, const std::set<std::string>& locals,
                    const IndexFunctions& functions) {
  Accesses accesses(locals, functions);
  if (accesses.add(std::get<sql::ForLoop>(loop.node), around)) return false;
  KeySolver solver(std::chrono::milliseconds(500));
  for (const Access& a : accesses.all())
    for (const Access& b : accesses.all()) {
      const bool fold = a.writes && b.writes && !a.update.empty() && a.update == b.update;
      if (a.array != b.array || (!a.writes && !b.writes) || fold) continue;
      if (Pair(a, b, loops_in(around), 1).conflict(functions, solver)) return false;
    }
  return true;
}

}  // namespace tessera::query
