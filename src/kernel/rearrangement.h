#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tessera/kernel.h"

namespace tessera {

/// Whether a rearrangement of dense and of sparse tiles copies elements or makes a view.
enum class Copies { never, if_sparse, always };

/// A kernel of one argument that moves elements about and computes nothing.
struct Rearrangement {
  std::string name;
  std::string description;
  Copies copies = Copies::always;
  TileType (*infer)(const TileType&, const Params&) = nullptr;
  Tile (*run)(const Tile&, const Params&) = nullptr;
  std::vector<Parameter> parameters = {};
  std::vector<std::string> aliases = {};
};
Kernel rearrangement_kernel(const Rearrangement& rearrangement, Properties properties);

/// What holds if each element of the result is an element of the argument or zero, whatever the
/// values are: a rearrangement of a sum is the sum of the rearrangements, and so for the others.
Properties moves_elements();

/// An extent that follows from what a user chose; TypeError if no tile can have it.
std::int64_t checked_extent(const char* kernel, __int128 extent, const TileType& type);

/// cast, which moves nothing but goes through the same forms.
Kernel cast_kernel();

/// The rearrangements with a larger result: concat, tile and pad.
std::vector<Kernel> enlargement_kernels();

/// Some positions of many neighbours.
Kernel assembly_kernel();

}  // namespace tessera
