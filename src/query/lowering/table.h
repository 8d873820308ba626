#pragma once

#include "query/rows/node.h"
#include "tessera/plan.h"

namespace tessera::query {

/// A table as a tensor relation. A column of integers may be a function of the key; all others are
/// payload columns. Parts of the key that no column shows tell rows apart that look the same: a
/// table is a multiset, while keys are unique.
struct Table {
  using ColumnOrigin = std::variant<KeyExpr, int>;  // a function of the key, or a payload column
  Schema schema;
  std::vector<ColumnOrigin> origins;  // of the columns
  Plan plan;
};

/// The numbers that stand for texts in tiles.
class Dictionary {
 public:
  virtual ~Dictionary() = default;
  virtual std::vector<std::int64_t> codes(const std::vector<std::string>& texts) = 0;
  virtual std::vector<std::string> texts(const std::vector<std::int64_t>& codes) = 0;
};

/// The rows of a table whose tuples are at hand, or can be read: tensors are read when somebody
/// looks at them. InternalError if it has still to be computed, Interrupted if it is to stop.
Rows rows_of(const Table& table, Dictionary& dictionary, const std::stop_token& stop = {});

/// Rows as a table. Columns of integers that can be parts of a key become so where there are
/// tensors beside them, or they are named in `keys`. TypeError if a value is NULL.
Table table_of(const Rows& rows, Dictionary& dictionary, const RunOptions& run,
               const std::vector<int>& keys = {});

/// Integers from 0 to below this can be a component of a key.
inline constexpr std::int64_t largest_component = std::int64_t{1} << 31;
/// The tiles that hold the cells of a column, texts as their codes.
std::vector<Tile> tiles_of(const Rows& rows, int column, Dictionary& dictionary);

/// Rows as tuples that can be added to a table whose tuples are at hand; none if its key has no
/// place for them.
std::optional<Relation> appended(const Table& table, const Rows& rows, Dictionary& dictionary);

/// The table whose key is just its columns of integers, as far as they tell its rows apart, and
/// whose payload is just its other columns: what is stored.
Table stored_form(const Table& table);

}  // namespace tessera::query
