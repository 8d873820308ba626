#include "exec/chain_room.h"

#include <algorithm>
#include <numeric>

#include "kernel/densified.h"

namespace tessera::exec {
namespace {

double known_bytes(const TileType& type) {
  if (type.is_sparse()) return 0;
  auto bytes = static_cast<double>(size_of(type.dtype));
  for (const std::int64_t extent : type.shape) bytes *= static_cast<double>(extent);
  return bytes;
}

/// The tiles of one stage: their types, and what each holds that came to be in the chain.
struct Stage {
  std::vector<TileType> types;
  std::vector<double> held;

  double bytes() const { return std::accumulate(held.begin(), held.end(), 0.0); }
};

bool is_view(const Cost& cost) { return cost.flops == 0 && cost.bytes == 0; }

}  // namespace

double known_bytes(const std::vector<TileType>& types) {
  double bytes = 0;
  for (const TileType& type : types) bytes += known_bytes(type);
  return bytes;
}

std::vector<TileType> through(std::vector<TileType> types, const ia::Pipeline& stages,
                              Estimate& estimate) {
  double peak = 0;
  Stage now{std::move(types), {}};
  now.held.assign(now.types.size(), 0);  // what comes in is counted by others
  for (const std::vector<Apply>& stage : stages) {
    Stage next;
    for (const Apply& apply : stage) {
      std::vector<TileType> arguments;
      double held = 0;
      for (const int column : apply.columns) {
        arguments.push_back(now.types[column]);
        held += now.held[column];
      }
      const Cost cost = apply.cost(arguments);
      estimate.cost.flops += cost.flops;
      estimate.cost.bytes += cost.bytes;
      for (const TileType& made : apply.infer(arguments)) {
        next.held.push_back(is_view(cost) ? held : known_bytes(made));
        next.types.push_back(made);
      }
      const double densified = apply.kernel ? densified_bytes(*apply.kernel, arguments) : 0;
      peak = std::max(peak, now.bytes() + next.bytes() + densified);
    }
    now = std::move(next);
  }
  estimate.transient =
      std::max(estimate.transient, peak - std::max(now.bytes(), known_bytes(now.types)));
  return now.types;
}

}  // namespace tessera::exec
