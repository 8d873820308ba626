#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tessera {

// What is wrong with a parcel (tile/parcel.h) that somebody else has written, as a phrase for
// people; empty if nothing is. An Unpacking relies on both.

/// Of its description, and of the sizes of its pieces in bytes.
std::string flaw_of_parcel(std::span<const std::int64_t> description,
                           std::span<const std::int64_t> sizes);
/// Of what is in the pieces, where these have no flaw.
std::string flaw_of_pieces(std::span<const std::int64_t> description,
                           const std::vector<std::span<std::byte>>& pieces);

}  // namespace tessera
