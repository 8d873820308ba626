#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "key/expression.h"
#include "key/interval.h"
#include "lang/sql/program.h"

namespace tessera::query {

/// What is around a step of a program.
struct Around {
  /// The index of a loop that runs in sequence, in one iteration of all.
  struct Fixed {
    std::string name;
    std::int64_t value;
    Interval all;
  };
  struct Asked {
    sql::ExpressionPtr condition;
    bool negated = false;
  };
  std::variant<const sql::ForLoop*, const sql::Definition*, Asked, Fixed> node;
};
/// Outermost first. The loops in it are numbered from 0: they are the components of a point, which
/// is an iteration. That of a loop with a step counts its iterations, any other is the index.
using Chain = std::vector<Around>;

/// The shapes of arrays, as far as they are known.
using ShapeNamed = std::function<std::optional<Shape>(const std::string& name)>;

/// Integers as functions of the loops around them.
class IndexFunctions {
 public:
  explicit IndexFunctions(ShapeNamed shape) : shape_(std::move(shape)) {}

  /// Nothing for what is made of anything but integers, names of such, and extents.
  std::optional<KeyExpr> of(const sql::Expression& written, const Chain& chain) const;
  /// Nothing if it compares something else.
  std::optional<KeyPredicate> condition(const sql::Expression& written, const Chain& chain) const;
  std::optional<std::int64_t> constant(const sql::Expression& written, const Chain& chain) const;

  /// What holds of the loops and conditions in a chain, as far as that is known.
  std::vector<KeyPredicate> holding(const Chain& chain) const;
  /// Between which integers each loop's component lies; nothing if that is not known of one.
  std::optional<Bounds> bounds(const Chain& chain) const;
  std::optional<Interval> range(const sql::Expression& written, const Chain& chain) const;
  /// The constant by which a loop's index grows; TypeError if there is none.
  std::int64_t step_of(const sql::ForLoop& loop, const Chain& around) const;

 private:
  std::optional<KeyExpr> named(const std::string& name, const Chain& chain) const;

  ShapeNamed shape_;
};

int loops_in(const Chain& chain);
/// The chain before the loop with this number.
Chain before_loop(const Chain& chain, int number);
Chain with(Chain chain, Around around);

/// All names in an expression, of arrays that are indexed too.
void add_names(const sql::Expression& expression, std::set<std::string>& into);
/// The expressions of a step itself, not those of the steps inside.
std::vector<sql::ExpressionPtr> expressions_of(const sql::Step& step);
/// The steps inside of a step.
std::vector<const sql::Steps*> blocks_of(const sql::Step& step);

}  // namespace tessera::query
