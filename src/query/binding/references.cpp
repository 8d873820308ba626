#include "query/binding/references.h"

#include <algorithm>

#include "query/binding/bind_aggregate.h"

namespace tessera::query {
namespace {

class Collector {
 public:
  std::vector<const sql::TableReference*> found;

  void expression(const sql::ExpressionPtr& written) {
    if (!written) return;
    if (const auto* subquery = std::get_if<sql::ScalarSubquery>(&written->node))
      query(*subquery->query);
    for (const sql::ExpressionPtr& part : parts_of(*written)) expression(part);
  }

  void query(const sql::Query& written) {
    const std::size_t outside = common_.size();
    for (const sql::CommonTable& table : written.with) {
      query(*table.query);
      common_.push_back(table.name);
    }
    if (const auto* both = std::get_if<sql::UnionOf>(&written.body)) {
      query(*both->left);
      query(*both->right);
    } else if (const auto* select = std::get_if<sql::Select>(&written.body)) {
      for (const sql::TableReference& reference : select->from) {
        if (const auto* derived = std::get_if<sql::Derived>(&reference.source))
          query(*derived->query);
        else if (!is_common(reference))
          found.push_back(&reference);
        expression(reference.on);
      }
      expression(select->where);
      for (const sql::SelectItem& item : select->items) expression(item.expression);
      for (const sql::ExpressionPtr& group : select->group_by) expression(group);
      expression(select->having);
    }
    for (const sql::OrderItem& item : written.order_by) expression(item.expression);
    common_.resize(outside);
  }

 private:
  /// Whether it names what a WITH around it defines.
  bool is_common(const sql::TableReference& reference) const {
    const auto* named = std::get_if<sql::TableName>(&reference.source);
    if (named == nullptr || !named->indices.empty()) return false;
    return std::any_of(common_.begin(), common_.end(),
                       [&](const std::string& name) { return same_name(name, named->name); });
  }

  std::vector<std::string> common_;
};

}  // namespace

std::vector<const sql::TableReference*> references_in(const sql::Query& query) {
  Collector collector;
  collector.query(query);
  return collector.found;
}

}  // namespace tessera::query
