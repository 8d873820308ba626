#include "session/state.h"

namespace tessera {

StatementResult Session::State::explain(const sql::Explain& statement, std::string_view) {
  const auto* query = std::get_if<sql::QueryPtr>(&statement.statement->node);
  if (query == nullptr) lang::fail_type(statement.statement->begin, "EXPLAIN takes a query");
  session::Catalogue catalogue(database);
  const query::Unrolled unrolled = query::unroll({{*query}}, catalogue);
  std::vector<std::vector<std::string>> lines;
  std::string text = query::explain(*unrolled.instances.back().of->root);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    lines.push_back({text.substr(at, end - at)});
    at = end + 1;
  }
  return {"EXPLAIN", session::text_table({"plan"}, lines)};
}

}  // namespace tessera
