#include "query/lowering/null_marks.h"

#include <string>

namespace tessera::query {
namespace {

/// What stands where a NULL is.
Cell stand_in(const Type& type) {
  return is_text(type) ? Cell(std::string()) : Cell(Tile::zeros(tile_type(type)));
}

}  // namespace

std::vector<int> columns_with_null(const Rows& rows) {
  std::vector<bool> has(rows.schema.size(), false);
  for (const Row& row : rows.rows)
    for (std::size_t c = 0; c < row.size(); ++c)
      if (row[c].is_null()) has[c] = true;
  std::vector<int> columns;
  for (std::size_t c = 0; c < has.size(); ++c)
    if (has[c]) columns.push_back(static_cast<int>(c));
  return columns;
}

Rows marked(const Rows& rows) {
  const std::vector<int> columns = columns_with_null(rows);
  Rows result = rows;
  for (const int c : columns)
    result.schema.push_back({std::to_string(c), {sql::Type::Kind::boolean}});
  for (Row& row : result.rows)
    for (const int c : columns) {
      row.push_back(Cell::of(row[c].is_null()));
      if (row[c].is_null()) row[c] = stand_in(rows.schema[c].type);
    }
  return result;
}

Rows unmarked(const Rows& rows, const Schema& schema) {
  Rows result{schema, rows.rows};
  for (Row& row : result.rows) {
    for (std::size_t mark = schema.size(); mark < rows.schema.size(); ++mark)
      if (row[mark].truth()) row[std::stoul(rows.schema[mark].name)] = Cell();
    row.resize(schema.size());
  }
  return result;
}

}  // namespace tessera::query
