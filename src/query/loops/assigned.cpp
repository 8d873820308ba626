#include "query/loops/assigned.h"

#include <algorithm>
#include <cstdlib>
#include <deque>

#include "base/check.h"
#include "key/solver.h"
#include "query/binding/bind_aggregate.h"
#include "query/rows/schema.h"

namespace tessera::query {
namespace {

using sql::BinaryOperator;
using sql::ExpressionPtr;

// Names of what only a translation has. Nobody can write those of arrays; those of indices, which
// forms show, are refused in programs.
constexpr const char* folded_name = "\x01 folded";
constexpr const char* element_name = "\x01 element";
constexpr const char* written_name = "\x01 written";
constexpr const char* fixed_prefix = "\x01 index ";

std::string hidden(const char* stem, std::size_t number) {
  return fmt::format("__{}{}", stem, number);
}

/// Writes expressions and comprehensions, all at one place of the text.
class Writer {
 public:
  explicit Writer(lang::Location location) : location_(location) {}

  template <class Node>
  ExpressionPtr make(Node node) const {
    return std::make_shared<const sql::Expression>(sql::Expression{std::move(node), location_});
  }
  ExpressionPtr name(const std::string& of) const { return make(sql::Name{{}, of}); }
  ExpressionPtr integer(std::int64_t value) const { return make(sql::Literal{value}); }
  ExpressionPtr truth() const { return make(sql::Literal{true}); }
  ExpressionPtr binary(BinaryOperator op, ExpressionPtr a, ExpressionPtr b) const {
    return make(sql::Binary{op, std::move(a), std::move(b)});
  }
  ExpressionPtr minus(ExpressionPtr a) const {
    return make(sql::Unary{sql::UnaryOperator::minus, std::move(a)});
  }
  ExpressionPtr no(ExpressionPtr a) const {
    return make(sql::Unary{sql::UnaryOperator::logical_not, std::move(a)});
  }
  ExpressionPtr call(const char* function, ExpressionPtr a, ExpressionPtr b) const {
    return make(sql::Call{function, {std::move(a), std::move(b)}});
  }
  ExpressionPtr element(const std::string& of, std::vector<ExpressionPtr> at) const {
    if (at.empty()) return name(of);
    return make(sql::Versioned{of, std::move(at)});
  }
  ExpressionPtr tuple(std::vector<ExpressionPtr> parts) const {
    return make(sql::Tuple{std::move(parts)});
  }
  ExpressionPtr choice(ExpressionPtr condition, ExpressionPtr yes, ExpressionPtr no) const {
    sql::Case cases;
    cases.branches.emplace_back(std::move(condition), std::move(yes));
    cases.otherwise = std::move(no);
    return make(std::move(cases));
  }
  ExpressionPtr fold(const std::string& monoid, ExpressionPtr of) const {
    return make(sql::Aggregation{monoid, std::move(of)});
  }
  sql::Qualifier qualifier(decltype(sql::Qualifier::node) node) const {
    return {std::move(node), location_};
  }
  sql::Pattern pattern(const std::string& variable) const {
    sql::Pattern made;
    made.variable = variable;
    made.location = location_;
    return made;
  }
  sql::Qualifier generator(const std::string& variable, ExpressionPtr from,
                           ExpressionPtr to) const {
    return qualifier(
        sql::Generator{pattern(variable), make(sql::Range{std::move(from), std::move(to)})});
  }
  sql::Qualifier let(const std::string& variable, ExpressionPtr value) const {
    return qualifier(sql::Let{pattern(variable), std::move(value)});
  }
  sql::Qualifier group(const std::vector<std::string>& variables, ExpressionPtr by) const {
    sql::GroupBy made;
    if (variables.size() == 1) {
      made.pattern = pattern(variables[0]);
    } else {
      made.pattern.is_tuple = true;
      made.pattern.location = location_;
      for (const std::string& variable : variables) made.pattern.parts.push_back(pattern(variable));
    }
    made.key = std::move(by);
    return qualifier(std::move(made));
  }
  /// The indices of an element: by itself, or a tuple.
  ExpressionPtr key(std::vector<ExpressionPtr> indices) const {
    return indices.size() == 1 ? indices[0] : tuple(std::move(indices));
  }
  ExpressionPtr comprehension(const Shape& shape, ExpressionPtr key, ExpressionPtr value,
                              std::vector<sql::Qualifier> qualifiers) const {
    sql::Comprehension made{sql::Storage{}, tuple({std::move(key), std::move(value)}),
                            std::move(qualifiers)};
    for (const std::int64_t extent : shape) made.storage->dense.push_back(integer(extent));
    return make(std::make_shared<const sql::Comprehension>(std::move(made)));
  }
  /// A number, as an array without dimensions.
  ExpressionPtr number(ExpressionPtr value, std::vector<sql::Qualifier> qualifiers) const {
    if (qualifiers.empty()) qualifiers.push_back(let("_", integer(0)));  // there must be one
    sql::Comprehension made{std::nullopt, tuple({tuple({}), std::move(value)}),
                            std::move(qualifiers)};
    return make(std::make_shared<const sql::Comprehension>(std::move(made)));
  }
  lang::Location location() const { return location_; }

 private:
  lang::Location location_;
};

Tensor in_dtype(const Tensor& tensor, DType dtype) {
  if (tensor.type.dtype == dtype) return tensor;
  return mapped(tensor, KernelCall("cast", {{"dtype", std::string(to_string(dtype))}}));
}

bool is_zero(const sql::Expression& value) {
  const auto* literal = std::get_if<sql::Literal>(&value.node);
  if (literal == nullptr) return false;
  const auto* whole = std::get_if<std::int64_t>(&literal->value);
  const auto* real = std::get_if<double>(&literal->value);
  return (whole != nullptr && *whole == 0) || (real != nullptr && *real == 0);
}

/// Whether an expression is seen to be no integer.
bool is_fraction(const sql::Expression& expression) {
  if (const auto* literal = std::get_if<sql::Literal>(&expression.node))
    return !std::holds_alternative<std::int64_t>(literal->value);
  if (const auto* unary = std::get_if<sql::Unary>(&expression.node))
    return is_fraction(*unary->operand);
  const auto* binary = std::get_if<sql::Binary>(&expression.node);
  return binary != nullptr && (binary->op == BinaryOperator::divide || is_fraction(*binary->left) ||
                               is_fraction(*binary->right));
}

/// Whether an expression is made of elements of arrays, not of arrays.
bool reads_elements(const sql::Expression& expression) {
  if (std::holds_alternative<sql::Versioned>(expression.node) ||
      std::holds_alternative<sql::Aggregation>(expression.node))
    return true;
  if (std::holds_alternative<std::shared_ptr<const sql::Comprehension>>(expression.node))
    return false;
  if (const auto* call = std::get_if<sql::Call>(&expression.node))
    if (same_name(call->name, "size")) return true;
  const auto parts = parts_of(expression);
  return std::any_of(parts.begin(), parts.end(),
                     [](const ExpressionPtr& part) { return reads_elements(*part); });
}

/// An assignment in its loops, on its way to a comprehension.
class Translation {
 public:
  Translation(const LocalArray& before, const sql::Assignment& assignment, const Chain& chain,
              const IndexFunctions& functions, const TensorNamed& named, lang::Location location)
      : before_(before),
        assignment_(assignment),
        chain_(chain),
        functions_(functions),
        named_(named),
        write_(location),
        shape_(*before.shape) {}

  LocalArray result() {
    if (!std::cmp_equal(shape_.rank(), assignment_.indices.size()))
      lang::fail_type(write_.location(), "{} has {} dimensions, but {} indices are given",
                      assignment_.name, shape_.rank(), assignment_.indices.size());
    for (const ExpressionPtr& index : assignment_.indices)
      if (is_fraction(*index)) lang::fail_type(index->location, "an index must be an integer");
    refuse_outside();
    LocalArray after = before_;
    find_places();
    const bool folds = !update().empty() && !is_one_each() && !is_folded_in_place();
    if (!folds && is_zero(*assignment_.value) && !before_.value && update().empty()) {
      const auto* whole = std::get_if<sql::Literal>(&assignment_.value->node);
      after.least = promote(after.least,
                            std::holds_alternative<double>(whole->value) ? DType::f64 : DType::i64);
      return after;
    }
    Tensor made = folds                                   ? folded()
                  : is_one_each() || is_folded_in_place() ? one_each()
                                                          : scattered();
    DType dtype = before_.element.value_or(before_.value ? made.type.dtype
                                                         : promote(before_.least, made.type.dtype));
    made = in_dtype(made, dtype);
    after.value = made;
    return after;
  }

 private:
  std::string update() const {
    const std::string& written = assignment_.update;
    return written == "-" ? "+" : written;
  }
  ExpressionPtr value() const {
    return assignment_.update == "-" ? write_.minus(assignment_.value) : assignment_.value;
  }

  void refuse_outside() const {
    for (int d = 0; d < shape_.rank(); ++d) {
      const sql::Expression& index = *assignment_.indices[static_cast<std::size_t>(d)];
      const auto function = functions_.of(index, chain_);
      if (!function) continue;
      const auto range = functions_.range(index, chain_);
      if (range && range->low >= 0 && range->high < shape_[d]) continue;
      KeySolver solver(std::chrono::milliseconds(200));
      KeyQuery query(solver);
      constexpr std::int64_t far = std::int64_t{1} << 40;
      const auto here = query.unknown_point(
          Bounds(static_cast<std::size_t>(loops_in(chain_)), Interval{-far, far}));
      for (const KeyPredicate& holds : functions_.holding(chain_))
        query.require(query.holds(holds, here));
      const auto at = query.value(*function, here);
      query.require(
          query.any({query.compare(Comparison::less, at, query.constant(0)),
                     query.compare(Comparison::greater_equal, at, query.constant(shape_[d]))}));
      if (query.satisfiable() == Answer::yes)
        lang::fail_type(index.location,
                        "index {} is out of bounds for dimension {} of {} with size {}",
                        query.solution(at), d, assignment_.name, shape_[d]);
    }
  }

  // ---- One value for each element

  /// Where each dimension comes from: a loop whose index it is, or a function of such.
  void find_places() {
    std::set<std::string> taken;
    for (const ExpressionPtr& index : assignment_.indices) {
      const auto* name = std::get_if<sql::Name>(&index->node);
      const bool plain =
          name != nullptr && name->table.empty() && plain_loop(name->column) != nullptr;
      loops_.push_back(plain && taken.insert(name->column).second ? plain_loop(name->column)
                                                                  : nullptr);
    }
  }
  const sql::ForLoop* plain_loop(const std::string& variable) const {
    for (const Around& around : chain_)
      if (const auto* loop = std::get_if<const sql::ForLoop*>(&around.node))
        if ((*loop)->variable == variable && !(*loop)->by) return *loop;
    return nullptr;
  }
  bool is_place(const sql::ForLoop* loop) const {
    return std::find(loops_.begin(), loops_.end(), loop) != loops_.end();
  }
  /// Whether each element is assigned in one iteration, whose indices are those of the element.
  bool is_one_each() const {
    return std::all_of(chain_.begin(), chain_.end(), [&](const Around& around) {
      const auto* loop = std::get_if<const sql::ForLoop*>(&around.node);
      return loop == nullptr || is_place(*loop);
    });
  }

  /// Whether the values of an element are those of loops inside of the ones that it is at. Used in
  /// iterations of a loop that runs in sequence: an index form that reads its index serves all.
  bool is_folded_in_place() const {
    if (update().empty() || update() == "/") return false;
    bool in_sequence = false;
    std::set<std::string> inside;
    for (const Around& around : chain_) {
      if (std::holds_alternative<Around::Fixed>(around.node)) in_sequence = true;
      const auto* loop = std::get_if<const sql::ForLoop*>(&around.node);
      if (loop != nullptr && is_place(*loop)) {
        if (!inside.empty()) return false;
      } else if (loop != nullptr) {
        inside.insert((*loop)->variable);
      } else if (const auto* defined = std::get_if<const sql::Definition*>(&around.node)) {
        if (!inside.empty()) inside.insert((*defined)->name);
      }
    }
    return in_sequence && !mentions(assignment_.indices, inside);
  }
  static bool mentions(const std::vector<ExpressionPtr>& expressions,
                       const std::set<std::string>& names) {
    std::set<std::string> found;
    for (const ExpressionPtr& expression : expressions) add_names(*expression, found);
    return std::any_of(found.begin(), found.end(),
                       [&](const std::string& name) { return names.contains(name); });
  }

  Tensor one_each() const {
    try {
      return one_each(false);
    } catch (const Error& error) {
      if (std::string_view(error.kind()) != "TypeError") throw;
    }
    return one_each(true);
  }
  /// `by_value`: the index of a loop is a number that is made of the place. By itself it may not be
  /// longer than an array that it indexes, as it is where only a part of the target is assigned.
  Tensor one_each(bool by_value) const {
    ExpressionPtr value = this->value();
    std::vector<sql::Qualifier> inside;  // of a fold for each element
    std::vector<std::string> places;
    std::vector<sql::Qualifier> qualifiers;
    std::vector<ExpressionPtr> guard;
    for (int d = 0; d < shape_.rank(); ++d) {
      const auto* loop = loops_[static_cast<std::size_t>(d)];
      places.push_back(loop != nullptr && !by_value ? loop->variable
                                                    : hidden("p", static_cast<std::size_t>(d)));
      qualifiers.push_back(
          write_.generator(places.back(), write_.integer(0), write_.integer(shape_[d] - 1)));
      if (loop != nullptr && by_value)
        qualifiers.push_back(write_.let(
            loop->variable,
            write_.binary(BinaryOperator::add, write_.name(places.back()), write_.integer(0))));
    }
    Chain before;
    for (const Around& around : chain_) {
      const auto* loop = std::get_if<const sql::ForLoop*>(&around.node);
      if (loop != nullptr && is_place(*loop))
        add_range(**loop, before, guard);
      else if (loop != nullptr || !inside.empty())
        add_qualifiers(around, before, inside, true);
      else if (const auto* asked = std::get_if<Around::Asked>(&around.node))
        guard.push_back(asked->negated ? write_.no(asked->condition) : asked->condition);
      else
        qualifiers.push_back(plain_qualifier(around, true));
      before.push_back(around);
    }
    if (!inside.empty())
      value = write_.fold(update(), write_.make(std::make_shared<const sql::Comprehension>(
                                        sql::Comprehension{std::nullopt, value, inside})));
    std::vector<ExpressionPtr> at;
    for (int d = 0; d < shape_.rank(); ++d) {
      const auto which = static_cast<std::size_t>(d);
      at.push_back(write_.name(places[which]));
      if (loops_[which] == nullptr)
        guard.push_back(
            write_.binary(BinaryOperator::equal, at.back(), assignment_.indices[which]));
    }
    if (!update().empty()) value = updated(old_element(at), value);
    for (std::size_t g = guard.size(); g-- > 0;)
      value =
          write_.choice(guard[g], value,
                        before_.value ? write_.element(assignment_.name, at) : write_.integer(0));
    if (shape_.rank() == 0) return number(value, qualifiers);
    return bound(*write_.comprehension(shape_, write_.key(at), value, qualifiers));
  }

  /// The part of a loop's range that is not that of the dimension it is the index of.
  void add_range(const sql::ForLoop& loop, const Chain& before,
                 std::vector<ExpressionPtr>& guard) const {
    const auto place = std::find(loops_.begin(), loops_.end(), &loop) - loops_.begin();
    const auto from = functions_.constant(*loop.from, before);
    const auto to = functions_.constant(*loop.to, before);
    const ExpressionPtr index = write_.name(loop.variable);
    if (!from || *from > 0)
      guard.push_back(write_.binary(BinaryOperator::greater_equal, index, loop.from));
    if (!to || *to < shape_[static_cast<int>(place)] - 1)
      guard.push_back(write_.binary(BinaryOperator::less_equal, index, loop.to));
  }

  /// What stands for an element before the assignment, if it is updated.
  ExpressionPtr old_element(const std::vector<ExpressionPtr>& at) const {
    if (!before_.value && update() == "+") return nullptr;
    return write_.element(assignment_.name, at);
  }
  ExpressionPtr updated(const ExpressionPtr& old, const ExpressionPtr& by) const {
    if (old == nullptr) return by;
    const std::string op = update();
    if (op == "+") return write_.binary(BinaryOperator::add, old, by);
    if (op == "*") return write_.binary(BinaryOperator::multiply, old, by);
    if (op == "/") return write_.binary(BinaryOperator::divide, old, by);
    if (op == "and") return write_.binary(BinaryOperator::logical_and, old, by);
    if (op == "or") return write_.binary(BinaryOperator::logical_or, old, by);
    return write_.call(op == "min" ? "minimum" : "maximum", old, by);
  }

  // ---- Elements at functions of the indices

  /// A value for some elements, each in one iteration; the others stay what they are.
  Tensor scattered() {
    const ExpressionPtr key = write_.key(assignment_.indices);
    const auto at_keys = [&](const ExpressionPtr& value, const char* fold) {
      try {
        return bound(*write_.comprehension(shape_, key, value, qualifiers()));
      } catch (const TypeError&) {
        return grouped(value, fold);
      } catch (const lang::ErrorAt& error) {
        if (std::string_view(error.kind()) != "TypeError") throw;
        return grouped(value, fold);
      }
    };
    const Tensor elements = at_keys(value(), "max");
    if (!before_.value) return elements;
    temporaries_.insert_or_assign(element_name, elements);
    temporaries_.insert_or_assign(written_name, at_keys(write_.truth(), "or"));
    return everywhere([&](const std::vector<ExpressionPtr>& at) {
      return write_.choice(write_.element(written_name, at), write_.element(element_name, at),
                           write_.element(assignment_.name, at));
    });
  }

  // ---- Folds

  Tensor folded() {
    const std::string op = update();
    if (op == "/") lang::fail_type(write_.location(), "/= is no fold; use *= with the reciprocal");
    if (shape_.rank() == 0) return folded_number(op);
    const Tensor made = grouped(value(), op.c_str());
    const bool zero_is_neutral = op == "+" || op == "or";
    if (!before_.value && zero_is_neutral) return made;
    temporaries_.insert_or_assign(folded_name, made);
    if (!zero_is_neutral)
      temporaries_.insert_or_assign(written_name, grouped(write_.truth(), "or"));
    return everywhere([&](const std::vector<ExpressionPtr>& at) {
      const ExpressionPtr old = write_.element(assignment_.name, at);
      const ExpressionPtr both = updated(old, write_.element(folded_name, at));
      if (zero_is_neutral) return both;
      return write_.choice(write_.element(written_name, at), both, old);
    });
  }

  Tensor folded_number(const std::string& op) const {
    sql::Comprehension inside{std::nullopt, value(), qualifiers()};
    const ExpressionPtr fold =
        write_.fold(op, write_.make(std::make_shared<const sql::Comprehension>(std::move(inside))));
    if (!before_.value && (op == "+" || op == "or")) return bound(*fold);
    return number(updated(write_.name(assignment_.name), fold), {});
  }

  /// The values of each element, folded.
  Tensor grouped(const ExpressionPtr& value, const char* op) const {
    std::vector<sql::Qualifier> all = qualifiers();
    const std::string folded = hidden("v", 0);
    all.push_back(write_.let(folded, value));
    std::vector<std::string> keys;
    bool plain = true;
    for (std::size_t d = 0; d < assignment_.indices.size(); ++d) {
      plain = plain && loops_[d] != nullptr;
      keys.push_back(loops_[d] != nullptr ? loops_[d]->variable : hidden("k", d));
    }
    if (!plain)
      for (std::size_t d = 0; d < keys.size(); ++d) keys[d] = hidden("k", d);
    all.push_back(write_.group(keys, plain ? nullptr : write_.key(assignment_.indices)));
    std::vector<ExpressionPtr> at;
    for (const std::string& key : keys) at.push_back(write_.name(key));
    return bound(*write_.comprehension(shape_, write_.key(at), write_.fold(op, write_.name(folded)),
                                       std::move(all)));
  }

  Tensor everywhere(
      const std::function<ExpressionPtr(const std::vector<ExpressionPtr>&)>& value) const {
    std::vector<ExpressionPtr> at;
    std::vector<sql::Qualifier> all;
    for (int d = 0; d < shape_.rank(); ++d) {
      const std::string place = hidden("p", static_cast<std::size_t>(d));
      at.push_back(write_.name(place));
      all.push_back(write_.generator(place, write_.integer(0), write_.integer(shape_[d] - 1)));
    }
    return bound(*write_.comprehension(shape_, write_.key(at), value(at), std::move(all)));
  }

  // ---- Both

  /// `is_read`: the index of a loop that runs in sequence is read, so that what is made of it is
  /// the same form in each iteration, which is compiled once.
  sql::Qualifier plain_qualifier(const Around& around, bool is_read) const {
    if (const auto* fixed = std::get_if<Around::Fixed>(&around.node))
      return write_.let(fixed->name, is_read ? write_.name(fixed_prefix + fixed->name)
                                             : write_.integer(fixed->value));
    const auto* defined = std::get<const sql::Definition*>(around.node);
    return write_.let(defined->name, defined->value);
  }

  std::vector<sql::Qualifier> qualifiers() const {
    std::vector<sql::Qualifier> all;
    Chain before;
    for (const Around& around : chain_) {
      add_qualifiers(around, before, all, false);
      before.push_back(around);
    }
    return all;
  }

  void add_qualifiers(const Around& around, const Chain& before, std::vector<sql::Qualifier>& into,
                      bool is_read) const {
    if (const auto* asked = std::get_if<Around::Asked>(&around.node)) {
      into.push_back(write_.qualifier(
          sql::Condition{asked->negated ? write_.no(asked->condition) : asked->condition}));
      return;
    }
    const auto* found = std::get_if<const sql::ForLoop*>(&around.node);
    if (found == nullptr) return into.push_back(plain_qualifier(around, is_read));
    const sql::ForLoop& loop = **found;
    ExpressionPtr from = loop.from, to = loop.to;
    std::vector<sql::Qualifier> within;
    if (is_read) {  // where the range depends on what is read, a longer one, and conditions
      const ExpressionPtr index = write_.name(loop.variable);
      const auto [first, last] = longest_range(loop, before);
      const bool upwards = functions_.step_of(loop, before) > 0;
      using enum BinaryOperator;
      if (!loop.by && first) {
        from = write_.integer(*first);
        within.push_back(
            write_.qualifier(sql::Condition{write_.binary(greater_equal, index, loop.from)}));
      }
      if ((!loop.by || upwards) && last) {
        to = write_.integer(*last);
        within.push_back(
            write_.qualifier(sql::Condition{write_.binary(less_equal, index, loop.to)}));
      }
    }
    if (!loop.by) {
      into.push_back(write_.generator(loop.variable, from, to));
    } else {
      const std::int64_t by = functions_.step_of(loop, before);
      const std::string count = hidden("t", before.size());
      const ExpressionPtr length =
          write_.binary(BinaryOperator::subtract, by > 0 ? to : from, by > 0 ? from : to);
      into.push_back(write_.generator(
          count, write_.integer(0),
          write_.binary(BinaryOperator::integer_divide, length, write_.integer(std::abs(by)))));
      into.push_back(write_.let(
          loop.variable, write_.binary(BinaryOperator::add, from,
                                       write_.binary(BinaryOperator::multiply, write_.name(count),
                                                     write_.integer(by)))));
    }
    into.insert(into.end(), within.begin(), within.end());
  }

  /// The least and the greatest index of a loop in all iterations of the loops in sequence around
  /// it; nothing for an end that is the same in all of them.
  std::pair<std::optional<std::int64_t>, std::optional<std::int64_t>> longest_range(
      const sql::ForLoop& loop, const Chain& before) const {
    std::deque<sql::ForLoop> loops;
    std::set<std::string> changing;
    Chain all;
    for (const Around& around : before) {
      if (const auto* defined = std::get_if<const sql::Definition*>(&around.node))
        if (mentions({(*defined)->value}, changing)) changing.insert((*defined)->name);
      const auto* fixed = std::get_if<Around::Fixed>(&around.node);
      if (fixed == nullptr) {
        all.push_back(around);
        continue;
      }
      changing.insert(fixed->name);
      loops.push_back({fixed->name,
                       write_.integer(fixed->all.low),
                       write_.integer(fixed->all.high),
                       nullptr,
                       {}});
      all.push_back({&loops.back()});
    }
    const auto from = functions_.range(*loop.from, all), to = functions_.range(*loop.to, all);
    return {from && mentions({loop.from}, changing) ? std::optional(from->low) : std::nullopt,
            to && mentions({loop.to}, changing) ? std::optional(to->high) : std::nullopt};
  }

  /// A number that is made of elements, or of nothing but numbers.
  Tensor number(const ExpressionPtr& value, std::vector<sql::Qualifier> qualifiers) const {
    if (!reads_elements(*value)) return value_of(*value, chain_, named_);
    return bound(*write_.number(value, std::move(qualifiers)));
  }

  Tensor bound(const sql::Expression& comprehension) const {
    const TensorNamed named = [&](const std::string& name) {
      if (name.starts_with(fixed_prefix)) return index_named(name);
      const auto temporary = temporaries_.find(name);
      return temporary == temporaries_.end() ? named_(name) : temporary->second;
    };
    return bind_tensor(comprehension, named);
  }

  Tensor index_named(const std::string& name) const {
    for (const Around& around : chain_)
      if (const auto* fixed = std::get_if<Around::Fixed>(&around.node))
        if (fixed_prefix + fixed->name == name) return constant_tensor(Tile::scalar(fixed->value));
    throw InternalError("no loop in sequence has an index of this name");
  }

  const LocalArray& before_;
  const sql::Assignment& assignment_;
  const Chain& chain_;
  const IndexFunctions& functions_;
  const TensorNamed& named_;
  const Writer write_;
  const Shape shape_;
  std::vector<const sql::ForLoop*> loops_;  // of each dimension, or null
  std::map<std::string, Tensor> temporaries_;
};

}  // namespace

LocalArray assigned(const LocalArray& before, const sql::Assignment& assignment, const Chain& chain,
                    const IndexFunctions& functions, const TensorNamed& named,
                    lang::Location location) {
  return Translation(before, assignment, chain, functions, named, location).result();
}

Tensor value_of(const sql::Expression& expression, const Chain& chain, const TensorNamed& named) {
  const TensorNamed in_chain = [&](const std::string& name) {
    for (std::size_t i = chain.size(); i-- > 0;) {
      if (const auto* fixed = std::get_if<Around::Fixed>(&chain[i].node))
        if (fixed->name == name) return constant_tensor(Tile::scalar(fixed->value));
      if (const auto* defined = std::get_if<const sql::Definition*>(&chain[i].node))
        if ((*defined)->name == name)
          return value_of(*(*defined)->value,
                          {chain.begin(), chain.begin() + static_cast<std::ptrdiff_t>(i)}, named);
    }
    return named(name);
  };
  if (!reads_elements(expression)) return bind_tensor(expression, in_chain);
  const Writer write(expression.location);
  std::vector<sql::Qualifier> lets;
  for (const Around& around : chain) {
    if (const auto* fixed = std::get_if<Around::Fixed>(&around.node))
      lets.push_back(write.let(fixed->name, write.integer(fixed->value)));
    if (const auto* defined = std::get_if<const sql::Definition*>(&around.node))
      lets.push_back(write.let((*defined)->name, (*defined)->value));
  }
  return bind_tensor(
      *write.number(std::make_shared<const sql::Expression>(expression), std::move(lets)), named);
}

Tensor tensor_of(const LocalArray& array) {
  if (array.value) return *array.value;
  const DType dtype =
      array.element.value_or(array.least == DType::boolean ? DType::f64 : array.least);
  const Shape shape = array.shape.value_or(Shape{});
  if (shape.rank() == 0) return constant_tensor(Tile::scalar(std::int64_t{0}).cast(dtype));
  const Writer write({});
  std::vector<sql::ExpressionPtr> at;
  std::vector<sql::Qualifier> all;
  for (int d = 0; d < shape.rank(); ++d) {
    const std::string place = hidden("p", static_cast<std::size_t>(d));
    at.push_back(write.name(place));
    all.push_back(write.generator(place, write.integer(0), write.integer(shape[d] - 1)));
  }
  const Tensor zeros =
      bind_tensor(*write.comprehension(shape, write.key(at), write.integer(0), std::move(all)),
                  [](const std::string&) -> Tensor { throw InternalError("zeros read nothing"); });
  return in_dtype(zeros, dtype);
}

}  // namespace tessera::query
