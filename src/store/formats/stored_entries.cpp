#include "store/formats/stored_entries.h"

#include "base/check.h"

namespace tessera::store {

std::int64_t index_base(const FormatOptions& options, std::int64_t usual) {
  const std::int64_t base = options.index_base.value_or(static_cast<int>(usual));
  TESSERA_REQUIRE(TypeError, base == 0 || base == 1, "index_base must be 0 or 1, not {}", base);
  return base;
}

Index corner_of(const TensorReader& tensor, const Key& key) {
  const Shape& extents = tensor.type().columns[0].type.shape;
  Index corner(extents.size(), 0);
  for (int d = 0; d < corner.rank(); ++d) corner[d] = key[d] * extents[d];
  return corner;
}

void for_each_entry_tile(const TensorReader& tensor,
                         const std::function<void(const Tile&, const Index& corner)>& visit) {
  for (const Key& key : tensor.keys()) {
    const Tile tile = tensor.read(key);
    visit(tile.is_sparse() ? tile : tile.contiguous(), corner_of(tensor, key));
  }
}

}  // namespace tessera::store
