#include "session/tensor_kind.h"

#include <fmt/format.h>

namespace tessera::session {

std::string tensor_kind(const TileType& type, const std::optional<std::int64_t>& nonzeros) {
  const std::string text = to_string(TileType{type.dtype, type.shape});
  if (!nonzeros) return text + ", dense";
  return fmt::format("{}, sparse, {} nonzero{}", text, *nonzeros, *nonzeros == 1 ? "" : "s");
}

}  // namespace tessera::session
