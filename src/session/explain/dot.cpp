#include "session/explain/dot.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/quantities.h"
#include "session/explain/text.h"
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

/// A physical plan, or several that run together: operators with their labels, and what reads what.
std::string plan_cluster(std::size_t number, const std::string& title,
                         const std::vector<ia::Plan>& plans,
                         const std::function<std::string(std::size_t)>& note) {
  std::string text =
      fmt::format("  subgraph cluster_plan_{} {{ label=\"{}\";\n", number, escaped(title));
  std::unordered_map<const ia::Plan::Node*, std::size_t> numbers;
  for (const ia::Plan& node : ia::in_order(plans)) {
    const std::size_t i = numbers.size();
    numbers[&node.node()] = i;
    text += fmt::format("    p{}_o{} [label=\"{}\"];\n", number, i,
                        escaped(ia::describe(node) + "\n" + note(i)));
    for (const ia::Plan& input : ia::inputs_of(ia::operator_of(node)))
      text += fmt::format("    p{0}_o{1} -> p{0}_o{2};\n", number, numbers.at(&input.node()), i);
  }
  return text + "  }\n";
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

std::string label_of(const Outline& outline, std::int64_t op, const Analysis* analysis) {
  std::string label = describe(*outline.queries, op);
  if (analysis == nullptr) {
    if (const auto why = outline.by_rows.find(op); why != outline.by_rows.end())
      label += "\nrow by row: " + why->second;
    else if (const auto reason = outline.later.find(op); reason != outline.later.end())
      label += "\nplanned at run time: " + reason->second;
    return label;
  }
  const auto work = analysis->by_rows.find(op);
  if (work == analysis->by_rows.end()) return label;
  return label + fmt::format("\n{} rows in, {} out, {}\nrow by row: {}",
                             fmt::join(work->second.rows_in, " and "), work->second.rows_out,
                             seconds_text(work->second.seconds), work->second.reason);
}

std::string queries_text(const Outline& outline, const Analysis* analysis) {
  const query::Unrolled& plan = *outline.queries;
  std::string text;
  for (std::size_t f = 0; f < outline.framing->frames.size(); ++f) {
    text += fmt::format("  subgraph cluster_{} {{ label=\"{}\";\n", f, frame_label(analysis, f));
    for (std::int32_t op : outline.framing->frames[f])
      text +=
          fmt::format("    o{} [label=\"{}\"];\n", op, escaped(label_of(outline, op, analysis)));
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
  return text;
}

/// The title of a cluster: what it is for, what it takes, and what the planner did.
std::string titled(const std::string& what, const std::string& figures, const std::string& did) {
  std::string title = (what.empty() ? "plan" : what) + "\n" + figures + "\n" + did;
  title.erase(title.find_last_not_of('\n') + 1);
  return title;
}

std::string part_cluster(std::size_t number, const Outline& outline, const ExplainedRun& part,
                         bool verbose) {
  const OptimizedPlan& plan = part.plan;
  const OperatorCost& total = plan.cost.total;
  std::string figures =
      fmt::format("{} floats moved, {} flops, predicted {}", quantity_text(total.floats_moved),
                  quantity_text(total.flops), seconds_text(total.seconds));
  if (part.memory) figures += "\n" + part.memory->to_string();
  const std::string did = verbose ? planning_text(plan.rules, plan.passes) : "";
  return plan_cluster(
      number, titled(title_of(outline, part), figures, did), plan.plans, [&](std::size_t i) {
        const OperatorCost& own = plan.cost.operators[i];
        return fmt::format("{} floats moved, {} flops", quantity_text(own.floats_moved),
                           quantity_text(own.flops));
      });
}

std::string run_cluster(std::size_t number, const Outline& outline, const Analysis::Run& run,
                        bool verbose) {
  const std::vector<MeasuredOperator> operators = operators_of(run.record);
  const std::string what =
      run.op < 0 ? "run" : "run for the rows of " + describe(*outline.queries, run.op);
  const std::string figures =
      fmt::format("predicted {}, measured {}", seconds_text(predicted(run.record).seconds),
                  seconds_text(measured(run.record).seconds));
  const std::string did = verbose ? planning_text(run.record.rules, run.record.passes) : "";
  return plan_cluster(
      number, titled(what, figures, did), run.record.plans, [&](std::size_t i) -> std::string {
        const MeasuredOperator& own = operators[i];
        std::string note = fmt::format("predicted {} flops, {}", quantity_text(own.predicted.flops),
                                       seconds_text(own.predicted.seconds));
        if (own.measured)
          note += fmt::format("\nmeasured {} flops, {}", quantity_text(own.measured->flops),
                              seconds_text(own.measured->seconds));
        return note;
      });
}

}  // namespace

std::string dot_text(const Outline& outline, const Analysis* analysis, bool verbose) {
  std::string text = "digraph plan {\n  node [shape=box];\n";
  std::string did = verbose ? passes_text(outline) : "";
  if (verbose && analysis != nullptr && outline.in_frames())
    did += planning_text(analysis->rules, analysis->passes);
  if (!did.empty()) text += fmt::format("  label=\"{}\";\n", escaped(did));
  if (outline.queries != nullptr) text += queries_text(outline, analysis);
  std::size_t number = 0;
  if (analysis != nullptr)
    for (const Analysis::Run& run : analysis->runs)
      text += run_cluster(number++, outline, run, verbose);
  else
    for (const ExplainedRun& part : outline.parts)
      if (shows_plans_of(outline, part.frame))
        text += part_cluster(number++, outline, part, verbose);
  return text + "}\n";
}

}  // namespace tessera::session
