#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/bytes.h"
#include "query/lowering.h"
#include "session/state.h"
#include "session/tensors.h"
#include "tessera/optimizer.h"

// EXPLAIN: what a statement would do, layer by layer, without doing it; with ANALYZE, what it took.

namespace tessera {

using lang::fail_type;
using query::Value;
using session::Catalogue;

namespace {

struct ExplainOptions {
  enum class Format { text, json, dot } format = Format::text;
  std::optional<int> sites = {};
};

ExplainOptions options_of(const sql::Options& written) {
  ExplainOptions options;
  for (const auto& [name, value] : written) {
    const auto* word = std::get_if<sql::Name>(&value->node);
    if (query::same_name(name, "format")) {
      const auto* text = std::get_if<sql::Literal>(&value->node);
      std::string format = word != nullptr ? word->column : "";
      if (text != nullptr && std::holds_alternative<std::string>(text->value))
        format = std::get<std::string>(text->value);
      if (query::same_name(format, "json"))
        options.format = ExplainOptions::Format::json;
      else if (query::same_name(format, "dot"))
        options.format = ExplainOptions::Format::dot;
      else if (!query::same_name(format, "text"))
        fail_type(value->place, "FORMAT is TEXT, JSON or DOT");
    } else if (query::same_name(name, "sites")) {
      const auto bound = query::bind_constant(*value, {});
      const bool is_number = query::is_integer(bound->type);
      const std::int64_t sites = is_number ? query::evaluate(*bound, {}, {}).integer() : 0;
      if (sites < 1 || sites > 65536) fail_type(value->place, "SITES is a number from 1 to 65536");
      options.sites = static_cast<int>(sites);
    } else {
      fail_type(value->place, "EXPLAIN has no option {}; there are FORMAT and SITES", name);
    }
  }
  return options;
}

/// What is asked for, as far as it can be planned without looking at rows.
struct Planned {
  query::Unrolled unrolled;
  query::Framing framing;
  std::vector<Plan> plans;                      // of what is asked for, where they are known
  std::map<std::int64_t, std::string> by_rows;  // operators that look at rows, and why
};

Planned planned(const std::vector<query::Request>& requests, Catalogue& catalogue,
                query::Dictionary& dictionary, const frames::History& history,
                frames::Limits limits) {
  Planned result;
  result.unrolled = query::unroll(requests, catalogue);
  result.framing = query::framed(result.unrolled, history, limits);
  if (result.framing.frames.size() > 1) return result;
  std::vector<std::optional<query::Table>> stored;
  for (const std::string& name : result.unrolled.stored) {
    Value value = catalogue.value(name);
    stored.push_back(value.table ? *value.table : query::table_of(*value.rows, dictionary));
  }
  std::vector<std::optional<query::Table>> tables;
  for (std::int64_t op = 0; op < result.unrolled.operators(); ++op) {
    const auto [which, instance, node] = query::operator_of(result.unrolled, op);
    tables.emplace_back();
    std::vector<query::Table> inputs;
    bool known = true;
    for (const query::Read& read : query::reads_of(result.unrolled, op)) {
      const auto& input = read.op >= 0 ? tables[read.op] : stored[read.stored];
      known = known && input.has_value();
      if (known) inputs.push_back(*input);
    }
    const std::vector<query::NodePtr> below = query::inputs_of(*node);
    for (std::size_t i = 0; i < inputs.size() && i < below.size(); ++i)
      inputs[i].schema = below[i]->schema;
    if (!known) {
      result.by_rows[op] = "its input is known when it runs";
    } else if (std::holds_alternative<query::ConstantRows>(node->op)) {
      try {
        tables.back() =
            query::table_of(query::evaluate(*node, {}, instance.parameters), dictionary);
      } catch (const TypeError& error) {
        result.by_rows[op] = error.what();
      }
    } else {
      query::Lowered lowered = query::lower(*node, inputs, instance.parameters);
      tables.back() = std::move(lowered.table);
      if (!tables.back()) result.by_rows[op] = lowered.reason;
    }
  }
  for (int wanted : result.unrolled.wanted)
    if (const auto& table = tables[query::result_of(result.unrolled, wanted)])
      result.plans.push_back(table->plan);
  return result;
}

/// The operators of an instance as a tree, with why some look at rows.
void add_tree(const Planned& planned, int instance, const query::NodePtr& node, int depth,
              std::string& text) {
  const query::Instance of = planned.unrolled.instances[instance];
  text += std::string(static_cast<std::size_t>(2 * depth), ' ') + query::describe(*node);
  const auto number = of.of->number.find(node.get());
  if (number != of.of->number.end()) {
    const auto why = planned.by_rows.find(planned.unrolled.first[instance] + number->second);
    if (why != planned.by_rows.end()) text += "  -- row by row: " + why->second;
  }
  text += "\n";
  for (const query::NodePtr& input : query::inputs_of(*node))
    add_tree(planned, instance, input, depth + 1, text);
}

constexpr std::size_t most_trees = 4;

std::string tree_text(const Planned& planned) {
  std::string text;
  const std::size_t count = planned.unrolled.instances.size();
  const std::size_t first = count > most_trees ? count - most_trees : 0;
  for (std::size_t k = count; k-- > first;) {
    const query::Instance instance = planned.unrolled.instances[k];
    if (instance.table >= 0)
      text += query::version_name(planned.unrolled.tables[instance.table], instance.indices) + "\n";
    add_tree(planned, static_cast<int>(k), instance.of->root, instance.table >= 0 ? 1 : 0, text);
  }
  if (first > 0) text += fmt::format("and {} more versions\n", first);
  return text;
}

std::string frames_text(const Planned& planned) {
  const query::Framing& framing = planned.framing;
  std::string text = fmt::format(
      "{} operators of {} versions in {} frames; {:.1f} pipelines are expected to break\n",
      planned.unrolled.operators(), planned.unrolled.instances.size(), framing.frames.size(),
      framing.expected_breakers);
  for (std::size_t f = 0; f < framing.frames.size(); ++f) {
    std::int64_t stored = 0;
    for (std::int32_t op : framing.frames[f])
      stored += std::cmp_greater(framing.last_reader[op], f) ? 1 : 0;
    if (f < 20 || f + 3 >= framing.frames.size())
      text += fmt::format("frame {}: {} operators, {} results for later\n", f,
                          framing.frames[f].size(), stored);
    else if (f == 20)
      text += "...\n";
  }
  return text;
}

nlohmann::ordered_json frames_json(const Planned& planned) {
  nlohmann::ordered_json sizes = nlohmann::ordered_json::array();
  for (const auto& frame : planned.framing.frames) sizes.push_back(frame.size());
  return {{"operators", planned.unrolled.operators()},
          {"versions", planned.unrolled.instances.size()},
          {"frames", sizes},
          {"expected_breakers", planned.framing.expected_breakers}};
}

std::string dot_text(const Planned& planned) {
  std::string text = "digraph plan {\n  node [shape=box];\n";
  const query::Unrolled& plan = planned.unrolled;
  for (std::size_t f = 0; f < planned.framing.frames.size(); ++f) {
    text += fmt::format("  subgraph cluster_{} {{ label=\"frame {}\";\n", f, f);
    for (std::int32_t op : planned.framing.frames[f]) {
      std::string label;
      for (char c : query::describe(*query::operator_of(plan, op).node))
        label += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
      text += fmt::format("    o{} [label=\"{}\"];\n", op, label);
    }
    text += "  }\n";
  }
  for (std::int64_t op = 0; op < plan.operators(); ++op)
    for (const query::Read& read : query::reads_of(plan, op)) {
      if (read.op >= 0)
        text += fmt::format("  o{} -> o{};\n", read.op, op);
      else
        text += fmt::format("  \"{}\" -> o{};\n", plan.stored[read.stored], op);
    }
  return text + "}\n";
}

std::string report_text(const RunReport& report) {
  std::string text = fmt::format(
      "measured: {:.3f} s, {} tasks, {:.3g} flops, {} in memory at most, {} read, {} spilled, "
      "{:.0f} "
      "floats moved\n",
      report.seconds, report.tasks, report.flops, bytes_text(report.peak_bytes),
      bytes_text(report.bytes_read), bytes_text(report.bytes_spilled), report.floats_moved);
  for (const OperatorReport& one : report.operators)
    text += fmt::format("  {:<60} {:>8} tasks {:>10.3g} flops {:>10} {:>9.3f} s\n", one.description,
                        one.tasks, one.flops, bytes_text(static_cast<std::int64_t>(one.bytes)),
                        one.seconds);
  return text;
}

StatementResult lines(const std::string& text) {
  std::vector<std::vector<std::string>> rows;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    rows.push_back({text.substr(at, end - at)});
    at = end + 1;
  }
  return {"EXPLAIN", session::text_table({"plan"}, rows)};
}

}  // namespace

namespace {

/// A statement, ready to be explained.
struct Explained {
  std::vector<Plan> plans = {};  // empty: nothing is known before rows are looked at
  bool can_run = true;
  std::string head;  // what the language makes of it
  std::string dot;
  nlohmann::ordered_json framing = {};
  std::function<std::optional<Placement>(const Plan&)> placed = {};
};

Explained explained_queries(const Planned& plan) {
  Explained result;
  if (plan.plans.size() == plan.unrolled.wanted.size()) result.plans = plan.plans;
  result.head = tree_text(plan);
  if (plan.framing.frames.size() > 1) result.head += "\n" + frames_text(plan);
  result.dot = dot_text(plan);
  result.framing = frames_json(plan);
  return result;
}

Explained explained_tensor(const sql::CreateTensor& statement, const Database& database,
                           Catalogue& catalogue, int sites, lang::Place place) {
  const session::PlannedTensor planned = session::planned(statement, database, catalogue, place);
  Explained result;
  result.plans = {planned.tensor.plan};
  result.can_run = planned.virtual_inputs.empty();
  result.head = to_string(planned.tensor.type) + "\n" + planned.tensor.plan.explain();
  result.placed = [&catalogue, sites](const Plan& input) -> std::optional<Placement> {
    const auto* named = std::get_if<op::Input>(&operator_of(input));
    const auto tensor = named == nullptr ? std::nullopt : catalogue.virtual_tensor(named->name);
    if (!tensor || tensor->partition_by.empty()) return std::nullopt;
    return Placement::part(tensor->partition_by, input.frontier(), sites);
  };
  return result;
}

}  // namespace

StatementResult Session::State::explain(const sql::Explain& statement, std::string_view) {
  const ExplainOptions wanted = options_of(statement.options);
  const int sites = wanted.sites.value_or(options.run.sites);
  Catalogue catalogue(database);
  session::DatabaseDictionary texts = dictionary();
  const auto queries = [&](const std::vector<query::Request>& requests) {
    return explained_queries(planned(requests, catalogue, texts, frame_history(), frame_limits()));
  };
  Explained plan;
  const auto& node = statement.statement->node;
  if (const auto* query = std::get_if<sql::QueryPtr>(&node))
    plan = queries({{*query}});
  else if (const auto* table = std::get_if<sql::CreateTable>(&node);
           table != nullptr && table->query && table->indices.empty())
    plan = queries({{table->query}});
  else if (const auto* execute = std::get_if<sql::Execute>(&node))
    plan = queries(requests_of(*execute, catalogue));
  else if (const auto* tensor = std::get_if<sql::CreateTensor>(&node);
           tensor != nullptr && tensor->expression)
    plan = explained_tensor(*tensor, database, catalogue, sites, statement.statement->begin);
  else
    fail_type(statement.statement->begin,
              "EXPLAIN takes a query, CREATE TABLE ... AS, CREATE TENSOR ... AS, or EXECUTE");
  if (wanted.format == ExplainOptions::Format::dot) return lines(plan.dot);

  OptimizerOptions optimizer;
  optimizer.sites = sites;
  optimizer.alternatives = sites > 1;
  optimizer.placed = plan.placed;
  std::optional<OptimizedPlan> optimized;
  if (!plan.plans.empty()) optimized = optimize(plan.plans, optimizer);
  if (wanted.format == ExplainOptions::Format::json) {
    auto json = optimized ? nlohmann::ordered_json::parse(optimized->json())
                          : nlohmann::ordered_json::object();
    if (!plan.framing.is_null()) json["framing"] = plan.framing;
    return lines(json.dump(2));
  }
  std::string text = plan.head;
  RunOptions run_options = options.run;
  run_options.holes = Holes::allowed;
  run_options.sites = sites;
  if (optimized) text += "\n" + optimized->explain();
  if (optimized && plan.can_run)
    for (const Plan& one : plan.plans) text += forecast(one, run_options).to_string() + "\n";
  if (statement.analyze) {
    if (!optimized || !plan.can_run)
      fail_type(
          statement.statement->begin,
          "EXPLAIN ANALYZE of a statement that looks at rows, runs in frames, or has no data");
    RunReport report;
    (void)tessera::run(plan.plans, run_options, &report);
    text += "\n" + report_text(report);
  }
  return lines(text);
}

}  // namespace tessera
