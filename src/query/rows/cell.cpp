#include "query/rows/cell.h"

#include <cmath>

#include "base/check.h"
#include "tile/dispatch.h"

namespace tessera::query {
namespace {

template <class T>
int compare_numbers(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    if (std::isnan(a) || std::isnan(b)) return int{std::isnan(a)} - int{std::isnan(b)};
  return a < b ? -1 : (b < a ? 1 : 0);
}

template <class T>
int compare_elements(const Tile& a, const Tile& b) {
  const Tile x = a.contiguous(), y = b.contiguous();
  for (std::int64_t i = 0; i < x.elements(); ++i)
    if (const int order = compare_numbers(x.data<T>()[i], y.data<T>()[i])) return order;
  return 0;
}

int compare_tiles(const Tile& a, const Tile& b) {
  if (a.rank() == 0 && b.rank() == 0 && a.dtype() != b.dtype())
    return compare_numbers(a.at<double>({}), b.at<double>({}));
  if (const int order = compare_numbers(a.rank(), b.rank())) return order;
  for (int d = 0; d < a.rank(); ++d)
    if (const int order = compare_numbers(a.shape()[d], b.shape()[d])) return order;
  if (a.dtype() != b.dtype()) return a.dtype() < b.dtype() ? -1 : 1;
  return visit_dtype(a.dtype(), [&]<class T>() { return compare_elements<T>(a, b); });
}

template <class T>
constexpr bool is_scalar_type = std::is_arithmetic_v<T>;

}  // namespace

static_assert(sizeof(Cell) <= 40);

Cell::Cell(Tile tile) {
  if (tile.rank() > 0)
    value_ = std::move(tile);
  else
    visit_dtype(tile.dtype(), [&]<class T>() { value_ = tile.at<T>({}); });
}

template <class T>
T Cell::scalar() const {
  if (const T* value = std::get_if<T>(&value_)) return *value;
  return tile().at<T>({});
}
template double Cell::scalar() const;
template std::int64_t Cell::scalar() const;
template bool Cell::scalar() const;

Tile Cell::tile() const {
  if (is_scalar())
    return std::visit(
        []<class T>(const T& value) -> Tile {
          if constexpr (is_scalar_type<T>) return Tile::scalar(value);
          throw InternalError("a scalar that is none");
        },
        value_);
  if (const StoredTile* at = stored()) return (*at->source)(at->key).at(at->column);
  TESSERA_INVARIANT(std::holds_alternative<Tile>(value_), "a cell that is no tile");
  return std::get<Tile>(value_);
}

TileType Cell::type() const {
  if (stored() != nullptr) return stored()->type;
  return std::visit(
      [&]<class T>(const T&) {
        if constexpr (is_scalar_type<T>) return TileType{dtype_of<T>, {}};
        return tile().type();
      },
      value_);
}

int compare(const Cell& a, const Cell& b) {
  if (a.is_null() || b.is_null()) return int{a.is_null()} - int{b.is_null()};
  if (a.is_text() && b.is_text()) return a.text().compare(b.text());
  if (a.is_scalar() && a.value_.index() == b.value_.index())
    return std::visit(
        [&]<class T>(const T& left) {
          if constexpr (is_scalar_type<T>) return compare_numbers(left, std::get<T>(b.value_));
          return 0;
        },
        a.value_);
  return compare_tiles(a.tile(), b.tile());
}

std::size_t hash_of(const Cell& cell) {
  if (cell.is_null()) return 0;
  if (cell.is_text()) return std::hash<std::string>{}(cell.text());
  if (cell.is_scalar()) return std::hash<double>{}(cell.number() + 0.0);
  const Tile tile = cell.tile();
  // Of tensors the shape is enough to tell most apart; numbers of different dtypes may be equal.
  std::size_t hash = static_cast<std::size_t>(tile.rank());
  if (tile.rank() == 0) return std::hash<double>{}(tile.at<double>({}) + 0.0);  // a stored one
  for (std::int64_t extent : tile.shape()) hash = hash * 31 + static_cast<std::size_t>(extent);
  return hash;
}

std::size_t RowHash::operator()(const Row& row) const {
  std::size_t hash = row.size();
  for (const Cell& cell : row) hash = hash * 1000003 ^ hash_of(cell);
  return hash;
}

bool RowEqual::operator()(const Row& a, const Row& b) const {
  for (std::size_t i = 0; i < a.size(); ++i)
    if (compare(a[i], b[i]) != 0) return false;
  return true;
}

}  // namespace tessera::query
