#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "query/schema.h"
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

/// A value in a row: NULL, a tile (a scalar is one of rank 0), or a text.
class Cell {
 public:
  Cell() = default;
  Cell(Tile tile) : value_(std::move(tile)) {}            // NOLINT: on purpose
  Cell(std::string text) : value_(std::move(text)) {}     // NOLINT: on purpose
  Cell(StoredTile stored) : value_(std::move(stored)) {}  // NOLINT: on purpose
  static Cell of(std::int64_t number) { return Tile::scalar(number); }
  static Cell of(bool truth) { return Tile::scalar(truth); }
  static Cell of(double number) { return Tile::scalar(number); }

  bool is_null() const { return std::holds_alternative<Nothing>(value_); }
  bool is_text() const { return std::holds_alternative<std::string>(value_); }
  const std::string& text() const { return std::get<std::string>(value_); }
  Tile tile() const;  // read, if it has to be
  TileType type() const;
  std::int64_t integer() const { return tile().at<std::int64_t>({}); }
  double number() const { return tile().at<double>({}); }
  bool truth() const { return !is_null() && tile().at<bool>({}); }
  const StoredTile* stored() const { return std::get_if<StoredTile>(&value_); }

 private:
  std::variant<Nothing, Tile, std::string, StoredTile> value_;
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
