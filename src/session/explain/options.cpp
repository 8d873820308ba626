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
  const query::Cell number =
      query::is_integer(bound->type) ? query::evaluate(*bound, {}, {}) : query::Cell();
  if (number.is_null()) fail_type(value.location, "SITES must be an integer");
  if (const std::string why = sites_refused(number.integer()); !why.empty())
    fail_type(value.location, "{}", why);
  return static_cast<int>(number.integer());
}

bool is_on(const sql::Expression& value) {
  const std::optional<bool> on = sql::on_or_off(value);
  if (!on) fail_type(value.location, "VERBOSE must be ON or OFF");
  return *on;
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
                "EXPLAIN option \"{}\" not found; available: ANALYZE, FORMAT, SITES, VERBOSE",
                name);
  }
  return options;
}

}  // namespace tessera::session
