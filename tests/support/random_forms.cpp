#include "support/random_forms.h"

#include <cmath>
#include <limits>

#include "tessera/error.h"

namespace tessera {
namespace {

constexpr double unbounded = std::numeric_limits<double>::infinity();

/// A term, and what is known of its values.
struct Made {
  Term term;
  DType dtype = DType::f64;
  bool exact = true;         // the same to the last bit, however it is computed
  bool signed_zero = false;  // but for the sign of a zero
  double bound = unbounded;  // of whole numbers: their greatest size

  bool is_floating() const { return is_float(dtype); }
};

class FormMaker {
 public:
  explicit FormMaker(Random& random) : random_(random) {
    const std::vector<std::int64_t> usual = {1, 2, 3, 4, 5, 7, 9, 16, 17, 33};
    for (int i = 0; i < 3; ++i) extents_.push_back(random.pick(usual));
    if (random.chance(0.1)) extents_[0] = 0;
    if (random.chance(0.15)) extents_[1] = random.between(60, 1300);
    recipe_ = {random.chance(0.5)   ? Values::small_integers
               : random.chance(0.6) ? Values::fractions
                                    : Values::peculiar,
               Layouts::dense};
  }

  RandomForm make() {
    const auto arguments = random_.between(1, 3);
    for (std::int64_t i = 0; i < arguments; ++i) {
      Shape shape;
      std::int64_t elements = 1;
      for (auto rank = random_.chance(0.1) ? 0 : random_.between(1, 4); rank > 0; --rank) {
        const std::int64_t extent = random_.pick(extents_);
        if (elements * extent > 4000) break;
        elements *= extent;
        shape.push_back(extent);
      }
      arguments_.push_back(random_tile(random_, random_dtype(random_), shape, recipe_));
    }
    for (auto rank = random_.between(0, 4); rank > 0; --rank)
      if (!bind(random_.pick(extents_))) break;
    form_.rank = static_cast<int>(form_.indices.size());
    form_.value = any(4).term;
    return {with_extents(), arguments_};
  }

 private:
  static constexpr std::int64_t most_steps = 6000;

  /// The form says only the extents that its arguments do not.
  IndexForm with_extents() {
    std::vector<TileType> types;
    for (const Tile& tile : arguments_) types.push_back(tile.type());
    if (random_.chance(0.5)) try {
        (void)typed(form_, types);
        return form_;
      } catch (const TypeError&) {
      }
    for (std::size_t i = 0; i < form_.indices.size(); ++i)
      form_.indices[i].extent = extent_of_index_[i];
    return form_;
  }

  bool bind(std::int64_t extent) {
    if (steps_ * std::max<std::int64_t>(1, extent) > most_steps) return false;
    steps_ *= std::max<std::int64_t>(1, extent);
    bound_.push_back(static_cast<int>(form_.indices.size()));
    form_.indices.push_back({"i" + std::to_string(form_.indices.size()), std::nullopt});
    extent_of_index_.push_back(extent);
    return true;
  }
  std::int64_t extent(int index) const { return extent_of_index_[static_cast<std::size_t>(index)]; }

  Made any(int depth) {
    while (true) {
      try {
        return chosen(depth);
      } catch (const TypeError&) {  // a function that the dtype does not have
      }
    }
  }

  Made chosen(int depth) {
    // No leaf at the top, and below it elements rather than constants.
    const auto kind = depth <= 0  ? random_.between(1, 6)
                      : depth > 2 ? random_.between(7, 17)
                                  : random_.between(random_.chance(0.1) ? 0 : 2, 17);
    if (!made_.empty() && random_.chance(0.1)) {
      const auto& [known, indices] = random_.pick(made_);
      if (indices == bound_) return known;
    }
    Made made = kind == 0    ? constant()
                : kind == 1  ? index()
                : kind <= 6  ? read(depth)
                : kind <= 11 ? function(depth)
                : kind == 12 ? converted(depth)
                : kind == 13 ? choice_of(depth)
                             : folded(depth);
    made_.emplace_back(made, bound_);
    return made;
  }

  Made constant() {
    switch (random_dtype(random_)) {
      case DType::boolean: return {number(random_.chance(0.5)), DType::boolean, true, false, 1};
      case DType::i64: {
        const auto value = random_.between(-3, 5);
        return {number(value), DType::i64, true, false, 5};
      }
      case DType::f32: {
        const auto value = static_cast<float>(random_.between(-3, 3));
        return {number(value), DType::f32, true, false, 3};
      }
      case DType::f64: break;
    }
    if (random_.chance(0.1)) return {number(random_.chance(0.5) ? INFINITY : NAN), DType::f64};
    return {number(static_cast<double>(random_.between(-8, 8)) / 4), DType::f64};
  }

  Made index() {
    if (bound_.empty()) return constant();
    const int index = random_.pick(bound_);
    return {position(index), DType::i64, true, false, static_cast<double>(extent(index))};
  }

  Made read(int depth) {
    const int argument =
        static_cast<int>(random_.between(0, static_cast<std::int64_t>(arguments_.size()) - 1));
    const Tile& tile = arguments_[static_cast<std::size_t>(argument)];
    std::vector<Term> at;
    Term condition;
    for (int d = 0; d < tile.rank(); ++d) {
      const std::optional<Term> place = place_in(tile.shape()[d], depth, condition);
      if (!place) return constant();
      at.push_back(*place);
    }
    const double bound = recipe_.values == Values::small_integers ? 4 : unbounded;
    Made made{element(argument, std::move(at)), tile.dtype(), true, false,
              tile.dtype() == DType::boolean ? 1 : bound};
    if (condition == nullptr) return made;
    const Made other = constant();
    made.term = choice(condition, made.term, other.term);
    made.dtype = promote(made.dtype, other.dtype);
    made.bound = std::max(made.bound, other.bound);
    return made;
  }

  /// A position in a dimension; adds to the condition on which it is inside.
  std::optional<Term> place_in(std::int64_t extent_of_dimension, int depth, Term& condition) {
    std::vector<int> fitting;
    for (int index : bound_)
      if (extent(index) == extent_of_dimension) fitting.push_back(index);
    if (!fitting.empty() && random_.chance(0.75)) return position(random_.pick(fitting));
    if (extent_of_dimension == 0) return std::nullopt;
    if (bound_.empty() || random_.chance(0.3)) {
      const auto place = random_.between(0, extent_of_dimension - 1);
      return number(place);
    }
    const Term size = number(extent_of_dimension);
    const Term shifted =
        applied("add", {position(random_.pick(bound_)), number(random_.between(-2, 2))});
    if (depth > 1 && random_.chance(0.3)) {
      const Made where = any(depth - 2);
      if (where.dtype == DType::i64 && where.exact) return applied("remainder", {where.term, size});
    }
    if (random_.chance(0.3)) return applied("remainder", {shifted, size});
    if (random_.chance(0.02)) return shifted;  // which may be wrong
    const Term inside =
        random_.chance(0.5)
            ? applied("logical_and", {applied("greater_equal", {shifted, number(std::int64_t{0})}),
                                      applied("less", {shifted, size})})
            : applied("logical_not",
                      {applied("logical_or",
                               {applied("less", {shifted, number(std::int64_t{0})}),
                                applied("greater", {shifted, number(extent_of_dimension - 1)})})});
    condition = condition == nullptr ? inside : applied("logical_and", {condition, inside});
    return shifted;
  }

  static bool decides(std::string_view name) {
    for (const char* known :
         {"equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "logical_and",
          "logical_or", "logical_not", "relu_deriv", "remainder", "floor_divide"})
      if (name == known) return true;
    return false;
  }

  Made function(int depth) {
    const std::string_view name = random_.pick(scalar_function_names());
    const ScalarFunction& known = *scalar_function(name);
    std::vector<Made> arguments;
    for (int i = 0; i < known.arguments; ++i) arguments.push_back(any(depth - 1));
    if (name == "power" && random_.chance(0.7))
      arguments[1] = {number(random_.between(0, 4)), DType::i64};
    std::vector<DType> dtypes;
    std::vector<Term> terms;
    Made made;
    made.bound = 0;
    for (const Made& argument : arguments) {
      dtypes.push_back(argument.dtype);
      terms.push_back(argument.term);
      made.exact = made.exact && argument.exact;
      made.signed_zero = made.signed_zero || argument.signed_zero;
      made.bound = std::max(made.bound, argument.bound);
    }
    const DType working = known.working_dtype(dtypes);
    if (name == "power" && working == DType::i64 && as<term::Number>(terms[1]) == nullptr)
      return arguments[0];
    if (name == "power" && working == DType::i64 &&
        as<term::Number>(terms[1])->value.as<std::int64_t>() < 0)
      return arguments[0];
    made.dtype = known.result_dtype(working);
    const bool sensitive = name == "exp" || name == "log" || name == "sqrt" || name == "power" ||
                           name == "div" || decides(name);
    if (sensitive && !made.exact) return arguments[0];
    if (made.signed_zero && (name == "div" || name == "power" || name == "remainder" ||
                             name == "floor_divide" || name == "sqrt"))
      return arguments[0];
    made.term = applied(name, std::move(terms));
    const bool keeps_whole = name == "add" || name == "sub" || name == "mul" || name == "square" ||
                             name == "neg" || name == "abs" || name == "relu" ||
                             name == "minimum" || name == "maximum";
    if (name == "add" || name == "sub") made.bound *= 2;
    if (name == "mul" || name == "square") made.bound *= made.bound;
    if (!keeps_whole) made.bound = unbounded;
    if (known.gives_boolean || made.dtype == DType::boolean) made.bound = 1;
    if (is_float(working) &&
        (name == "exp" || name == "log" || name == "tanh" || name == "sigmoid" || name == "power"))
      made.exact = false;
    if (!made.is_floating()) made.signed_zero = false;
    return made;
  }

  Made converted(int depth) {
    Made made = any(depth - 1);
    const DType dtype = random_dtype(random_);
    if (!made.exact && !is_float(dtype)) return made;
    const double most = dtype == DType::f32 ? 1e6 : 1e15;
    if (made.bound > most) made.bound = unbounded;
    made.term = cast(dtype, made.term);
    made.dtype = dtype;
    if (dtype == DType::boolean) made.bound = 1;
    if (!made.is_floating()) made.signed_zero = false;
    return made;
  }

  Made choice_of(int depth) {
    const Made condition = any(depth - 1);
    Made yes = any(depth - 1);
    if (!condition.exact) return yes;
    const Made no = any(depth - 1);
    yes.term = choice(condition.term, yes.term, no.term);
    yes.dtype = promote(yes.dtype, no.dtype);
    yes.exact = yes.exact && no.exact;
    yes.signed_zero = yes.signed_zero || no.signed_zero;
    yes.bound = std::max(yes.bound, no.bound);
    return yes;
  }

  Made folded(int depth) {
    const std::size_t outside = bound_.size();
    const std::int64_t steps_outside = steps_;
    double count = 1;
    for (auto indices = random_.between(1, 2); indices > 0; --indices) {
      const std::int64_t extent = random_.pick(extents_);
      if (bind(extent)) count *= static_cast<double>(extent);
    }
    const std::vector<int> over(bound_.begin() + static_cast<std::ptrdiff_t>(outside),
                                bound_.end());
    const Made value = any(depth - 1);
    Made condition;
    if (random_.chance(0.25)) condition = any(depth - 1);
    bound_.resize(outside);
    steps_ = steps_outside;
    if (over.empty()) return constant();
    const auto monoid = static_cast<Monoid>(random_.between(0, 7));
    const bool sums = monoid == Monoid::sum || monoid == Monoid::product;
    const bool extremes = monoid == Monoid::min || monoid == Monoid::max;
    if (!sums && !extremes && !value.exact) return constant();
    if (monoid == Monoid::product && recipe_.values == Values::fractions && count > 20)
      return constant();
    if (condition.term != nullptr && !condition.exact) condition.term = nullptr;
    Made made{fold(monoid, over, value.term, condition.term), folded_dtype(monoid, value.dtype)};
    made.exact = value.exact;
    made.signed_zero = value.signed_zero;
    if (monoid == Monoid::sum) made.bound = value.bound * std::max(1.0, count);
    if (monoid == Monoid::product) made.bound = unbounded;
    if (extremes) made.bound = unbounded;  // over nothing they are extreme
    if (made.dtype == DType::boolean) made.bound = 1;
    if (made.is_floating()) {
      if (sums) made.exact = value.exact && made.bound < 1e6;
      if (extremes) made.signed_zero = true;
    }
    if (!made.is_floating()) made.signed_zero = false;
    return made;
  }

  Random& random_;
  std::vector<std::int64_t> extents_;
  Recipe recipe_;
  std::vector<Tile> arguments_;
  IndexForm form_;
  std::vector<std::int64_t> extent_of_index_;
  std::vector<int> bound_;
  std::vector<std::pair<Made, std::vector<int>>> made_;
  std::int64_t steps_ = 1;
};

}  // namespace

RandomForm random_form(Random& random) { return FormMaker(random).make(); }

}  // namespace tessera
