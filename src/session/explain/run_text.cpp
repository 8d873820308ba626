#include "base/quantities.h"
#include "ia/tree.h"
#include "session/explain/pairs.h"
#include "session/explain/text.h"

namespace tessera::session {

std::string run_text(const Analysis::Run& run) {
  const std::vector<ia::Plan> order = ia::in_order(run.record.plans);
  const std::vector<MeasuredOperator> operators = operators_of(run.record);
  std::vector<std::pair<std::string, Pairs>> columns{{"tuples", {}}, {"floats moved", {}},
                                                     {"flops", {}},  {"bytes", {}},
                                                     {"time", {}},   {"result", {}}};
  for (const MeasuredOperator& own : operators) {
    const auto add = [&](std::size_t column, const auto& text, auto figure) {
      Pairs& pairs = columns[column].second;
      const auto predicted = static_cast<double>(own.predicted.*figure);
      if (own.measured)
        pairs.add(text(predicted), text(static_cast<double>((*own.measured).*figure)));
      else
        pairs.add(predicted == 0 ? "" : text(predicted), "");
    };
    add(0, quantity_text, &OperatorFigures::tuples);
    add(1, quantity_text, &OperatorFigures::floats_moved);
    add(2, quantity_text, &OperatorFigures::flops);
    add(3, size_text, &OperatorFigures::bytes);
    add(4, time_text, &OperatorFigures::seconds);
    add(5, size_text, &OperatorFigures::result_bytes);
  }
  std::erase_if(columns, [](const auto& column) { return !column.second.says_something(); });
  std::unordered_map<const ia::Plan::Node*, std::size_t> place;
  for (std::size_t i = 0; i < order.size(); ++i) place[&order[i].node()] = i;
  std::vector<std::string> headings{"predicted | measured"};
  for (const auto& [name, pairs] : columns) headings.push_back(name);
  headings.emplace_back("tasks");
  return ia::render_tree(run.record.plans, headings, [&](const ia::Plan& node) {
    const std::size_t i = place.at(&node.node());
    std::vector<std::string> notes;
    for (const auto& [name, pairs] : columns) notes.push_back(pairs.text(i));
    notes.push_back(operators[i].measured ? std::to_string(operators[i].tasks) : "");
    return notes;
  });
}

}  // namespace tessera::session
