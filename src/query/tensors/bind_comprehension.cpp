#include "query/tensors/bind_comprehension.h"

#include "calculus/bounds.h"
#include "calculus/normal_form.h"
#include "query/rows/schema.h"
#include "query/tensors/comprehension_binder.h"

namespace tessera::query {

using calculus::Array;
using lang::fail_type;

namespace {

const sql::GroupBy* grouping_of(const sql::Comprehension& comprehension) {
  for (const sql::Qualifier& qualifier : comprehension.qualifiers)
    if (const auto* group = std::get_if<sql::GroupBy>(&qualifier.node)) return group;
  return nullptr;
}

/// The expressions that a head gives as the indices of an element.
std::vector<sql::ExpressionPtr> written_keys(const sql::Expression& head) {
  const auto* pair = std::get_if<sql::Tuple>(&head.node);
  if (pair == nullptr || pair->elements.size() != 2) return {};
  const auto* keys = std::get_if<sql::Tuple>(&pair->elements[0]->node);
  return keys == nullptr ? std::vector{pair->elements[0]} : keys->elements;
}

std::vector<Term> terms_of(const BoundValue& value, lang::Location location) {
  if (const auto* term = std::get_if<Term>(&value.value)) return {*term};
  const auto* parts = std::get_if<std::vector<BoundValue>>(&value.value);
  if (parts == nullptr) fail_type(location, "expected indices, not {}", kind_text(value));
  std::vector<Term> terms;
  for (const BoundValue& part : *parts) {
    const auto* term = std::get_if<Term>(&part.value);
    if (term == nullptr) fail_type(location, "an index must be a number, not {}", kind_text(part));
    terms.push_back(*term);
  }
  return terms;
}

}  // namespace

Array ComprehensionBinder::array(const sql::Comprehension& comprehension, lang::Location location) {
  storage_ = extents_of(comprehension);
  qualifiers(comprehension);
  const BoundValue head = value(*comprehension.head);
  const auto* pair = std::get_if<std::vector<BoundValue>>(&head.value);
  if (pair == nullptr || pair->size() != 2)
    fail_type(comprehension.head->location,
              "the head of an array comprehension must be the indices of an element and its value, "
              "as in [ ((i, j), v) | ... ], not {}",
              kind_text(head));
  const std::vector<Term> keys = terms_of((*pair)[0], comprehension.head->location);
  const auto* element = std::get_if<Term>(&(*pair)[1].value);
  if (element == nullptr || (*pair)[1].lifted)
    fail_type(comprehension.head->location, "the value of an element must be a number; fold {}",
              element == nullptr ? kind_text((*pair)[1]) : "a group, as in +/v");
  if (storage_ && storage_->size() != keys.size())
    fail_type(location, "the tensor has {} dimensions, but its elements have {} indices",
              storage_->size(), keys.size());
  return lang::at_location(comprehension.head->location,
                           [&] { return form_.array(keys, *element, storage_); });
}

std::optional<std::vector<std::int64_t>> ComprehensionBinder::extents_of(
    const sql::Comprehension& comprehension) {
  if (!comprehension.storage) return std::nullopt;
  std::vector<std::int64_t> extents;
  for (const auto* dimensions : {&comprehension.storage->dense, &comprehension.storage->sparse})
    for (const sql::ExpressionPtr& written : *dimensions) {
      const auto bounds = calculus::bounds_of(term(*written), {});
      if (!bounds || bounds->low != bounds->high || bounds->low < 0)
        fail_type(written->location, "the extent of a dimension must be a constant integer");
      extents.push_back(bounds->low);
    }
  return extents;
}

void ComprehensionBinder::qualifiers(const sql::Comprehension& comprehension) {
  for (const sql::Qualifier& qualifier : comprehension.qualifiers)
    lang::at_location(qualifier.location, [&] {
      if (const auto* generator = std::get_if<sql::Generator>(&qualifier.node)) {
        generate(*generator);
      } else if (const auto* let = std::get_if<sql::Let>(&qualifier.node)) {
        variables_.bind(let->pattern, value(*let->value));
      } else if (const auto* group = std::get_if<sql::GroupBy>(&qualifier.node)) {
        group_by(*group, comprehension);
      } else {
        form_.require(term(*std::get<sql::Condition>(qualifier.node).condition));
      }
    });
}

void ComprehensionBinder::generate(const sql::Generator& generator) {
  const sql::Expression& domain = *generator.domain;
  if (const auto* range = std::get_if<sql::Range>(&domain.node))
    return variables_.bind(generator.pattern, in_range(generator.pattern, *range));
  const auto* nested = std::get_if<std::shared_ptr<const sql::Comprehension>>(&domain.node);
  if (nested != nullptr && !(*nested)->storage && grouping_of(**nested) == nullptr) {
    const std::size_t outside = variables_.count();
    qualifiers(**nested);
    const BoundValue head = value(*(*nested)->head);
    variables_.forget_after(outside);
    return variables_.bind(generator.pattern, head);
  }
  const auto* name = std::get_if<sql::Name>(&domain.node);
  const BoundValue* variable =
      name != nullptr && name->table.empty() ? variables_.find(name->column) : nullptr;
  if (variable != nullptr && variable->lifted)
    return variables_.bind(generator.pattern, of_group(*variable));
  const Array array = array_of(domain, variable);
  if (array.type.shape.rank() == 0)
    fail_type(domain.location, "a generator needs an array or a range, not a number");
  variables_.bind(generator.pattern, entries(array, generator.pattern, generator.every));
}

BoundValue ComprehensionBinder::in_range(const sql::Pattern& pattern, const sql::Range& range) {
  const Term from = form_.resolved(term(*range.from)), to = form_.resolved(term(*range.to));
  const auto lowest = calculus::bounds_of(from, form_.extents());
  const auto highest = calculus::bounds_of(to, form_.extents());
  if (!lowest || !highest)
    fail_type((lowest ? range.to : range.from)->location,
              "the ends of a range must be integers made of constants and indices");
  const std::int64_t extent = std::max<std::int64_t>(0, highest->high - lowest->low + 1);
  const Term index = form_.index(pattern.is_tuple ? "i" : pattern.variable, extent);
  const Term value = lowest->low == 0 ? index : applied("add", {index, integer(lowest->low)});
  form_.require(applied("greater_equal", {value, from}));
  form_.require(applied("less_equal", {value, to}));
  return {value};
}

Array ComprehensionBinder::array_of(const sql::Expression& domain, const BoundValue* variable) {
  if (variable != nullptr) {
    if (const auto* array = std::get_if<Array>(&variable->value)) return *array;
    fail_type(domain.location, "a generator needs an array or a range, not {}",
              kind_text(*variable));
  }
  if (const auto* nested = std::get_if<std::shared_ptr<const sql::Comprehension>>(&domain.node))
    return ComprehensionBinder(meant_).array(**nested, domain.location);
  return meant_(domain);
}

BoundValue ComprehensionBinder::entries(const Array& array, const sql::Pattern& pattern,
                                        bool every) {
  const int rank = array.type.shape.rank();
  std::vector<Term> at;
  std::vector<BoundValue> indices;
  const sql::Pattern* written =
      pattern.is_tuple && pattern.parts.size() == 2 ? &pattern.parts[0] : nullptr;
  for (int d = 0; d < rank; ++d) {
    const sql::Pattern* own = written;
    if (own != nullptr && own->is_tuple)
      own =
          std::cmp_less(d, own->parts.size()) ? &own->parts[static_cast<std::size_t>(d)] : nullptr;
    const bool named = own != nullptr && !own->is_tuple && own->variable != "_";
    at.push_back(form_.index(named ? own->variable : "i", array.type.shape[d]));
    indices.push_back({at.back()});
  }
  const Term element = form_.element(array, at);
  if (array.type.is_sparse() && !every)
    form_.require(
        applied("not_equal", {element, number(Scalar(std::int64_t{0}).cast(array.type.dtype))}));
  const BoundValue position = rank == 1 ? indices[0] : BoundValue{indices};
  return {std::vector<BoundValue>{position, {element}}};
}

BoundValue ComprehensionBinder::of_group(const BoundValue& lifted) {
  const std::map<int, Term> renamed = form_.open_group();
  const auto rename = [&](const auto& self, const BoundValue& value) -> BoundValue {
    if (const auto* term = std::get_if<Term>(&value.value))
      return {calculus::substituted(form_.resolved(*term), renamed)};
    if (std::holds_alternative<Array>(value.value)) return value;
    std::vector<BoundValue> parts;
    for (const BoundValue& part : std::get<std::vector<BoundValue>>(value.value))
      parts.push_back(self(self, part));
    return {parts};
  };
  return rename(rename, lifted);
}

void ComprehensionBinder::group_by(const sql::GroupBy& group,
                                   const sql::Comprehension& comprehension) {
  BoundValue keys;
  std::vector<const sql::Pattern*> parts;
  if (group.pattern.is_tuple)
    for (const sql::Pattern& part : group.pattern.parts) parts.push_back(&part);
  else
    parts.push_back(&group.pattern);
  if (group.key) {
    keys = value(*group.key);
  } else {
    std::vector<BoundValue> values;
    for (const sql::Pattern* part : parts) {
      const BoundValue* known = variables_.find(part->variable);
      if (part->is_tuple || known == nullptr)
        fail_type(part->location,
                  "group by needs variables of this comprehension, or a key, as in group by k : "
                  "(i + 1) % 10");
      values.push_back(*known);
    }
    keys = {values};
  }
  const std::vector<Term> terms = terms_of(keys, group.pattern.location);
  if (terms.size() != parts.size())
    fail_type(group.pattern.location, "a tuple of {} variables does not fit a key of {} parts",
              parts.size(), terms.size());
  // The shape of the result tells how many groups there may be.
  const std::vector<sql::ExpressionPtr> written = written_keys(*comprehension.head);
  std::vector<std::optional<std::int64_t>> extents(terms.size());
  for (std::size_t k = 0; storage_ && k < parts.size(); ++k)
    for (std::size_t d = 0; d < std::min(written.size(), storage_->size()); ++d)
      if (const auto* name = std::get_if<sql::Name>(&written[d]->node))
        if (name->column == parts[k]->variable) extents[k] = (*storage_)[d];
  const std::vector<Term> own = form_.group_by(terms, extents);
  variables_.lift();
  for (std::size_t k = 0; k < own.size(); ++k) variables_.bind(*parts[k], {own[k]});
}

Array bind_comprehension(const sql::Expression& expression, const ArrayMeant& meant) {
  ComprehensionBinder binder(meant);
  const auto* written = std::get_if<std::shared_ptr<const sql::Comprehension>>(&expression.node);
  return written != nullptr ? binder.array(**written, expression.location)
                            : binder.number_of(expression);
}

}  // namespace tessera::query
