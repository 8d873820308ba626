#pragma once

#include "calculus/normal_form.h"
#include "query/tensors/bind_comprehension.h"
#include "query/tensors/comprehension_values.h"

namespace tessera::query {

/// Makes the normal form of one comprehension. bind_comprehension.cpp has its qualifiers,
/// comprehension_terms.cpp the expressions in them.
class ComprehensionBinder {
 public:
  explicit ComprehensionBinder(const ArrayMeant& meant) : meant_(meant) {}

  calculus::Array array(const sql::Comprehension& comprehension, lang::Location location);
  /// A number, such as +/[ v | (i, v) <- A ], as an array without dimensions.
  calculus::Array number_of(const sql::Expression& expression);

 private:
  std::optional<std::vector<std::int64_t>> extents_of(const sql::Comprehension& comprehension);
  void qualifiers(const sql::Comprehension& comprehension);
  void generate(const sql::Generator& generator);
  void group_by(const sql::GroupBy& group, const sql::Comprehension& comprehension);
  BoundValue in_range(const sql::Pattern& pattern, const sql::Range& range);
  calculus::Array array_of(const sql::Expression& domain, const BoundValue* variable);
  BoundValue entries(const calculus::Array& array, const sql::Pattern& pattern, bool every);
  BoundValue of_group(const BoundValue& lifted);

  BoundValue value(const sql::Expression& expression);
  Term term(const sql::Expression& expression);
  Term part(const sql::Literal& literal, lang::Location location);
  Term part(const sql::Name& name, lang::Location location);
  Term part(const sql::Unary& unary, lang::Location location);
  Term part(const sql::Binary& binary, lang::Location location);
  Term part(const sql::Call& call, lang::Location location);
  Term part(const sql::Case& cases, lang::Location location);
  Term part(const sql::Cast& cast, lang::Location location);
  Term part(const sql::Versioned& indexed, lang::Location location);
  Term part(const sql::Aggregation& aggregation, lang::Location location);
  template <class Other>
  Term part(const Other& other, lang::Location location);
  Term function(const std::string& name, std::vector<Term> arguments, lang::Location location);
  Term folded(Monoid monoid, const sql::Expression& operand,
              const std::function<Term(const Term&)>& of_each = std::identity());
  Term folded_count(const sql::Expression& operand);
  Term extent_of(const sql::Call& call, lang::Location location);

  const ArrayMeant& meant_;
  calculus::NormalForm form_;
  Variables variables_;
  std::optional<std::vector<std::int64_t>> storage_;
  bool in_fold_ = false;  // where lifted variables may stand
};

}  // namespace tessera::query
