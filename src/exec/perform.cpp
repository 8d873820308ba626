#include "exec/perform.h"

#include "ia/pipeline.h"
#include "kernel/elementwise_loops.h"
#include "tile/tile_rep.h"

namespace tessera::exec {
namespace {

using Tiles = std::vector<Tile>;

template <class F>
auto at_step(const TaskGraph& graph, int op, const Key& key, F&& body) {
  return at_key([&] { return describe_step(graph.steps[op]); }, key, std::forward<F>(body));
}

template <class Op>
const Op& operator_at(const TaskGraph& graph, int op) {
  return std::get<Op>(operator_of(graph.steps[op]));
}

/// Tiles through a pipeline, by implementations for the device.
Tiles through(Tiles tiles, const ia::Pipeline& stages, Device device) {
  if (device == Device::cpu) return ia::through(std::move(tiles), stages);
  for (const std::vector<Apply>& stage : stages) {
    Tiles next;
    for (const Apply& apply : stage) {
      Tiles arguments;
      for (const int column : apply.columns) arguments.push_back(tiles[column]);
      if (apply.kernel) arguments = apply.kernel->run(arguments, device);
      for (Tile& made : arguments) next.push_back(std::move(made));
    }
    tiles = std::move(next);
  }
  return tiles;
}

Tiles map(const TaskGraph& graph, const Task& task, Tiles tiles, Device device) {
  const ia::Branch& branch = operator_at<ia::Map>(graph, task.op).branches[task.branch];
  if (branch.cut)
    for (Tile& tile : tiles)
      tile = cut_piece(tile, branch.cut->dimension, branch.cut->size, branch.cut->piece);
  return at_step(graph, task.op, graph.keys[task.key],
                 [&] { return through(std::move(tiles), branch.arrays, device); });
}

/// Errors of a product are the join's, be it part of another operator.
template <class F>
auto at_join(const TaskGraph& graph, const Task& task, F&& body) {
  const ia::Plan& step = graph.steps[task.op];
  const auto* both = std::get_if<ia::JoinAggregate>(&operator_of(step));
  return at_key([&] { return describe_step(both != nullptr ? both->aggregate.input : step); },
                graph.keys[task.key], std::forward<F>(body));
}

const ia::Join& join_at(const TaskGraph& graph, const Task& task) {
  return *ia::join_of(operator_of(graph.steps[task.op]));
}

const ia::Aggregate& aggregate_at(const TaskGraph& graph, const Task& task) {
  return *ia::aggregate_of(operator_of(graph.steps[task.op]));
}

Tiles product(const TaskGraph& graph, const Task& task, const Tiles& left, const Tiles& right,
              Device device) {
  Tiles columns = left;
  columns.insert(columns.end(), right.begin(), right.end());
  return at_join(graph, task, [&] {
    return through(std::move(columns), join_at(graph, task).projection, device);
  });
}

bool may_write(const Tile& tile) {
  const Tile::Rep& rep = tile.rep();
  return rep.ours && rep.contiguous && tile.is_unique() && rep.owner.use_count() == 1;
}

Tile fold(const KernelCall& kernel, Tile so_far, const Tile& next, Device device) {
  if (device != Device::cpu) {
    require_same_shape(kernel, so_far.type(), next.type());
    return kernel.run({{so_far, next}}, device).front();
  }
  // Sums are taken in place; to copy an accumulator that others hold would gain nothing.
  if (!kernel.properties().addition || so_far.is_sparse() || so_far.type() != next.type() ||
      !may_write(so_far))
    return fold_tiles(kernel, so_far, next);
  MutableTile sum = MutableTile::take(std::move(so_far));
  add_into(sum, next);
  return std::move(sum).publish();
}

/// `key` is that of the tuple to be folded.
Tiles fold(const TaskGraph& graph, const Task& task, const Key& key, Tiles so_far,
           const Tiles& next, Device device) {
  const auto& kernels = aggregate_at(graph, task).kernels;
  return at_step(graph, task.op, key, [&] {
    for (std::size_t c = 0; c < next.size(); ++c)
      so_far[c] = fold(kernels[c], std::move(so_far[c]), next[c], device);
    return std::move(so_far);
  });
}

Tiles multiply_add(const TaskGraph& graph, const Task& task, Tiles so_far, const Tiles& left,
                   const Tiles& right) {
  const Apply& apply = join_at(graph, task).projection.front().front();
  return at_join(graph, task, [&] {
    Tiles arguments;
    for (int column : apply.columns) {
      const auto c = static_cast<std::size_t>(column);
      arguments.push_back(c < left.size() ? left[c] : right[c - left.size()]);
    }
    MutableTile sum = MutableTile::take(std::move(so_far.front()));
    apply.kernel->accumulate(sum, arguments);
    return Tiles{std::move(sum).publish()};
  });
}

Made product_fold(const TaskGraph& graph, const Task& task, Tiles so_far, const Tiles& left,
                  const Tiles& right, Device device) {
  const Tiles next = product(graph, task, left, right, device);
  Made made;
  for (const Tile& tile : next) made.transient_bytes += tile.bytes();
  const Key own = graph.keys[task.key];
  const auto& renamed = join_at(graph, task).keys;
  made.tiles =
      fold(graph, task, renamed ? renamed->evaluate(own) : own, std::move(so_far), next, device);
  return made;
}

Tiles concat(const TaskGraph& graph, const Task& task, const std::vector<const Tiles*>& members,
             Device device) {
  const auto& what = operator_at<ia::Concat>(graph, task.op);
  const KernelCall join_arrays("concat", {{"axis", std::int64_t{what.dimension}}});
  return at_step(graph, task.op, graph.keys[task.key], [&] {
    Tiles joined;
    for (std::size_t c = 0; c < members.front()->size(); ++c) {
      Tiles arrays;
      for (const Tiles* member : members) arrays.push_back((*member)[c]);
      joined.push_back(join_arrays.run(arrays, device).front());
    }
    return joined;
  });
}

Tiles zeros(const std::vector<TileType>& types) {
  Tiles tiles;
  for (const TileType& type : types) tiles.push_back(Tile::zeros(type));
  return tiles;
}

}  // namespace

bool is_folding(TaskKind kind) {
  return kind == TaskKind::fold || kind == TaskKind::multiply_add || kind == TaskKind::product_fold;
}

Made perform(const TaskGraph& graph, const Task& task, Arguments arguments, Device device) {
  const auto& in = arguments.inputs;
  switch (task.kind) {
    case TaskKind::map: return {map(graph, task, *in[0], device)};
    case TaskKind::product: return {product(graph, task, *in[0], *in[1], device)};
    case TaskKind::multiply_add:
      // To add to memory that is there already is for the host.
      if (device != Device::cpu)
        return product_fold(graph, task, std::move(arguments.accumulator), *in[0], *in[1], device);
      return {multiply_add(graph, task, std::move(arguments.accumulator), *in[0], *in[1])};
    case TaskKind::product_fold:
      return product_fold(graph, task, std::move(arguments.accumulator), *in[0], *in[1], device);
    case TaskKind::fold:
      return {fold(graph, task, graph.keys[task.key], std::move(arguments.accumulator), *in[0],
                   device)};
    case TaskKind::finish:
      return {at_step(graph, task.op, graph.keys[task.key],
                      [&] { return through(*in[0], aggregate_at(graph, task).finish, device); })};
    case TaskKind::concat: return {concat(graph, task, in, device)};
    case TaskKind::fill: return {zeros(graph.types[graph.values[task.output].types])};
    case TaskKind::transfer: break;
  }
  throw InternalError("a transfer runs no kernels");
}

}  // namespace tessera::exec
