#include "query/versions/rule_columns.h"

#include "lang/sql/printer.h"

namespace tessera::query {
namespace {

bool is_number(const Type& type) { return !is_tensor(type) && !is_text(type) && !is_boolean(type); }

bool fit(const Type& a, const Type& b) {
  if (is_tensor(a) || is_tensor(b))
    return is_tensor(a) && is_tensor(b) && a.shape.size() == b.shape.size();
  return (is_number(a) && is_number(b)) || a.kind == b.kind;
}

bool agree(const RuleColumns& a, const RuleColumns& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t c = 0; c < a.size(); ++c) {
    if (!same_name(a[c].name, b[c].name)) return false;
    if (a[c].type && b[c].type && !fit(*a[c].type, *b[c].type)) return false;
  }
  return true;
}

std::string text_of(const RuleColumns& columns) {
  std::string text;
  for (const RuleColumn& column : columns) {
    text += (text.empty() ? "" : ", ") + column.name;
    if (column.type) text += " " + sql::to_string(*column.type);
  }
  return "(" + text + ")";
}

}  // namespace

std::optional<RuleColumns> columns_told(const VersionRule& rule) {
  RuleColumns columns;
  for (const sql::ColumnDefinition& column : rule.columns())
    columns.push_back({column.name, column.type});
  if (!columns.empty()) return columns;
  const auto* select = std::get_if<sql::Select>(&rule.query().body);
  if (select == nullptr) return std::nullopt;
  for (const sql::SelectItem& item : select->items) {
    if (item.alias.empty()) return std::nullopt;  // the binder finds a name
    columns.push_back({item.alias});
  }
  return columns;
}

RuleColumns columns_of(const Schema& schema) {
  RuleColumns columns;
  for (const Column& column : schema) columns.push_back({column.name, column.type});
  return columns;
}

void refuse_disagreement(const VersionRule& first, const RuleColumns& columns_of_first,
                         const VersionRule& second, const RuleColumns& columns_of_second,
                         Location location) {
  if (agree(columns_of_first, columns_of_second)) return;
  lang::fail_type(
      location,
      "{} has columns {} but {} has columns {}; all versions of a table must have the same "
      "columns with compatible types",
      first.head(), text_of(columns_of_first), second.head(), text_of(columns_of_second));
}

}  // namespace tessera::query
