#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "query/rows/schema.h"
#include "tessera/plan.h"

namespace tessera::query {

struct Nothing {
  friend bool operator==(const Nothing&, const Nothing&) = default;
};

/// A tile that is read when somebody looks at it: rows that only pass through cost nothing.
struct StoredTile {
  std::shared_ptr<const TileSource> source;
  Key key;
  int column = 0;
  TileType type;
};

/// A value in a row: NULL, a tile (a scalar is one of rank 0), or a text. There may be millions, so
/// a scalar lies in the cell itself, and what is rarely there lies elsewhere.
class Cell {
 public:
  Cell() = default;
  Cell(Tile tile);                                     // NOLINT: on purpose
  Cell(std::string text) : value_(std::move(text)) {}  // NOLINT: on purpose
  Cell(StoredTile stored)                              // NOLINT: on purpose
      : value_(std::make_shared<const StoredTile>(std::move(stored))) {}
  static Cell of(std::int64_t number) { return Cell(Value(number)); }
  static Cell of(bool truth) { return Cell(Value(truth)); }
  static Cell of(double number) { return Cell(Value(number)); }

  bool is_null() const { return std::holds_alternative<Nothing>(value_); }
  bool is_text() const { return std::holds_alternative<std::string>(value_); }
  const std::string& text() const { return std::get<std::string>(value_); }
  Tile tile() const;  // read, if it has to be
  TileType type() const;
  bool is_scalar() const { return value_.index() >= first_scalar; }
  std::int64_t integer() const { return scalar<std::int64_t>(); }
  double number() const { return scalar<double>(); }
  bool truth() const { return !is_null() && scalar<bool>(); }
  const StoredTile* stored() const {
    const auto* stored = std::get_if<std::shared_ptr<const StoredTile>>(&value_);
    return stored != nullptr ? stored->get() : nullptr;
  }

  friend int compare(const Cell& a, const Cell& b);

 private:
  using Value = std::variant<Nothing, Tile, std::string, std::shared_ptr<const StoredTile>, double,
                             float, std::int64_t, bool>;
  static constexpr std::size_t first_scalar = 4;
  explicit Cell(Value value) : value_(std::move(value)) {}
  template <class T>
  T scalar() const;  // as C++ converts

  Value value_;
};

/// Below zero, zero or above, as a comes before b, is equal or comes after. NULL comes last, NaN
/// before it and equal to itself; tensors are compared by their shapes and then element by element.
int compare(const Cell& a, const Cell& b);
std::size_t hash_of(const Cell& cell);  // equal cells have equal ones

using Row = std::vector<Cell>;
struct RowHash {
  std::size_t operator()(const Row& row) const;
};
struct RowEqual {
  bool operator()(const Row& a, const Row& b) const;
};

/// A table as a list of rows: a multiset, whose order matters only after a sort.
struct Rows {
  Schema schema;
  std::vector<Row> rows;
};

}  // namespace tessera::query
