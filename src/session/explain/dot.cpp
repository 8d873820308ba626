#include "session/explain/dot.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/quantities.h"
#include "store/hidden_names.h"

namespace tessera::session {
namespace {

std::string escaped(std::string_view text) {
  std::string result;
  for (char c : text)
    result += c == '\n'               ? std::string("\\n")
              : c == '"' || c == '\\' ? std::string("\\") + c
                                      : std::string(1, c);
  return result;
}

std::string graph(const std::string& body) {
  return "digraph plan {\n  node [shape=box];\n" + body + "}\n";
}

/// Operators with their labels, and what reads what.
std::string physical(const std::vector<ia::Plan>& plans,
                     const std::function<std::string(std::size_t)>& note) {
  std::string text;
  std::unordered_map<const ia::Plan::Node*, std::size_t> number;
  for (const ia::Plan& node : ia::in_order(plans)) {
    const std::size_t i = number.size();
    number[&node.node()] = i;
    text += fmt::format("  o{} [label=\"{}\"];\n", i, escaped(ia::describe(node) + "\n" + note(i)));
    for (const ia::Plan& input : ia::inputs_of(ia::operator_of(node)))
      text += fmt::format("  o{} -> o{};\n", number.at(&input.node()), i);
  }
  return graph(text);
}

std::string frame_label(const Analysis* analysis, std::size_t frame) {
  std::string label = fmt::format("frame {}", frame);
  if (analysis == nullptr || analysis->frames.empty()) return label;
  for (const Analysis::Frame& known : analysis->frames)
    if (std::cmp_equal(known.number, frame))
      return label + fmt::format(": predicted {}, measured {}",
                                 seconds_text(known.predicted.seconds),
                                 seconds_text(known.measured.seconds));
  return label + ": computed before";
}

std::string label_of(const query::Unrolled& plan, std::int64_t op, const Analysis* analysis) {
  std::string label = describe(plan, op);
  if (analysis == nullptr) return label;
  const auto work = analysis->by_rows.find(op);
  if (work == analysis->by_rows.end()) return label;
  return label + fmt::format("\n{} rows in, {} out, {}", fmt::join(work->second.rows_in, " and "),
                             work->second.rows_out, seconds_text(work->second.seconds));
}

}  // namespace

std::string dot_text(const Outline& outline, const Analysis* analysis) {
  const query::Unrolled& plan = *outline.queries;
  std::string text;
  for (std::size_t f = 0; f < outline.framing->frames.size(); ++f) {
    text += fmt::format("  subgraph cluster_{} {{ label=\"{}\";\n", f, frame_label(analysis, f));
    for (std::int32_t op : outline.framing->frames[f])
      text += fmt::format("    o{} [label=\"{}\"];\n", op, escaped(label_of(plan, op, analysis)));
    text += "  }\n";
  }
  for (std::int64_t op = 0; op < plan.operators(); ++op)
    for (const query::OperatorInput& read : query::reads_of(plan, op)) {
      if (read.op >= 0)
        text += fmt::format("  o{} -> o{};\n", read.op, op);
      else
        text += fmt::format("  \"{}\" -> o{};\n",
                            escaped(store::shown_name(plan.stored[read.stored])), op);
    }
  return graph(text);
}

std::string dot_text(const OptimizedPlan& plan) {
  return physical(plan.plans, [&](std::size_t i) {
    const OperatorCost& own = plan.cost.operators[i];
    return fmt::format("{} floats moved, {} flops", quantity_text(own.floats_moved),
                       quantity_text(own.flops));
  });
}

std::string dot_text(const Analysis::Run& run) {
  const std::vector<MeasuredOperator> operators = operators_of(run.record);
  return physical(run.record.plans, [&](std::size_t i) -> std::string {
    const MeasuredOperator& own = operators[i];
    std::string note = fmt::format("predicted {} flops, {}", quantity_text(own.predicted.flops),
                                   seconds_text(own.predicted.seconds));
    if (own.measured)
      note += fmt::format("\nmeasured {} flops, {}", quantity_text(own.measured->flops),
                          seconds_text(own.measured->seconds));
    return note;
  });
}

}  // namespace tessera::session
