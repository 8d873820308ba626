#include <algorithm>
#include <limits>

#include "kernel/form/compiled_form.h"

// Where a form reads its arguments, by intervals: conditions narrow them for what is only computed
// where they hold, as in where(i > 0, #0[i - 1], 0.0).

namespace tessera {
namespace {

using Wide = __int128;
constexpr Wide least = std::numeric_limits<std::int64_t>::min();
constexpr Wide greatest = std::numeric_limits<std::int64_t>::max();

/// All values that a term may have. Whatever might wrap around may be anything.
struct Interval {
  Wide low = least, high = greatest;

  static Interval of(Wide low, Wide high) {
    return low < least || high > greatest ? Interval() : Interval{low, high};
  }
  bool within(const Interval& other) const { return low >= other.low && high <= other.high; }
};

class Reads {
 public:
  explicit Reads(const TypedForm& form) : form_(form) {}

  bool are_inside(const Term& term) {
    if (const auto* read = as<term::Element>(term)) return is_inside(*read);
    if (const auto* choice = as<term::Choice>(term))
      return are_inside(choice->condition) && are_inside_if(choice->condition, true, choice->yes) &&
             are_inside_if(choice->condition, false, choice->no);
    if (const auto* fold = as<term::Fold>(term))
      return fold->condition == nullptr
                 ? are_inside(fold->value)
                 : are_inside(fold->condition) && are_inside_if(fold->condition, true, fold->value);
    const std::vector<Term> parts = parts_of(term);
    return std::all_of(parts.begin(), parts.end(), [&](const Term& t) { return are_inside(t); });
  }

 private:
  bool is_inside(const term::Element& read) {
    const Shape& shape = form_.arguments[static_cast<std::size_t>(read.argument)].shape;
    for (int d = 0; d < shape.rank(); ++d) {
      const Term& at = read.at[static_cast<std::size_t>(d)];
      if (as<term::Position>(at) != nullptr) continue;
      if (!are_inside(at) || !values_of(at).within({0, Wide(shape[d]) - 1})) return false;
    }
    return true;
  }

  bool are_inside_if(const Term& condition, bool holds, const Term& term) {
    const std::size_t before = known_.size();
    suppose(condition, holds);
    const bool inside = are_inside(term);
    known_.resize(before);
    return inside;
  }

  /// Takes a condition for known.
  void suppose(const Term& condition, bool holds) {
    const auto* function = as<term::Applied>(condition);
    if (function == nullptr) return;
    const std::string_view name = function->function->name;
    if (name == "logical_not") return suppose(function->arguments[0], !holds);
    if (name == (holds ? "logical_and" : "logical_or")) {
      suppose(function->arguments[0], holds);
      suppose(function->arguments[1], holds);
      return;
    }
    if (function->arguments.size() != 2 || form_.dtype(function->arguments[0]) != DType::i64 ||
        form_.dtype(function->arguments[1]) != DType::i64)
      return;
    const Term &a = function->arguments[0], &b = function->arguments[1];
    if (name == (holds ? "less" : "greater_equal")) suppose_less(a, b, 1);
    if (name == (holds ? "less_equal" : "greater")) suppose_less(a, b, 0);
    if (name == (holds ? "greater" : "less_equal")) suppose_less(b, a, 1);
    if (name == (holds ? "greater_equal" : "less")) suppose_less(b, a, 0);
    if (name == (holds ? "equal" : "not_equal")) {
      suppose_less(a, b, 0);
      suppose_less(b, a, 0);
    }
  }
  /// a + difference <= b
  void suppose_less(const Term& a, const Term& b, int difference) {
    const Interval of_a = values_of(a), of_b = values_of(b);
    known_.push_back({a, {least, of_b.high - difference}});
    known_.push_back({b, {of_a.low + difference, greatest}});
  }

  Interval values_of(const Term& term) {
    Interval values = values_by_parts(term);
    for (const auto& [known, narrower] : known_) {
      if (known->node.index() != term->node.index() || !same(known, term)) continue;
      values.low = std::max(values.low, narrower.low);
      values.high = std::min(values.high, narrower.high);
    }
    return values;
  }

  Interval values_by_parts(const Term& term) {
    if (const auto* number = as<term::Number>(term)) {
      if (number->value.dtype() != DType::i64) return {};
      const std::int64_t value = number->value.as<std::int64_t>();
      return {value, value};
    }
    if (const auto* index = as<term::Position>(term))
      return {0, Wide(form_.extents[static_cast<std::size_t>(index->index)]) - 1};
    if (const auto* choice = as<term::Choice>(term)) {
      if (form_.dtype(term) != DType::i64) return {};
      const Interval yes = values_of(choice->yes), no = values_of(choice->no);
      return {std::min(yes.low, no.low), std::max(yes.high, no.high)};
    }
    const auto* function = as<term::Applied>(term);
    if (function == nullptr || form_.dtype(term) != DType::i64) return {};
    for (const Term& argument : function->arguments)
      if (form_.dtype(argument) != DType::i64) return {};
    const Interval a = values_of(function->arguments[0]);
    const std::string_view name = function->function->name;
    if (name == "neg") return Interval::of(-a.high, -a.low);
    if (function->arguments.size() != 2) return {};
    return combined(name, a, values_of(function->arguments[1]));
  }

  static Interval combined(std::string_view name, const Interval& a, const Interval& b) {
    if (name == "add") return Interval::of(a.low + b.low, a.high + b.high);
    if (name == "sub") return Interval::of(a.low - b.high, a.high - b.low);
    if (name == "mul") {
      const Wide corners[] = {a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high};
      return Interval::of(*std::min_element(corners, corners + 4),
                          *std::max_element(corners, corners + 4));
    }
    if (name == "minimum") return {std::min(a.low, b.low), std::min(a.high, b.high)};
    if (name == "maximum") return {std::max(a.low, b.low), std::max(a.high, b.high)};
    if (name == "remainder" && b.low > 0) return {0, b.high - 1};
    if (name == "floor_divide" && b.low > 0 && a.low >= 0) return {a.low / b.high, a.high / b.low};
    return {};
  }

  const TypedForm& form_;
  std::vector<std::pair<Term, Interval>> known_;
};

}  // namespace

bool reads_inside(const TypedForm& form) { return Reads(form).are_inside(form.form.value); }

}  // namespace tessera
