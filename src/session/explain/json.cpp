#include "session/explain/json.h"

#include <nlohmann/json.hpp>

namespace tessera::session {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const Figures& figures) {
  return {{"seconds", figures.seconds},       {"flops", figures.flops},
          {"bytes", figures.bytes},           {"floats_moved", figures.floats_moved},
          {"peak_bytes", figures.peak},       {"bytes_read", figures.read},
          {"bytes_spilled", figures.spilled}, {"tasks", figures.tasks}};
}

/// What was predicted has no tasks.
Json expected(const Figures& figures) {
  Json json = json_of(figures);
  json.erase("tasks");
  return json;
}

Json json_of(const OperatorFigures& figures) {
  return {{"tuples", figures.tuples},
          {"flops", figures.flops},
          {"bytes", figures.bytes},
          {"seconds", figures.seconds},
          {"floats_moved", figures.floats_moved},
          {"result_bytes", figures.result_bytes}};
}

Json framing_json(const Outline& outline) {
  Json sizes = Json::array(), later = Json::array();
  for (std::size_t f = 0; f < outline.framing->frames.size(); ++f) {
    sizes.push_back(outline.framing->frames[f].size());
    later.push_back(results_for_later(*outline.framing, f));
  }
  return {{"operators", outline.queries->operators()},
          {"versions", outline.queries->instances.size()},
          {"frames", sizes},
          {"results_for_later", later},
          {"expected_breakers", outline.framing->expected_breakers}};
}

Json run_json(const Outline& outline, const Analysis::Run& run) {
  Json operators = Json::array();
  const std::vector<ia::Plan> order = ia::in_order(run.record.plans);
  const std::vector<MeasuredOperator> all = operators_of(run.record);
  std::unordered_map<const ia::Plan::Node*, std::size_t> ids;
  for (std::size_t i = 0; i < order.size(); ++i) {
    ids[&order[i].node()] = i;
    Json inputs = Json::array();
    for (const ia::Plan& input : ia::inputs_of(ia::operator_of(order[i])))
      inputs.push_back(ids.at(&input.node()));
    Json one{{"id", i},
             {"operator", ia::describe(order[i])},
             {"inputs", inputs},
             {"type", to_string(order[i].type())},
             {"placement", order[i].placement().to_string()},
             {"predicted", json_of(all[i].predicted)},
             {"measured", nullptr}};
    if (all[i].measured) {
      one["measured"] = json_of(*all[i].measured);
      one["measured"]["tasks"] = all[i].tasks;
    }
    operators.push_back(std::move(one));
  }
  return {{"for", run.op >= 0 ? Json(describe(*outline.queries, run.op)) : Json(nullptr)},
          {"sites", run.record.plans.front().sites()},
          {"exact", run.record.cost.exact},
          {"predicted", expected(predicted(run.record))},
          {"measured", json_of(measured(run.record))},
          {"plan", operators}};
}

Json analysis_json(const Outline& outline, const Analysis& analysis) {
  Json rows = Json::array(), runs = Json::array(), frames = Json::array();
  for (const auto& [op, work] : analysis.by_rows)
    rows.push_back({{"operator", describe(*outline.queries, op)},
                    {"number", op},
                    {"reason", work.reason},
                    {"rows_in", work.rows_in},
                    {"rows_out", work.rows_out},
                    {"seconds", work.seconds}});
  for (const Analysis::Run& run : analysis.runs) runs.push_back(run_json(outline, run));
  for (const Analysis::Frame& frame : analysis.frames)
    frames.push_back({{"frame", frame.number},
                      {"row_operators", frame.row_operators},
                      {"runs", frame.runs},
                      {"predicted", expected(frame.predicted)},
                      {"measured", json_of(frame.measured)},
                      {"seconds", frame.seconds}});
  return {{"seconds", analysis.seconds},
          {"predicted", expected(analysis.predicted)},
          {"measured", json_of(analysis.measured)},
          {"runs", runs},
          {"rows", rows},
          {"frames_resumed", analysis.resumed},
          {"frames", frames}};
}

Json plan_json(const ExplainedRun& part) {
  Json json{{"for", part.what.empty() ? Json(nullptr) : Json(part.what)},
            {"frame", part.frame >= 0 ? Json(part.frame) : Json(nullptr)}};
  json.update(Json::parse(to_json(part.plan, part.memory)));
  return json;
}

Json reasons_json(const query::Unrolled* queries,
                  const std::map<std::int64_t, std::string>& reasons) {
  Json all = Json::array();
  for (const auto& [op, why] : reasons)
    all.push_back({{"operator", describe(*queries, op)}, {"number", op}, {"reason", why}});
  return all;
}

}  // namespace

/// Every statement is told in this one shape, which docs/sql.md describes.
std::string json_text(const Outline& outline, const Analysis* analysis) {
  Json plans = Json::array();
  for (const ExplainedRun& part : outline.parts) plans.push_back(plan_json(part));
  Json passes = Json::array();
  for (const PassUse& use : outline.passes)
    passes.push_back({{"pass", use.pass}, {"seconds", use.seconds}});
  Json steps = Json::array();
  for (const std::vector<std::string>& line : outline.program)
    steps.push_back({{"step", line[0]}, {"runs", line.size() > 1 ? Json(line[1]) : Json(nullptr)}});
  return Json{{"passes", passes},
              {"steps", steps},
              {"plans", plans},
              {"rows", reasons_json(outline.queries, outline.by_rows)},
              {"later", reasons_json(outline.queries, outline.later)},
              {"framing", outline.queries != nullptr ? framing_json(outline) : Json(nullptr)},
              {"analyze", analysis != nullptr ? analysis_json(outline, *analysis) : Json(nullptr)}}
      .dump(2);
}

}  // namespace tessera::session
