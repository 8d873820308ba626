#include "query/loops/program.h"

#include <algorithm>

#include "base/check.h"
#include "base/stop.h"
#include "query/binding/bind_aggregate.h"
#include "query/loops/assigned.h"
#include "query/loops/dependence.h"
#include "query/loops/expanded.h"
#include "query/loops/interchanged.h"
#include "query/loops/program_check.h"
#include "query/rows/schema.h"

namespace tessera::query {
namespace {

/// How a loop runs.
struct Verdict {
  std::optional<std::string> why_in_sequence = {};
  std::optional<Expanded> expanded = {};
  sql::Steps interchanged = {};  // what runs in its place, if it is inside of loops in sequence

  bool at_once() const { return !why_in_sequence || !interchanged.empty(); }
};

/// What is around a step: where it runs, with the indices of loops that run in sequence, and as it
/// is written, with all loops.
struct Place {
  Chain runs, written;

  Place with(const Around& around) const {
    return {query::with(runs, around), query::with(written, around)};
  }
};

class ProgramRun {
 public:
  ProgramRun(const sql::Program& program, const std::vector<std::string>& wanted,
             const TensorNamed& outside, const RunPlans& run, lang::Location location)
      : program_(program),
        wanted_(wanted),
        outside_(outside),
        run_(run),
        names_(checked_names(program)),
        functions_([this](const std::string& name) { return shape_of(name); }),
        named_([this](const std::string& name) { return tensor_named(name); }) {
    for (const std::string& name : wanted)
      if (!names_.assigned.contains(name))
        lang::fail_type(location,
                        "the program assigns nothing to \"{}\"; names in it tell upper "
                        "from lower case",
                        name);
  }

  BoundProgram result() {
    BoundProgram made;
    if (steps(program_.steps, {}))
      for (const std::string& name : wanted_) made.results.push_back(final_tensor(name));
    outline(program_.steps, {}, 0, false, made.outline);
    return made;
  }

 private:
  // ---- Names

  LocalArray& array(const std::string& name) {
    LocalArray& found = arrays_[name];
    if (!found.shape) found.shape = inferred_shape(name);
    return found;
  }

  /// As large as the indices that it is assigned at; nothing of an array that is only assigned as a
  /// whole.
  std::optional<Shape> inferred_shape(const std::string& name) {
    if (!names_.indexed.contains(name)) return std::nullopt;
    if (!inferring_.insert(name).second) return std::nullopt;
    std::optional<Shape> shape;
    infer(program_.steps, {}, name, shape);
    inferring_.erase(name);
    return shape;
  }
  void infer(const sql::Steps& steps, Chain chain, const std::string& name,
             std::optional<Shape>& into) {
    for (const sql::StepPtr& step : steps) {
      if (const auto* definition = std::get_if<sql::Definition>(&step->node))
        chain.push_back({definition});
      const auto* loop = std::get_if<sql::ForLoop>(&step->node);
      for (const sql::Steps* block : blocks_of(*step))
        infer(*block, loop != nullptr ? query::with(chain, {loop}) : chain, name, into);
      const auto* assignment = std::get_if<sql::Assignment>(&step->node);
      if (assignment == nullptr || assignment->name != name || assignment->indices.empty())
        continue;
      Shape reached;
      for (const sql::ExpressionPtr& index : assignment->indices) {
        const auto range = functions_.range(*index, chain);
        if (!range)
          lang::fail_type(index->location,
                          "cannot tell how large \"{0}\" is from this index; declare it, as in "
                          "var {0}[10]",
                          name);
        reached.push_back(std::max<std::int64_t>(0, range->high + 1));
      }
      if (!into) into = reached;
      if (into->rank() != reached.rank())
        lang::fail_type(step->location, "{} has {} dimensions, but {} indices are given", name,
                        into->rank(), reached.rank());
      for (int d = 0; d < reached.rank(); ++d) (*into)[d] = std::max((*into)[d], reached[d]);
    }
  }

  std::optional<Shape> shape_of(const std::string& name) {
    if (names_.assigned.contains(name) || arrays_.contains(name)) return array(name).shape;
    try {
      return outside_(name).type.shape;
    } catch (const TypeError&) {
      return std::nullopt;
    }
  }

  Tensor tensor_named(const std::string& name) {
    if (!names_.assigned.contains(name) && !arrays_.contains(name)) return outside_(name);
    return tensor_of(array(name));
  }

  /// Whether a stored tensor has this very name.
  bool exists_outside(const std::string& name) {
    try {
      const Plan plan = outside_(name).plan;
      const auto* input = std::get_if<op::Input>(&operator_of(plan));
      return input == nullptr || input->name == name;
    } catch (const TypeError&) {
      return false;
    }
  }

  bool is_number(const std::string& name) {
    if (names_.indexed.contains(name)) return false;
    const auto known = arrays_.find(name);
    return known == arrays_.end() || !known->second.shape || known->second.shape->rank() == 0;
  }

  /// Whether an assignment is of a whole array, or made of whole arrays.
  bool is_of_whole(const sql::Assignment& assignment, const std::set<std::string>& bound) {
    return assignment.indices.empty() &&
           (!is_number(assignment.name) || mentions_whole(*assignment.value, bound));
  }
  bool mentions_whole(const sql::Expression& expression, const std::set<std::string>& bound) {
    if (std::holds_alternative<std::shared_ptr<const sql::Comprehension>>(expression.node))
      return true;
    if (std::holds_alternative<sql::Aggregation>(expression.node)) return false;
    if (const auto* call = std::get_if<sql::Call>(&expression.node))
      if (same_name(call->name, "size")) return false;
    if (const auto* name = std::get_if<sql::Name>(&expression.node)) {
      if (bound.contains(name->column)) return false;
      if (names_.assigned.contains(name->column)) return !is_number(name->column);
      const auto shape = shape_of(name->column);
      return shape && shape->rank() > 0;
    }
    const auto parts = parts_of(expression);
    return std::any_of(parts.begin(), parts.end(), [&](const sql::ExpressionPtr& part) {
      return mentions_whole(*part, bound);
    });
  }

  // ---- Steps in sequence

  /// False where the rest is known only when the program runs.
  bool steps(const sql::Steps& all, Place place) {
    for (const sql::StepPtr& step : all) {
      if (const auto* definition = std::get_if<sql::Definition>(&step->node))
        place = place.with({definition});
      else if (!this->step(*step, place))
        return false;
    }
    return true;
  }

  bool step(const sql::Step& step, const Place& place) {
    if (const auto* variable = std::get_if<sql::Variable>(&step.node))
      return declare(*variable, place, step.location);
    if (const auto* assignment = std::get_if<sql::Assignment>(&step.node)) {
      if (assignment->indices.empty())
        assign_whole(*assignment, place.runs, step.location);
      else
        assign(*assignment, place.runs, step.location);
      return true;
    }
    if (const auto* loop = std::get_if<sql::ForLoop>(&step.node)) {
      const Verdict& verdict = verdict_of(step, place.written);
      if (!verdict.at_once()) return in_sequence(*loop, place);
      if (verdict.expanded) begin(verdict.expanded->arrays);
      bool done = true;
      if (verdict.why_in_sequence)
        done = steps(verdict.interchanged, place);
      else
        nest({verdict.expanded ? verdict.expanded->loop : std::make_shared<const sql::Step>(step)},
             place.runs);
      if (verdict.expanded) end(verdict.expanded->arrays);
      return done;
    }
    if (const auto* loop = std::get_if<sql::WhileLoop>(&step.node)) {
      for (;;) {
        refuse_if_stopped("a program ran");
        const auto again = truth(*loop->condition, place.runs);
        if (!again) return false;
        if (!*again) return true;
        if (!steps(loop->body, place)) return false;
      }
    }
    const auto& branch = std::get<sql::Branch>(step.node);
    const auto holds = truth(*branch.condition, place.runs);
    if (!holds) return false;
    return steps(
        *holds ? branch.yes : branch.no,
        {place.runs, query::with(place.written, {Around::Asked{branch.condition, !*holds}})});
  }

  bool in_sequence(const sql::ForLoop& loop, const Place& place) {
    const auto from = integer(*loop.from, place.runs), to = integer(*loop.to, place.runs);
    const std::int64_t by = functions_.step_of(loop, place.runs);
    if (!from || !to || !run_) return false;
    const Interval all{std::min(*from, *to), std::max(*from, *to)};
    for (std::int64_t index = *from; by > 0 ? index <= *to : index >= *to;) {
      refuse_if_stopped("a program ran");
      if (!steps(loop.body, {query::with(place.runs, {Around::Fixed{loop.variable, index, all}}),
                             query::with(place.written, {&loop})}))
        return false;
      settle();
      if (__builtin_add_overflow(index, by, &index)) break;
    }
    return true;
  }

  bool declare(const sql::Variable& variable, const Place& place, lang::Location location) {
    LocalArray made;
    made.element = variable.element;
    if (variable.value) {
      made.value = value_of(*variable.value, place.runs, [&](const std::string& name) {
        return name == variable.name && !arrays_.contains(name) ? outside_(name)
                                                                : tensor_named(name);
      });
      if (made.element) made.value = with_dtype(*made.value, *made.element);
      made.shape = made.value->type.shape;
    } else {
      made.shape = Shape{};
    }
    if (!variable.extents.empty()) {
      Shape shape;
      for (const sql::ExpressionPtr& extent : variable.extents) {
        const auto found = integer(*extent, place.runs);
        if (!found) return false;
        if (*found < 0)
          lang::fail_type(extent->location, "the extent of a dimension cannot be {}", *found);
        shape.push_back(*found);
      }
      if (made.value && *made.shape != shape)
        lang::fail_type(location, "{} is {}, but its value is {}", variable.name, to_string(shape),
                        to_string(*made.shape));
      made.shape = shape;
    }
    arrays_.insert_or_assign(variable.name, std::move(made));
    changed_.insert(variable.name);
    return true;
  }

  void refuse_stored(const std::string& name, lang::Location location) {
    const bool is_made = std::find(wanted_.begin(), wanted_.end(), name) != wanted_.end();
    if (is_made || arrays_.contains(name) || !exists_outside(name)) return;
    lang::fail_type(location,
                    "\"{0}\" is a stored tensor, which a program does not change; begin with var "
                    "{0} = {0} to change a copy",
                    name);
  }

  void assign(const sql::Assignment& assignment, const Chain& chain, lang::Location location) {
    const std::string& name = assignment.name;
    refuse_stored(name, location);
    const bool begins = !arrays_.contains(name);
    LocalArray& before = array(name);
    if (!before.shape) before.shape = Shape{};
    const std::string& update = assignment.update;
    if (begins &&
        (update == "*" || update == "/" || update == "min" || update == "max" || update == "and"))
      lang::fail_type(location, "\"{}\" has no values that {}= could change; assign some before",
                      name, update);
    arrays_.at(name) = lang::at_location(location, [&] {
      return assigned(before, assignment, chain, functions_, named_, location);
    });
    if (before.element && arrays_.at(name).value)
      arrays_.at(name).value = with_dtype(*arrays_.at(name).value, *before.element);
    changed_.insert(name);
  }

  /// A number or a whole array, where no loop around it runs at once.
  void assign_whole(const sql::Assignment& assignment, const Chain& chain,
                    lang::Location location) {
    const std::string& name = assignment.name;
    refuse_stored(name, location);
    const LocalArray before =
        arrays_.contains(name) || is_number(name) ? arrays_[name] : array(name);
    const auto make = [&](auto node) {
      return std::make_shared<const sql::Expression>(
          sql::Expression{std::move(node), assignment.value->location});
    };
    sql::ExpressionPtr value = assignment.value;
    if (!assignment.update.empty()) {
      using enum sql::BinaryOperator;
      const std::string& op = assignment.update;
      const sql::ExpressionPtr old = make(sql::Name{{}, name});
      if (op == "min" || op == "max")
        value = make(sql::Call{op == "min" ? "minimum" : "maximum", {old, value}});
      else
        value = make(sql::Binary{op == "+"     ? add
                                 : op == "-"   ? subtract
                                 : op == "*"   ? multiply
                                 : op == "/"   ? divide
                                 : op == "and" ? logical_and
                                               : logical_or,
                                 old, value});
    }
    Tensor made = lang::at_location(location, [&] { return value_of(*value, chain, named_); });
    if (before.element) made = with_dtype(made, *before.element);
    const bool has_shape = before.shape && (names_.indexed.contains(name) || before.value);
    if (has_shape && *before.shape != made.type.shape)
      lang::fail_type(location, "\"{}\" is {}, and {} is assigned to it", name,
                      to_string(*before.shape), to_string(made.type.shape));
    arrays_[name] = {made.type.shape, before.element, before.least, made};
    changed_.insert(name);
  }

  static Tensor with_dtype(const Tensor& tensor, DType dtype) {
    if (tensor.type.dtype == dtype) return tensor;
    return mapped(tensor, KernelCall("cast", {{"dtype", std::string(to_string(dtype))}}));
  }

  // ---- Loops at once

  const Verdict& verdict_of(const sql::Step& step, const Chain& around) {
    const auto known = verdicts_.find(&step);
    if (known != verdicts_.end()) return known->second;
    Verdict verdict;
    std::set<std::string> numbers;
    for (const std::string& name : names_.assigned)
      if (is_number(name) && !names_.declared.contains(name) &&
          std::find(wanted_.begin(), wanted_.end(), name) == wanted_.end())
        numbers.insert(name);
    verdict.expanded = expanded(step, around, numbers, program_, functions_);
    std::set<std::string> locals = names_.assigned;
    for (const auto& [name, array] : arrays_) locals.insert(name);
    const sql::Step& looked_at = verdict.expanded ? *verdict.expanded->loop : step;
    if (verdict.expanded)
      for (const auto& [name, shape] : verdict.expanded->arrays) locals.insert(name);
    verdict.why_in_sequence =
        whole_inside(sql::Steps{std::make_shared<const sql::Step>(step)}, names_in(around));
    if (verdict.why_in_sequence) return verdicts_.emplace(&step, std::move(verdict)).first->second;
    verdict.why_in_sequence = why_in_sequence(looked_at, around, locals, functions_);
    if (verdict.why_in_sequence && is_independent(looked_at, around, locals, functions_))
      verdict.interchanged = interchanged(looked_at);
    return verdicts_.emplace(&step, std::move(verdict)).first->second;
  }

  static std::set<std::string> names_in(const Chain& chain) {
    std::set<std::string> names;
    for (const Around& around : chain) {
      if (const auto* loop = std::get_if<const sql::ForLoop*>(&around.node))
        names.insert((*loop)->variable);
      if (const auto* definition = std::get_if<const sql::Definition*>(&around.node))
        names.insert((*definition)->name);
      if (const auto* fixed = std::get_if<Around::Fixed>(&around.node)) names.insert(fixed->name);
    }
    return names;
  }

  /// `bound`: the names of indices and values, which are no arrays.
  std::optional<std::string> whole_inside(const sql::Steps& steps, std::set<std::string> bound) {
    for (const sql::StepPtr& step : steps) {
      if (const auto* definition = std::get_if<sql::Definition>(&step->node))
        bound.insert(definition->name);
      if (const auto* assignment = std::get_if<sql::Assignment>(&step->node))
        if (is_of_whole(*assignment, bound))
          return fmt::format("\"{}\" is about whole arrays", sql::head_text(*step));
      std::set<std::string> inside = bound;
      if (const auto* loop = std::get_if<sql::ForLoop>(&step->node)) inside.insert(loop->variable);
      for (const sql::Steps* block : blocks_of(*step))
        if (auto why = whole_inside(*block, inside)) return why;
    }
    return std::nullopt;
  }

  void begin(const std::map<std::string, Shape>& arrays) {
    for (const auto& [name, shape] : arrays) {
      LocalArray made;
      made.shape = shape;
      arrays_.insert_or_assign(name, made);
    }
  }
  void end(const std::map<std::string, Shape>& arrays) {
    for (const auto& [name, shape] : arrays) {
      arrays_.erase(name);
      changed_.erase(name);
    }
  }

  /// One assignment after the other, each in all its loops.
  void nest(const sql::Steps& steps, Chain chain) {
    for (const sql::StepPtr& step : steps) {
      refuse_if_stopped("a program was bound");
      if (const auto* definition = std::get_if<sql::Definition>(&step->node)) {
        chain.push_back({definition});
      } else if (const auto* assignment = std::get_if<sql::Assignment>(&step->node)) {
        assign(*assignment, chain, step->location);
      } else if (const auto* loop = std::get_if<sql::ForLoop>(&step->node)) {
        nest(loop->body, query::with(chain, {loop}));
      } else {
        const auto& branch = std::get<sql::Branch>(step->node);
        nest(branch.yes, query::with(chain, {Around::Asked{branch.condition}}));
        nest(branch.no, query::with(chain, {Around::Asked{branch.condition, true}}));
      }
    }
  }

  // ---- Runs

  /// Runs what the arrays are made of, and a plan more.
  std::optional<Relation> settle(const std::optional<Plan>& more = std::nullopt) {
    std::vector<std::string> names;
    std::vector<Plan> plans;
    for (const std::string& name : changed_)
      if (const auto& value = arrays_[name].value) {
        names.push_back(name);
        plans.push_back(value->plan);
      }
    changed_.clear();
    if (more) plans.push_back(*more);
    if (plans.empty()) return std::nullopt;
    const std::vector<Relation> results = run_(plans);
    for (std::size_t i = 0; i < names.size(); ++i) {
      Tensor& value = *arrays_.at(names[i]).value;
      value = tensor_of(Plan::input(results[i], names[i]), value.type.shape, value.type.tile);
    }
    return more ? std::optional(results.back()) : std::nullopt;
  }

  /// The value of a number; nothing where nothing is to be run.
  std::optional<Tile> number(const sql::Expression& expression, const Chain& chain) {
    const Tensor tensor =
        lang::at_location(expression.location, [&] { return value_of(expression, chain, named_); });
    if (tensor.type.rank() != 0)
      lang::fail_type(expression.location, "expected a number, not {}", to_string(tensor.type));
    if (!run_) return std::nullopt;
    return settle(tensor.plan)->to_tensor();
  }
  std::optional<std::int64_t> integer(const sql::Expression& expression, const Chain& chain) {
    if (const auto constant = functions_.constant(expression, chain)) return constant;
    const auto tile = number(expression, chain);
    if (!tile) return std::nullopt;
    if (tile->dtype() != DType::i64)
      lang::fail_type(expression.location, "expected an integer, not {}", to_string(tile->dtype()));
    return tile->at<std::int64_t>({});
  }
  std::optional<bool> truth(const sql::Expression& expression, const Chain& chain) {
    if (const auto known = functions_.condition(expression, chain); known && known->arity() == 0)
      return known->evaluate({});
    const auto tile = number(expression, chain);
    if (!tile) return std::nullopt;
    return tile->at<double>({}) != 0;
  }

  Tensor final_tensor(const std::string& name) { return tensor_of(array(name)); }

  // ---- What EXPLAIN tells

  void outline(const sql::Steps& steps, Chain chain, int depth, bool inside,
               std::vector<std::vector<std::string>>& into) {
    for (const sql::StepPtr& step : steps) {
      into.push_back(
          {std::string(static_cast<std::size_t>(2 * depth), ' ') + sql::head_text(*step)});
      if (const auto* definition = std::get_if<sql::Definition>(&step->node))
        chain.push_back({definition});
      const auto* loop = std::get_if<sql::ForLoop>(&step->node);
      bool at_once = inside;
      if (std::holds_alternative<sql::WhileLoop>(step->node))
        into.back().emplace_back("in sequence");
      if (loop != nullptr) {
        const Verdict* verdict = inside ? nullptr : &verdict_of(*step, chain);
        at_once = inside || !verdict->why_in_sequence;
        into.back().push_back(at_once || verdict->at_once()
                                  ? "in parallel"
                                  : "in sequence: " + *verdict->why_in_sequence);
      }
      bool first = true;
      for (const sql::Steps* block : blocks_of(*step)) {
        if (!first && !block->empty())
          into.push_back({std::string(static_cast<std::size_t>(2 * depth), ' ') + "else"});
        Chain around = chain;
        if (loop != nullptr) around.push_back({loop});
        if (const auto* branch = std::get_if<sql::Branch>(&step->node))
          around.push_back({Around::Asked{branch->condition, !first}});
        outline(*block, std::move(around), depth + 1, at_once, into);
        first = false;
      }
    }
  }

  const sql::Program& program_;
  const std::vector<std::string>& wanted_;
  const TensorNamed& outside_;
  const RunPlans& run_;
  const ProgramNames names_;
  const IndexFunctions functions_;
  const TensorNamed named_;
  std::map<std::string, LocalArray> arrays_;
  std::set<std::string> changed_;    // since they were computed
  std::set<std::string> inferring_;  // whose shapes are being found out
  std::map<const sql::Step*, Verdict> verdicts_;
};

}  // namespace

BoundProgram bind_program(const sql::Program& program, const std::vector<std::string>& wanted,
                          const TensorNamed& named, const RunPlans& run, lang::Location location) {
  return ProgramRun(program, wanted, named, run, location).result();
}

}  // namespace tessera::query
