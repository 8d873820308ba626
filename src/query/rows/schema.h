#pragma once

#include <string>
#include <vector>

#include "lang/sql/ast.h"
#include "tessera/tile.h"

namespace tessera::query {

using sql::Type;

inline const Type boolean_type{Type::Kind::boolean};
inline const Type bigint_type{Type::Kind::bigint};

/// A column of a table or of a query's result.
struct Column {
  std::string name;
  Type type;
  std::string table = {};  // the name or alias by which a query may qualify it
};
using Schema = std::vector<Column>;

bool is_tensor(const Type& type);
bool is_integer(const Type& type);
bool is_text(const Type& type);
bool is_boolean(const Type& type);

/// The tile that holds a value of this type: a scalar is a tile of rank 0, a text its code.
TileType tile_type(const Type& type);
/// Of integers, how many bits one has: tiles have 64 for all.
int bits_of(const Type& type);
/// The SQL type of what a kernel yields.
Type sql_type(const TileType& tile);

bool same_name(std::string_view a, std::string_view b);  // SQL's names do not tell case apart

}  // namespace tessera::query
