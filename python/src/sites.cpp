#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <set>

#include "base/check.h"
#include "base/names_text.h"
#include "tessera/optimizer.h"
#include "tra/plan_node.h"
#include "watched.h"

namespace tessera::python {
namespace {

/// How an input lies, before it is said on how many sites.
struct Layout {
  enum class Kind { all, part, grid } kind = Kind::all;
  std::vector<int> components = {};
  std::vector<int> extents = {};

  Placement of(const Plan& input, int sites) const {
    if (kind == Kind::all) return Placement::all(sites);
    if (kind == Kind::part) return Placement::part(components, input.frontier(), sites);
    return Placement::grid(components, extents, sites);
  }
  std::string to_string() const {
    if (kind == Kind::all) return "ALL";
    if (kind == Kind::part) return fmt::format("PART<{}>", fmt::join(components, "+"));
    return fmt::format("PART<{}> on {}", fmt::join(components, ", "), fmt::join(extents, "x"));
  }
};

std::string name_of(const Plan& input) { return std::get<op::Input>(operator_of(input)).name; }

std::set<std::string> inputs_in(const Plan& plan) {
  std::set<std::string> names;
  for (const Plan& node : in_order(plan))
    if (std::holds_alternative<op::Input>(operator_of(node))) names.insert(name_of(node));
  return names;
}

}  // namespace

std::string explain_plan(const Plan& plan, std::optional<int> sites, const std::string& objective,
                         bool alternatives, bool json, const py::dict& placed,
                         const std::vector<std::string>& disabled, const py::object& memory_limit) {
  const bool physical =
      sites || json || objective != "exact" || !placed.empty() || !disabled.empty();
  const bool with_memory = !memory_limit.is_none();
  if (!physical && !with_memory) return plan.explain();
  const int count = sites.value_or(1);
  OptimizerOptions options;
  options.sites = count;
  TESSERA_REQUIRE(PlanError, objective == "exact" || objective == "published",
                  "objective must be 'exact' or 'published', not '{}'", objective);
  options.objective = objective == "exact" ? Objective::exact : Objective::published;
  options.alternatives = alternatives;
  options.disabled = {disabled.begin(), disabled.end()};

  const std::set<std::string> names = inputs_in(plan);
  std::map<std::string, std::optional<Layout>> layouts;
  for (const auto& [key, value] : placed) {
    const auto name = key.cast<std::string>();
    TESSERA_REQUIRE(PlanError, names.contains(name), "cannot place input \"{}\": not found; {}",
                    name, instead_of(name, {names.begin(), names.end()}));
    layouts[name] = value.is_none() ? std::nullopt : std::optional(value.cast<Layout>());
  }
  options.placed = [&](const Plan& input) -> std::optional<Placement> {
    const auto found = layouts.find(name_of(input));
    if (found == layouts.end()) return ia::round_robin(count)(input);
    if (!found->second) return std::nullopt;
    return found->second->of(input, count);
  };
  const RunOptions run = run_options(true, count, 0, memory_limit, "");
  return watched([&] {
    const PlannedRun planned = plan_run({plan}, run, Results::kept, options);
    const std::optional<MemoryForecast> memory =
        with_memory ? planned.memory() : std::optional<MemoryForecast>();
    if (json) return to_json(planned.optimized(), memory);
    const std::string text = physical ? planned.optimized().explain() : plan.explain();
    return memory ? text + memory->to_string() + "\n" : text;
  });
}

void bind_sites(py::module_& module) {
  py::class_<Layout>(module, "Placement",
                     "A placement: which sites store which tuples of an input.")
      .def_static(
          "all", [] { return Layout{}; }, "Every site stores all tuples.")
      .def_static(
          "part",
          [](std::vector<int> components) {
            return Layout{Layout::Kind::part, std::move(components)};
          },
          py::arg("components"),
          "Tuples with equal values of these key components are at the same site. Sites take "
          "turns.")
      .def_static(
          "grid",
          [](std::vector<int> components, std::vector<int> extents) {
            TESSERA_REQUIRE(PlanError, components.size() == extents.size(),
                            "components and extents must have the same length, not {} and {}",
                            components.size(), extents.size());
            return Layout{Layout::Kind::grid, std::move(components), std::move(extents)};
          },
          py::arg("components"), py::arg("extents"),
          "The sites are a grid, each axis of which splits a key component.")
      .def("__repr__", [](const Layout& layout) { return "Placement " + layout.to_string(); });
}

}  // namespace tessera::python
