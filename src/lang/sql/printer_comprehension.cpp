#include <cctype>

#include "lang/sql/printing.h"

namespace tessera::sql {

void Printer::form(const Tuple& tuple) {
  add("(");
  add_list(tuple.elements, [&](const ExpressionPtr& element) { print(*element); });
  add(")");
}

void Printer::form(const Range& range) {
  print(*range.from);
  add(" .. ");
  print(*range.to);
}

void Printer::form(const Aggregation& aggregation) {
  add(aggregation.monoid);
  add("/");
  print(*aggregation.operand, Binding::postfix);
}

void Printer::form(const std::shared_ptr<const Comprehension>& comprehension) {
  if (comprehension->storage) {
    const auto extents = [&](const std::vector<ExpressionPtr>& of) {
      add("(");
      add_list(of, [&](const ExpressionPtr& extent) { print(*extent); });
      add(")");
    };
    add(comprehension->storage->tiled ? "tensor*" : "tensor");
    extents(comprehension->storage->dense);
    if (!comprehension->storage->sparse.empty()) extents(comprehension->storage->sparse);
  }
  add("[");
  print(*comprehension->head);
  add(" | ");
  add_list(comprehension->qualifiers, [&](const Qualifier& qualifier) { print(qualifier); });
  add("]");
}

void Printer::print(const Pattern& pattern) {
  if (!pattern.is_tuple) return add_name(pattern.variable);
  add("(");
  add_list(pattern.parts, [&](const Pattern& part) { print(part); });
  add(")");
}

void Printer::print(const Qualifier& qualifier) {
  if (const auto* generator = std::get_if<Generator>(&qualifier.node)) {
    print(generator->pattern);
    add(generator->every ? " <<- " : " <- ");
    print(*generator->domain);
  } else if (const auto* let = std::get_if<Let>(&qualifier.node)) {
    add("let ");
    print(let->pattern);
    add(" = ");
    print(*let->value);
  } else if (const auto* group = std::get_if<GroupBy>(&qualifier.node)) {
    add("group by ");
    print(group->pattern);
    if (group->key) {
      add(" : ");
      print(*group->key);
    }
  } else {
    print(*std::get<Condition>(qualifier.node).condition);
  }
}

}  // namespace tessera::sql
