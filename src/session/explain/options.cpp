#include "session/explain/options.h"

#include "query/binding/binder.h"

namespace tessera::session {
namespace {

using lang::fail_type;

ExplainOptions::Format format_of(const sql::Expression& value) {
  std::string format;
  if (const auto* word = std::get_if<sql::Name>(&value.node)) format = word->column;
  if (const auto* literal = std::get_if<sql::Literal>(&value.node))
    if (const auto* text = std::get_if<std::string>(&literal->value)) format = *text;
  if (query::same_name(format, "text")) return ExplainOptions::Format::text;
  if (query::same_name(format, "json")) return ExplainOptions::Format::json;
  if (query::same_name(format, "dot")) return ExplainOptions::Format::dot;
  fail_type(value.location, "FORMAT must be TEXT, JSON or DOT");
}

int sites_of(const sql::Expression& value) {
  const auto bound = query::bind_constant(value, {});
  const bool is_number = query::is_integer(bound->type);
  const query::Cell number = is_number ? query::evaluate(*bound, {}, {}) : query::Cell();
  const std::int64_t sites = number.is_null() ? 0 : number.integer();
  if (sites < 1 || sites > 65536) fail_type(value.location, "SITES must be between 1 and 65536");
  return static_cast<int>(sites);
}

bool is_on(const sql::Expression& value) {
  if (const auto* word = std::get_if<sql::Name>(&value.node))
    if (query::same_name(word->column, "on") || query::same_name(word->column, "off"))
      return query::same_name(word->column, "on");
  if (const auto* literal = std::get_if<sql::Literal>(&value.node))
    if (const auto* truth = std::get_if<bool>(&literal->value)) return *truth;
  fail_type(value.location, "VERBOSE must be ON or OFF");
}

}  // namespace

ExplainOptions explain_options(const sql::Options& written) {
  ExplainOptions options;
  for (const auto& [name, value] : written) {
    if (query::same_name(name, "format"))
      options.format = format_of(*value);
    else if (query::same_name(name, "sites"))
      options.sites = sites_of(*value);
    else if (query::same_name(name, "verbose"))
      options.verbose = is_on(*value);
    else
      fail_type(value->location,
                "EXPLAIN option \"{}\" not found; available: FORMAT, SITES, VERBOSE", name);
  }
  return options;
}

}  // namespace tessera::session
