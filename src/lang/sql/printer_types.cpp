#include <fmt/format.h>

#include "base/check.h"
#include "lang/sql/ast.h"

namespace tessera::sql {
namespace {

std::string tensor_text(const Type& type) {
  const int rank = type.shape.rank();
  std::string text = rank == 1 ? "VECTOR" : rank == 2 ? "MATRIX" : "TENSOR";
  for (const std::int64_t size : type.shape) text += fmt::format("[{}]", size);
  if (rank == 0) text += "[]";
  switch (type.element) {
    case DType::f32: return text + " OF FLOAT";
    case DType::f64: return text;
    case DType::i64: return text + " OF BIGINT";
    case DType::boolean: return text + " OF BOOLEAN";
  }
  return text;
}

}  // namespace

std::string to_string(const Type& type) {
  switch (type.kind) {
    case Type::Kind::integer: return "INT";
    case Type::Kind::bigint: return "BIGINT";
    case Type::Kind::real: return "FLOAT";
    case Type::Kind::double_precision: return "DOUBLE";
    case Type::Kind::boolean: return "BOOLEAN";
    case Type::Kind::text: return "TEXT";
    case Type::Kind::tensor: return tensor_text(type);
  }
  TESSERA_INVARIANT(false, "the type {} has no name", static_cast<int>(type.kind));
  return {};
}

}  // namespace tessera::sql
