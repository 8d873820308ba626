#pragma once

#include <memory>

#include "exec/wire.h"
#include "tessera/tile.h"

namespace tessera::exec {

/// Tiles ready to be sent: what they are, in numbers, and where their memory is.
struct Parcel {
  Wire::Header description;
  std::vector<std::span<const std::byte>> pieces;
  std::shared_ptr<const void> keeps;  // the memory, while it is being sent
};
Parcel pack(const std::vector<Tile>& tiles);

/// Tiles on their way in: memory for the pieces, in order, and the tiles once it is filled.
class Unpacking {
 public:
  explicit Unpacking(std::span<const std::int64_t> description,
                     const std::vector<std::int64_t>& sizes);
  ~Unpacking();
  Unpacking(Unpacking&&) noexcept;
  std::vector<Wire::Memory> memory();
  std::vector<Tile> tiles() &&;

 private:
  struct Part;
  std::vector<Part> parts_;
};

}  // namespace tessera::exec
