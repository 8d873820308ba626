#pragma once

#include <atomic>
#include <memory>
#include <mutex>

#include "tessera/kernel.h"
#include "tessera/run.h"

// Plans whose inputs are read, to be run in little memory.

namespace tessera {

/// A matrix whose tiles are made anew whenever they are asked for, as a file's would be read.
inline Plan from_source(std::int64_t extent, std::int64_t tile, std::uint64_t seed,
                        std::shared_ptr<std::atomic<int>> reads = nullptr) {
  const std::int64_t tiles = (extent + tile - 1) / tile;
  const RelationType type{{{"", {DType::f64, {tile, tile}}}}, {tiles, tiles}};
  return Plan::input(type, [=](const Key& key) {
    if (reads) ++*reads;
    return std::vector<Tile>{random_uniform(
        DType::f64, {tile, tile}, seed + static_cast<std::uint64_t>(key[0] * 1000 + key[1]))};
  });
}

/// The same with sparse tiles, so full that nobody would guess it.
inline Plan from_sparse_source(std::int64_t extent, std::int64_t tile, double density) {
  const std::int64_t tiles = extent / tile;
  const TileType type{DType::f64, {tile, tile}, 1};
  return Plan::input({{{"", type}}, {tiles, tiles}}, [=](const Key& key) {
    return std::vector<Tile>{
        random_sparse(type, static_cast<std::uint64_t>(key[0] * 1000 + key[1]), density)};
  });
}

inline Plan product(const Plan& a, const Plan& b) {
  return a.join(b, {1}, {0}, "matmul").aggregate({0, 2}, "add");
}

inline RunOptions within(std::int64_t bytes, int threads = 2) {
  RunOptions options;
  options.memory_limit = bytes;
  options.threads = threads;
  return options;
}

inline constexpr std::int64_t tile_bytes = std::int64_t{32} * 32 * 8;

/// Takes results and forgets them.
inline const TupleSink nowhere = [](std::size_t, const Key&, const std::vector<Tile>&) {};

}  // namespace tessera
