#include "tile/parcel_flaws.h"

#include <fmt/format.h>

#include <optional>

#include "tile/layout_flaws.h"
#include "tile/tile_rep.h"

namespace tessera {
namespace {

/// Takes the words of a description, of which there may be too few.
class Words {
 public:
  explicit Words(std::span<const std::int64_t> words) : words_(words) {}
  /// The next word, if it is within these bounds.
  std::optional<std::int64_t> next(std::int64_t least, std::int64_t most) {
    if (words_.empty() || words_.front() < least || words_.front() > most) return std::nullopt;
    const std::int64_t word = words_.front();
    words_ = words_.subspan(1);
    return word;
  }
  std::size_t left() const { return words_.size(); }

 private:
  std::span<const std::int64_t> words_;
};

std::optional<TileType> next_type(Words& words) {
  const auto dtype = words.next(0, static_cast<std::int64_t>(DType::boolean));
  const auto sparse = dtype ? words.next(0, max_rank) : std::nullopt;
  const auto rank = sparse ? words.next(*sparse, max_rank) : std::nullopt;
  if (!rank) return std::nullopt;
  TileType type{static_cast<DType>(*dtype), {}, static_cast<int>(*sparse)};
  for (std::int64_t d = 0; d < *rank; ++d) {
    const auto extent = words.next(0, INT64_MAX);
    if (!extent) return std::nullopt;
    type.shape.push_back(*extent);
  }
  return type;
}

std::size_t pieces_of(const TileType& type) {
  if (!type.is_sparse()) return 1;
  return type.dtype == DType::boolean ? 2 : 3;
}

/// Whether the pieces of a tile are as large as it needs them to be.
bool are_pieces(const TileType& type, std::span<const std::int64_t> sizes) {
  const auto width = static_cast<std::int64_t>(size_of(type.dtype));
  if (!type.is_sparse()) return sizes[0] == type.shape.elements() * width;
  const std::int64_t entries = sizes[1] / 8;
  return sizes[0] % 8 == 0 && sizes[0] / 8 - 1 == dense_extent(type) && sizes[1] % 8 == 0 &&
         (type.dtype == DType::boolean || (sizes[2] % width == 0 && sizes[2] / width == entries));
}

std::span<const std::int64_t> numbers_in(std::span<const std::byte> piece) {
  return {reinterpret_cast<const std::int64_t*>(piece.data()), piece.size() / 8};
}

}  // namespace

std::string flaw_of_parcel(std::span<const std::int64_t> description,
                           std::span<const std::int64_t> sizes) {
  Words words(description);
  const auto count = words.next(0, static_cast<std::int64_t>(description.size()));
  if (!count) return "the number of its tiles is missing";
  for (std::int64_t i = 0; i < *count; ++i) {
    const auto type = next_type(words);
    if (!type) return fmt::format("the type of its tile {} is not valid", i);
    if (std::string flaw = flaw_of(*type); !flaw.empty()) return flaw;
    if (sizes.size() < pieces_of(*type) || !are_pieces(*type, sizes))
      return fmt::format("its parts do not have the sizes of a tile of {}", to_string(*type));
    sizes = sizes.subspan(pieces_of(*type));
  }
  return words.left() == 0 && sizes.empty() ? "" : "it has extra data after its tiles";
}

std::string flaw_of_pieces(std::span<const std::int64_t> description,
                           const std::vector<std::span<std::byte>>& pieces) {
  Words words(description);
  const std::int64_t count = words.next(0, INT64_MAX).value();
  std::size_t piece = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const TileType type = next_type(words).value();
    std::string found;
    if (type.is_sparse())
      found = flaw_of_entries(type, numbers_in(pieces[piece]), numbers_in(pieces[piece + 1]));
    else if (type.dtype == DType::boolean)
      found = flaw_of_booleans(pieces[piece]);
    if (!found.empty())
      return fmt::format("its tile of {} is not valid: {}", to_string(type), found);
    piece += pieces_of(type);
  }
  return "";
}

}  // namespace tessera
