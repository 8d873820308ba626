#include "query/references.h"

#include "query/bind_aggregate.h"

namespace tessera::query {
namespace {

struct Collector {
  std::vector<const sql::TableReference*> found;

  void expression(const sql::ExpressionPtr& written) {
    if (!written) return;
    if (const auto* subquery = std::get_if<sql::ScalarSubquery>(&written->node))
      query(*subquery->query);
    for (const sql::ExpressionPtr& part : parts_of(*written)) expression(part);
  }

  void query(const sql::Query& written) {
    for (const sql::CommonTable& table : written.with) query(*table.query);
    if (const auto* both = std::get_if<sql::UnionOf>(&written.body)) {
      query(*both->left);
      query(*both->right);
    } else if (const auto* select = std::get_if<sql::Select>(&written.body)) {
      for (const sql::TableReference& reference : select->from) {
        if (const auto* derived = std::get_if<sql::Derived>(&reference.source))
          query(*derived->query);
        else
          found.push_back(&reference);
        expression(reference.on);
      }
      expression(select->where);
      for (const sql::SelectItem& item : select->items) expression(item.expression);
      for (const sql::ExpressionPtr& group : select->group_by) expression(group);
      expression(select->having);
    }
    for (const sql::OrderItem& item : written.order_by) expression(item.expression);
  }
};

}  // namespace

std::vector<const sql::TableReference*> references_in(const sql::Query& query) {
  Collector collector;
  collector.query(query);
  return collector.found;
}

}  // namespace tessera::query
