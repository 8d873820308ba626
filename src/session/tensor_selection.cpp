#include "session/tensor_selection.h"

#include <algorithm>

#include "query/binding/bind_aggregate.h"
#include "query/tensors/constructor.h"

namespace tessera::session {
namespace {

using lang::fail_type;

/// Whether expressions over tensors can read what has this name.
bool names_tensor(const std::string& written, const Snapshot& snapshot,
                  StoredDefinitions& catalogue) {
  const auto kind = catalogue.kind(written);
  if (!kind) return false;
  switch (*kind) {
    case StoredDefinitions::Kind::tensor:
    case StoredDefinitions::Kind::virtual_tensor: return true;
    case StoredDefinitions::Kind::table: {
      const std::string name = catalogue.exact_name(written);
      return catalogue.has_tuples(name) && snapshot.info(name).shape.has_value();
    }
    case StoredDefinitions::Kind::view:
    case StoredDefinitions::Kind::versions: break;
  }
  return false;
}

bool reads_tensor(const sql::Expression& expression, const Snapshot& snapshot,
                  StoredDefinitions& catalogue) {
  const auto is_tensor = [&](const std::string& name) {
    return lang::at_location(expression.location,
                             [&] { return names_tensor(name, snapshot, catalogue); });
  };
  if (std::holds_alternative<std::shared_ptr<const sql::Comprehension>>(expression.node) ||
      std::holds_alternative<sql::Aggregation>(expression.node))
    return true;
  if (const auto* name = std::get_if<sql::Name>(&expression.node))
    return is_tensor(name->table.empty() ? name->column : name->table);
  if (const auto* indexed = std::get_if<sql::Versioned>(&expression.node))
    if (is_tensor(indexed->name)) return true;
  if (const auto* call = std::get_if<sql::Call>(&expression.node))
    if (query::is_constructor(call->name)) return true;
  const auto parts = query::parts_of(expression);
  return std::any_of(parts.begin(), parts.end(), [&](const sql::ExpressionPtr& part) {
    return reads_tensor(*part, snapshot, catalogue);
  });
}

}  // namespace

bool selects_tensors(const sql::Query& query, const Snapshot& snapshot,
                     StoredDefinitions& catalogue) {
  const auto* select = std::get_if<sql::Select>(&query.body);
  if (select == nullptr || !select->from.empty()) return false;
  const auto item =
      std::find_if(select->items.begin(), select->items.end(), [&](const sql::SelectItem& one) {
        return reads_tensor(*one.expression, snapshot, catalogue);
      });
  if (item == select->items.end()) return false;
  const bool is_plain = query.with.empty() && query.order_by.empty() && !query.limit &&
                        !query.offset && !select->distinct && !select->where &&
                        select->group_by.empty() && !select->having;
  if (!is_plain)
    fail_type(item->expression->location,
              "a SELECT of whole tensors has no clauses besides its items; to read the tiles of a "
              "tensor as rows, add FROM and its name");
  return true;
}

std::vector<PlannedTensor> selected_tensors(const sql::Query& query, const Snapshot& snapshot,
                                            StoredDefinitions& catalogue) {
  std::vector<PlannedTensor> all;
  for (const sql::SelectItem& item : std::get<sql::Select>(query.body).items)
    all.push_back(
        planned(query::column_name(item, all.size()), *item.expression, snapshot, catalogue));
  return all;
}

}  // namespace tessera::session
