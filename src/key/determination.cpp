#include <algorithm>
#include <utility>

#include "key/linear.h"

namespace tessera {
namespace {

using Form = LinearForms::Form;
using Term = LinearForms::Term;

/// What is known to be equal at two points at which certain forms are equal.
class Determination {
 public:
  Determination(LinearForms& forms, std::vector<Form> values)
      : forms_(forms), equal_(std::move(values)) {}

  bool determines_the_point() {
    while (deduce()) {
    }
    const auto& atoms = forms_.atoms();
    for (std::size_t i = 0; i < atoms.size(); ++i)
      if (atoms[i].kind == LinearForms::AtomKind::component && !is_known(static_cast<int>(i)))
        return false;
    return true;
  }

 private:
  /// One round of deduction; false when it brings nothing new.
  bool deduce() {
    progress_ = false;
    for (const Form& form : equal_) deduce_from_sum(form);
    for (std::size_t i = 0; i < forms_.atoms().size(); ++i) deduce_from_atom(static_cast<int>(i));
    return progress_;
  }

  /// The law of positional notation. If a*x + b*y + ... agrees at two points, and |a| is larger
  /// than all that b*y + ... can differ by, then x agrees; so the digits are known one by one.
  void deduce_from_sum(const Form& form) {
    std::vector<Term> open;
    for (const Term& term : form.terms)
      if (!is_known(term.atom)) open.push_back(term);
    std::sort(open.begin(), open.end(), [](const Term& a, const Term& b) {
      return magnitude(a.coefficient) < magnitude(b.coefficient);
    });
    while (!open.empty()) {
      const Term largest = open.back();
      open.pop_back();
      if (magnitude(largest.coefficient) <= greatest_difference(open)) return;
      learn(largest.atom);
    }
  }

  /// x div c and x mod c agree if x does.
  void deduce_from_atom(int index) {
    const LinearForms::Atom atom = forms_.atoms()[index];
    if (atom.kind == LinearForms::AtomKind::component) return;
    if (!is_known(index)) {
      if (are_known(atom.dividend)) learn(index);
    } else if (atom.kind == LinearForms::AtomKind::remainder) {
      deduce_from_remainder(atom);
    }
  }

  /// x agrees if x div c and x mod c do, or x div c and (x + d) mod c for any constant d.
  void deduce_from_remainder(const LinearForms::Atom& remainder) {
    const auto quotient = forms_.quotient(remainder.dividend, remainder.divisor);
    bool agrees = quotient && are_known(*quotient);
    for (std::size_t i = 0; i < forms_.atoms().size() && !agrees; ++i) {
      const LinearForms::Atom& other = forms_.atoms()[i];
      agrees = other.kind == LinearForms::AtomKind::quotient && is_known(static_cast<int>(i)) &&
               other.divisor == remainder.divisor &&
               other.dividend.terms == remainder.dividend.terms;
    }
    const bool is_news =
        std::find(equal_.begin(), equal_.end(), remainder.dividend) == equal_.end();
    if (!agrees || !is_news || are_known(remainder.dividend)) return;
    equal_.push_back(remainder.dividend);
    progress_ = true;
  }

  static std::uint64_t magnitude(std::int64_t value) {
    const auto bits = static_cast<std::uint64_t>(value);
    return value < 0 ? 0 - bits : bits;
  }
  /// Saturates where no coefficient could be larger anyway.
  std::uint64_t greatest_difference(const std::vector<Term>& terms) const {
    std::uint64_t sum = 0;
    for (const Term& term : terms) {
      std::uint64_t part = 0;
      if (__builtin_mul_overflow(magnitude(term.coefficient), width(term.atom), &part) ||
          __builtin_add_overflow(sum, part, &sum))
        return ~0ull;
    }
    return sum;
  }

  std::uint64_t width(int atom) const { return forms_.atoms()[atom].range.width(); }
  bool is_known(int atom) const {
    return width(atom) == 0 || std::find(known_.begin(), known_.end(), atom) != known_.end();
  }
  bool are_known(const Form& form) const {
    return std::all_of(form.terms.begin(), form.terms.end(),
                       [&](const Term& term) { return is_known(term.atom); });
  }
  void learn(int atom) {
    known_.push_back(atom);
    progress_ = true;
  }

  LinearForms& forms_;
  std::vector<Form> equal_;
  std::vector<int> known_;
  bool progress_ = false;
};

}  // namespace

bool determine_the_point(LinearForms& forms, const std::vector<Form>& values) {
  return Determination(forms, values).determines_the_point();
}

}  // namespace tessera
