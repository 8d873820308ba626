#include "exec/value_sizes.h"

#include <algorithm>

#include "exec/perform.h"

namespace tessera::exec {
namespace {

/// How full a sparse tile is taken to be as long as nobody knows.
constexpr double guessed_entries = 16;  // one of so many elements
constexpr double largest_guess = 64e6;
constexpr std::int64_t most_summed = std::int64_t{1} << 62;

bool is_sparse(const std::vector<TileType>& types) {
  return std::any_of(types.begin(), types.end(),
                     [](const TileType& type) { return type.is_sparse(); });
}

/// In doubles: the elements of a hypersparse tile may exceed any integer.
double elements_of(const TileType& type) {
  double elements = 1;
  for (const std::int64_t extent : type.shape) elements *= static_cast<double>(extent);
  return elements;
}

double guess(const std::vector<TileType>& types) {
  double bytes = 0;
  for (const TileType& type : types) {
    const auto size = static_cast<double>(size_of(type.dtype));
    bytes += type.is_sparse()
                 ? std::min(elements_of(type) / guessed_entries * (8 + size), largest_guess)
                 : elements_of(type) * size;
  }
  return std::min(bytes, most_counted);
}

/// With every entry there, each with its coordinate, and an offset for each row.
double bound(const std::vector<TileType>& types) {
  double bytes = 0;
  for (const TileType& type : types) {
    double rows = 1;
    for (int i = 0; i < type.shape.rank() - type.sparse_dims; ++i)
      rows *= static_cast<double>(type.shape[i]);
    const auto size = static_cast<double>(size_of(type.dtype));
    bytes += type.is_sparse() ? elements_of(type) * (8 + size) + 8 * (rows + 1)
                              : elements_of(type) * size;
  }
  return bytes;
}

std::vector<char> are_outputs(const TaskGraph& graph) {
  std::vector<char> result(graph.values.size(), 0);
  for (const TaskGraph::Output& output : graph.outputs) result[output.value] = 1;
  return result;
}

}  // namespace

ValueSizes predicted_sizes(const TaskGraph& graph) {
  std::vector<std::int64_t> by_types;
  std::vector<char> sparse;
  for (const std::vector<TileType>& types : graph.types.lists()) {
    by_types.push_back(static_cast<std::int64_t>(guess(types)));
    sparse.push_back(is_sparse(types));
  }
  ValueSizes sizes{std::vector<std::int64_t>(graph.values.size(), 0),
                   std::vector<char>(graph.values.size(), 0)};
  for (std::size_t v = 0; v < graph.values.size(); ++v)
    if (const TypesId types = graph.values[v].types; types != unknown_types) {
      sizes.bytes[v] = by_types[types];
      sizes.guessed[v] = sparse[types];
    }
  for (const TaskGraph::Given& given : graph.given) {
    if (given.tiles != nullptr) {
      sizes.bytes[given.value] = 0;
      sizes.guessed[given.value] = 0;
      continue;
    }
    const op::Input& input = *given.input;
    if (sizes.guessed[given.value] && input.facts.bytes > 0 && input.listing &&
        !input.listing->tuples.empty())
      sizes.bytes[given.value] =
          input.facts.bytes / static_cast<std::int64_t>(input.listing->tuples.size()) + 1;
  }
  return sizes;
}

std::vector<char> taken_in_place(const TaskGraph& graph, const ValueSizes& sizes) {
  const std::vector<char> is_output = are_outputs(graph);
  std::vector<char> result(graph.tasks.size(), 0);
  for (std::size_t t = 0; t < graph.tasks.size(); ++t) {
    const Task& task = graph.tasks[t];
    if (!is_folding(task.kind) || sizes.guessed[task.output]) continue;
    const ValueId accumulator = graph.inputs_of(task).front();
    const auto readers = graph.readers_of(accumulator);
    const auto id = static_cast<TaskId>(t);
    const bool last =
        readers.back() == id && (readers.size() < 2 || readers[readers.size() - 2] < id);
    result[t] = last && !is_output[accumulator] && !sizes.guessed[accumulator] &&
                sizes.bytes[accumulator] == sizes.bytes[task.output];
  }
  return result;
}

double most_bytes(const TaskGraph& graph, const std::vector<bool>& mine, const ValueSizes& sizes,
                  int threads) {
  std::vector<double> bounds;
  for (const std::vector<TileType>& types : graph.types.lists()) bounds.push_back(bound(types));
  const auto most_of = [&](ValueId value) {
    return sizes.guessed[value] ? bounds[graph.values[value].types]
                                : static_cast<double>(sizes.bytes[value]);
  };
  std::vector<char> counts(graph.values.size(), 1);
  const std::vector<char> in_place = taken_in_place(graph, sizes);
  double folded = 0;     // the largest product that is made to be folded and dropped
  double transient = 0;  // the most that a task needs for a while
  for (std::size_t t = 0; t < graph.tasks.size(); ++t) {
    const Task& task = graph.tasks[t];
    if (in_place[t]) counts[task.output] = 0;
    if (task.kind == TaskKind::product_fold) folded = std::max(folded, most_of(task.output));
    if (mine[task.site])
      transient = std::max(transient, static_cast<double>(graph.transients[task.cost]));
  }
  double all = threads * (folded + transient);
  for (std::size_t v = 0; v < graph.values.size(); ++v)
    if (mine[graph.values[v].site] && counts[v]) all += most_of(static_cast<ValueId>(v));
  return all;
}

std::int64_t least_limit(const TaskGraph& graph, const std::vector<bool>& mine,
                         const ValueSizes& sizes, bool keeps_results) {
  const std::vector<char> in_place = taken_in_place(graph, sizes);
  std::vector<TaskId> counted_for(graph.values.size(), -1);  // one that is read twice is there once
  std::int64_t least = 0;
  for (std::size_t t = 0; t < graph.tasks.size(); ++t) {
    const Task& task = graph.tasks[t];
    if (!mine[task.site]) continue;
    const std::int64_t made = sizes.known(task.output);
    std::int64_t bytes = graph.transients[task.cost];
    if (task.kind != TaskKind::transfer && !in_place[t]) bytes += made;
    // A product that is made to be folded, and a tuple that is folded by making another.
    if (task.kind == TaskKind::product_fold || task.kind == TaskKind::fold) bytes += made;
    for (const ValueId input : graph.inputs_of(task)) {
      if (counted_for[input] != static_cast<TaskId>(t))
        bytes = std::min(bytes + sizes.known(input), most_summed);
      counted_for[input] = static_cast<TaskId>(t);
    }
    least = std::max(least, bytes);
  }
  std::int64_t results = 0;
  std::vector<char> seen(graph.values.size(), 0);
  for (const TaskGraph::Output& output : graph.outputs)
    if (!seen[output.value] && mine[graph.values[output.value].site]) {
      seen[output.value] = 1;
      // What is handed over passes through memory tile by tile.
      results = keeps_results ? std::min(results + sizes.known(output.value), most_summed)
                              : std::max(results, sizes.known(output.value));
    }
  return std::max(least, results);
}

}  // namespace tessera::exec
