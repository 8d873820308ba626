#include "query/rows/schema.h"

#include <algorithm>
#include <cctype>

namespace tessera::query {

bool is_tensor(const Type& type) { return type.kind == Type::Kind::tensor; }
bool is_integer(const Type& type) {
  return type.kind == Type::Kind::integer || type.kind == Type::Kind::bigint;
}
bool is_text(const Type& type) { return type.kind == Type::Kind::text; }
bool is_boolean(const Type& type) { return type.kind == Type::Kind::boolean; }

TileType tile_type(const Type& type) {
  switch (type.kind) {
    case Type::Kind::integer:
    case Type::Kind::bigint:
    case Type::Kind::text: return {DType::i64, {}};
    case Type::Kind::real: return {DType::f32, {}};
    case Type::Kind::double_precision: return {DType::f64, {}};
    case Type::Kind::boolean: return {DType::boolean, {}};
    case Type::Kind::tensor: break;
  }
  return {type.element, type.shape};
}

int bits_of(const Type& type) { return type.kind == Type::Kind::integer ? 32 : 64; }

Type sql_type(const TileType& tile) {
  if (tile.shape.rank() > 0) return {Type::Kind::tensor, tile.dtype, tile.shape};
  switch (tile.dtype) {
    case DType::i64: return {Type::Kind::bigint};
    case DType::f32: return {Type::Kind::real};
    case DType::boolean: return {Type::Kind::boolean};
    case DType::f64: break;
  }
  return {Type::Kind::double_precision};
}

bool same_name(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) ==
           std::tolower(static_cast<unsigned char>(y));
  });
}

}  // namespace tessera::query
