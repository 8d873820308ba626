#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tessera/tile.h"

namespace tessera {

/// Tiles ready to be sent or stored: what they are, in numbers, and where their memory is.
struct Parcel {
  std::vector<std::int64_t> description;
  std::vector<std::span<const std::byte>> pieces;
  std::shared_ptr<const void> keeps;  // the memory, while the pieces are in use
};
Parcel pack(const std::vector<Tile>& tiles);

/// Tiles on their way in: memory for the pieces, in order, and the tiles once it is filled.
class Unpacking {
 public:
  explicit Unpacking(std::span<const std::int64_t> description,
                     const std::vector<std::int64_t>& sizes);
  ~Unpacking();
  Unpacking(Unpacking&&) noexcept;
  std::vector<std::span<std::byte>> memory();
  std::vector<Tile> tiles() &&;

 private:
  struct Part;
  std::vector<Part> parts_;
};

}  // namespace tessera
