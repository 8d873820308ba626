#include <utility>

#include "lang/sql/printing.h"

namespace tessera::sql {
namespace {

std::string_view element_spelling(DType element) {
  switch (element) {
    case DType::f32: return "FLOAT";
    case DType::f64: return "DOUBLE";
    case DType::i64: return "BIGINT";
    case DType::boolean: break;
  }
  return "BOOLEAN";
}

/// The steps inside of a step; of a branch those of its first half.
const Steps& steps_in(const Step& step) {
  static const Steps none;
  if (const auto* loop = std::get_if<ForLoop>(&step.node)) return loop->body;
  if (const auto* loop = std::get_if<WhileLoop>(&step.node)) return loop->body;
  if (const auto* branch = std::get_if<Branch>(&step.node)) return branch->yes;
  return none;
}

bool has_body(const Step& step) {
  return std::holds_alternative<ForLoop>(step.node) ||
         std::holds_alternative<WhileLoop>(step.node) || std::holds_alternative<Branch>(step.node);
}

}  // namespace

std::string head_text(const Step& step) {
  Printer printer;
  printer.print_head(step);
  return printer.take();
}

void Printer::print_head(const Step& step) {
  const bool outside = std::exchange(in_program_, true);
  std::visit([&](const auto& node) { head(node); }, step.node);
  in_program_ = outside;
}

void Printer::head(const Variable& variable) {
  add("var ");
  add_name(variable.name);
  if (!variable.extents.empty()) {
    add("[");
    add_list(variable.extents, [&](const ExpressionPtr& extent) { print(*extent); });
    add("]");
  }
  if (variable.element) {
    add(" OF ");
    add(element_spelling(*variable.element));
  }
  if (!variable.value) return;
  add(" = ");
  print(*variable.value);
}

void Printer::head(const Definition& definition) {
  add("let ");
  add_name(definition.name);
  add(" = ");
  print(*definition.value);
}

void Printer::head(const Assignment& assignment) {
  add_name(assignment.name);
  if (!assignment.indices.empty()) {
    add("[");
    add_list(assignment.indices, [&](const ExpressionPtr& index) { print(*index); });
    add("]");
  }
  add(" ");
  add(assignment.update.empty() ? ":" : assignment.update);
  add("= ");
  print(*assignment.value);
}

void Printer::head(const ForLoop& loop) {
  add("for ");
  add_name(loop.variable);
  add(" = ");
  print(*loop.from);
  add(", ");
  print(*loop.to);
  if (loop.by) {
    add(", ");
    print(*loop.by);
  }
  add(" do");
}

void Printer::head(const WhileLoop& loop) {
  add("while ");
  print(*loop.condition);
  add(" do");
}

void Printer::head(const Branch& branch) {
  add("if ");
  print(*branch.condition);
  add(" then");
}

void Printer::print(const Steps& steps) {
  add("{");
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (i > 0) add("; ");
    const Step& step = *steps[i];
    print_head(step);
    if (!has_body(step)) continue;
    add(" ");
    print(steps_in(step));
    const auto* branch = std::get_if<Branch>(&step.node);
    if (branch == nullptr || branch->no.empty()) continue;
    add(" else ");
    print(branch->no);
  }
  add("}");
}

}  // namespace tessera::sql
