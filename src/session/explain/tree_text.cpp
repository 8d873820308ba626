#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/columns.h"
#include "base/quantities.h"
#include "session/explain/text.h"

namespace tessera::session {
namespace {

using Lines = std::vector<std::vector<std::string>>;

/// Rows in and out, time, and why they were looked at.
std::vector<std::string> notes_of(const query::RowWork& work) {
  std::vector<std::string> in;
  for (std::int64_t rows : work.rows_in) in.push_back(std::to_string(rows));
  return {fmt::format("{}", fmt::join(in, ", ")), std::to_string(work.rows_out),
          seconds_text(work.seconds), work.reason};
}

/// The operators of an instance, below each other.
void add_tree(const Outline& outline, const Analysis* analysis, int instance,
              const query::NodePtr& node, int depth, Lines& lines) {
  const query::Unrolled& plan = *outline.queries;
  const query::Template& of = *plan.instances[instance].of;
  std::string own = std::string(static_cast<std::size_t>(2 * depth), ' ') + query::describe(*node);
  lines.emplace_back();
  const auto number = of.number.find(node.get());
  if (number != of.number.end()) {
    const std::int64_t op = plan.first[instance] + number->second;
    if (analysis != nullptr) {
      const auto work = analysis->by_rows.find(op);
      if (work != analysis->by_rows.end()) lines.back() = notes_of(work->second);
    } else if (const auto why = outline.by_rows.find(op); why != outline.by_rows.end()) {
      own += "  -- row by row: " + why->second;
    } else if (const auto reason = outline.later.find(op); reason != outline.later.end()) {
      own += "  -- planned at run time: " + reason->second;
    }
  }
  lines.back().insert(lines.back().begin(), std::move(own));
  for (const query::NodePtr& input : query::inputs_of(*node))
    add_tree(outline, analysis, instance, input, depth + 1, lines);
}

std::string tensors_text(const Outline& outline) {
  std::string text;
  for (const auto& [name, tensor] : outline.tensors)
    text += fmt::format("{}{}{}{}\n{}", text.empty() ? "" : "\n", name, name.empty() ? "" : ": ",
                        to_string(tensor.type), tensor.plan.explain());
  if (outline.program.empty()) return text;
  if (outline.tensors.empty()) text = "what the loops yield is planned when they run\n";
  return in_columns(outline.program) + "\n" + text;
}

}  // namespace

std::string tree_text(const Outline& outline, const Analysis* analysis) {
  if (!outline.tensors.empty() || !outline.program.empty()) return tensors_text(outline);
  const query::Unrolled& plan = *outline.queries;
  Lines lines;
  if (analysis != nullptr && !analysis->by_rows.empty())
    lines.push_back({"operator", "rows in", "rows out", "time", "why row by row"});
  const std::size_t count = plan.instances.size();
  const std::size_t first = count > most_trees ? count - most_trees : 0;
  for (std::size_t k = count; k-- > first;) {
    const query::Instance instance = plan.instances[k];
    if (instance.table >= 0)
      lines.push_back({query::version_name(plan.tables[instance.table], instance.indices)});
    add_tree(outline, analysis, static_cast<int>(k), instance.of->root, instance.table >= 0 ? 1 : 0,
             lines);
  }
  if (first > 0) lines.push_back({fmt::format("and {} more versions", first)});
  return in_columns(lines);
}

std::string frames_text(const Outline& outline) {
  const query::Framing& framing = *outline.framing;
  const std::size_t frames = framing.frames.size();
  std::string text =
      fmt::format("{} operators of {} versions in {} frames; {:.1f} expected pipeline breakers\n",
                  outline.queries->operators(), outline.queries->instances.size(), frames,
                  framing.expected_breakers);
  for (std::size_t f = 0; f < frames; ++f) {
    if (is_shown(f, frames))
      text += fmt::format("frame {}: {} operators, {} stored results\n", f,
                          framing.frames[f].size(), results_for_later(framing, f));
    else if (f == 20)
      text += "...\n";
  }
  return text;
}

std::string passes_text(const Outline& outline) {
  return outline.passes.empty() ? "" : to_string(outline.passes) + "\n";
}

std::string parts_text(const Outline& outline, bool verbose) {
  std::string text;
  for (const ExplainedRun& part : outline.parts) {
    if (!shows_plans_of(outline, part.frame)) {
      if (!text.ends_with("\n...\n")) text += "\n...\n";
      continue;
    }
    const std::string title = title_of(outline, part);
    text += "\n" + title + (title.empty() ? "" : "\n");
    text += part.plan.explain(verbose);
    if (part.memory) text += part.memory->to_string() + "\n";
  }
  return text;
}

}  // namespace tessera::session
