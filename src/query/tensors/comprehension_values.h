#pragma once

#include <string>
#include <variant>
#include <vector>

#include "calculus/array.h"
#include "lang/sql/ast.h"

namespace tessera::query {

/// What a variable of a comprehension stands for.
struct BoundValue {
  std::variant<Term, calculus::Array, std::vector<BoundValue>> value;  // the last: a tuple
  /// Of before a grouping: all values of a group, which can only be folded.
  bool lifted = false;
};

/// The variables in scope, inner ones last. They tell case apart, as nothing else does: in
/// ((i, j), a) <- A the variable is not the array.
class Variables {
 public:
  const BoundValue* find(const std::string& name) const;
  /// Takes a value apart; TypeError at the pattern that does not fit. `_` takes anything.
  void bind(const sql::Pattern& pattern, const BoundValue& value);
  /// All but these are lifted from here on.
  void lift();

  std::size_t count() const { return known_.size(); }
  void forget_after(std::size_t count) { known_.resize(count); }

 private:
  std::vector<std::pair<std::string, BoundValue>> known_;
};

/// What stands there, for messages: "a number", "an array f64[2x3]", "a tuple of 2".
std::string kind_text(const BoundValue& value);

}  // namespace tessera::query
