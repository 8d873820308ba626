#pragma once

#include <chrono>
#include <cstdio>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "tessera/tessera.h"

// What programs that run under mpirun have in common.

namespace tasks {

/// Returns when every process has called it: a sum, made by one of them, that all wait for.
inline void wait_for_all() {
  const int sites = tessera::cluster_info().size;
  if (sites == 1) return;
  const tessera::RelationType type{{{"", {tessera::DType::f64, {}, 0}}}, tessera::Key{sites}};
  const tessera::Plan ones = tessera::Plan::input(type, [](const tessera::Key&) {
    return std::vector<tessera::Tile>{tessera::Tile::scalar(1.0)};
  });
  const tessera::ia::Plan input =
      tessera::ia::Plan::input(ones, tessera::Placement::part({0}, type.frontier, sites));
  const tessera::ia::Plan sum = input.shuffle(tessera::Placement({}, sites)).aggregate({}, {"add"});
  tessera::run_in_place({sum.broadcast()});
}

/// An input whose tiles are made from their keys, by those who hold them, and kept: so that
/// reading or generating them is not part of what is timed.
inline tessera::Plan made_input(const std::string& name, const tessera::RelationType& type,
                                std::uint64_t seed) {
  struct Kept {  // which several threads ask for at once
    std::mutex mutex;
    std::map<tessera::Key, tessera::Tile> tiles;
  };
  auto kept = std::make_shared<Kept>();
  return tessera::Plan::input(
      type,
      [kept, type, seed](const tessera::Key& key) {
        const std::lock_guard lock(kept->mutex);
        tessera::Tile& tile = kept->tiles[key];
        if (tile.rank() == 0) {
          std::uint64_t own = seed;
          for (std::int64_t component : key)
            own = own * 1000003 + static_cast<std::uint64_t>(component);
          const tessera::TileType& wanted = type.columns[0].type;
          tile = tessera::random_uniform(wanted.dtype, wanted.shape, own, -1, 1);
        }
        return std::vector<tessera::Tile>{tile};
      },
      name);
}

/// Whether an error only repeats what another process has said: "rank 2: ...".
inline bool is_repeated(const std::string& message) {
  const std::size_t number = message.find_first_not_of("0123456789", 5);
  return message.starts_with("rank ") && number != 5 && number != std::string::npos &&
         message[number] == ':';
}

/// Runs a program's body; an error is printed by the process where it happened.
template <class Body>
int program(Body&& body) {
  try {
    body();
    return 0;
  } catch (const tessera::ClusterError& error) {
    if (!is_repeated(error.what())) std::fprintf(stderr, "%s: %s\n", error.kind(), error.what());
  } catch (const tessera::Error& error) {
    std::fprintf(stderr, "%s: %s\n", error.kind(), error.what());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
  }
  return 1;
}

}  // namespace tasks
