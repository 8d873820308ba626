#include "query/loops/program_check.h"

#include <algorithm>

#include "lang/location.h"
#include "query/binding/bind_aggregate.h"

namespace tessera::query {
namespace {

void add_indexed(const sql::Expression& expression, std::set<std::string>& into) {
  if (const auto* indexed = std::get_if<sql::Versioned>(&expression.node))
    into.insert(indexed->name);
  for (const sql::ExpressionPtr& part : parts_of(expression)) add_indexed(*part, into);
}

void collect_names(const sql::Steps& steps, ProgramNames& into) {
  for (const sql::StepPtr& step : steps) {
    for (const sql::ExpressionPtr& part : expressions_of(*step)) add_indexed(*part, into.indexed);
    if (const auto* assignment = std::get_if<sql::Assignment>(&step->node)) {
      into.assigned.insert(assignment->name);
      if (!assignment->indices.empty()) into.indexed.insert(assignment->name);
    }
    if (const auto* variable = std::get_if<sql::Variable>(&step->node)) {
      into.assigned.insert(variable->name);
      into.declared.insert(variable->name);
      if (!variable->extents.empty()) into.indexed.insert(variable->name);
    }
    for (const sql::Steps* block : blocks_of(*step)) collect_names(*block, into);
  }
}

/// What is assigned in these steps, from the one with this number on.
std::set<std::string> assigned_from(const sql::Steps& steps, std::size_t first) {
  ProgramNames names;
  collect_names({steps.begin() + static_cast<std::ptrdiff_t>(first), steps.end()}, names);
  return names.assigned;
}

void refuse_ambiguous(const std::string& name, lang::Location location, const ProgramNames& names,
                      const std::vector<std::string>& around) {
  if (name.starts_with("__"))
    lang::fail_type(location, "\"{}\" begins with __, which names in a program do not", name);
  if (names.assigned.contains(name))
    lang::fail_type(location, "\"{}\" is an array of this program; choose another name", name);
  if (std::find(around.begin(), around.end(), name) != around.end())
    lang::fail_type(location, "\"{}\" has a meaning here; choose another name", name);
}

void check_steps(const sql::Steps& steps, const ProgramNames& names,
                 std::vector<std::string> around) {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const sql::Step& step = *steps[i];
    if (const auto* definition = std::get_if<sql::Definition>(&step.node)) {
      refuse_ambiguous(definition->name, step.location, names, around);
      around.push_back(definition->name);
      std::set<std::string> read;
      add_names(*definition->value, read);
      for (const std::string& name : assigned_from(steps, i + 1))
        if (read.contains(name))
          lang::fail_type(step.location,
                          "\"{}\" changes while \"{}\" stands for a value of it; use {} := ...",
                          name, definition->name, definition->name);
    }
    std::vector<std::string> inside = around;
    if (const auto* loop = std::get_if<sql::ForLoop>(&step.node)) {
      refuse_ambiguous(loop->variable, step.location, names, around);
      inside.push_back(loop->variable);
    }
    for (const sql::Steps* block : blocks_of(step)) check_steps(*block, names, inside);
  }
}

}  // namespace

ProgramNames checked_names(const sql::Program& program) {
  ProgramNames names;
  collect_names(program.steps, names);
  check_steps(program.steps, names, {});
  return names;
}

}  // namespace tessera::query
