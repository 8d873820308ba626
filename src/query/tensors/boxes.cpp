#include "query/tensors/boxes.h"

#include <algorithm>

#include "query/tensors/neighbours.h"
#include "query/tensors/place.h"
#include "query/tensors/tensor_reduction.h"

namespace tessera::query {
namespace {

/// Tiles of which some remain, counted from `first` on.
Tensor with_tiles(const Tensor& tensor, int dimension, std::int64_t first, std::int64_t last,
                  std::int64_t extent) {
  Plan plan = tensor.plan;
  if (last + 1 < tensor.type.tiles(dimension)) plan = plan.filter(key(dimension) <= KeyExpr(last));
  if (first > 0) {
    plan = plan.filter(key(dimension) >= KeyExpr(first));
    std::vector<KeyExpr> keys;
    for (int d = 0; d < tensor.type.rank(); ++d)
      keys.push_back(d == dimension ? key(d) - KeyExpr(first) : key(d));
    plan = with_keys(plan, keys);
  }
  Shape shape = tensor.type.shape;
  shape[dimension] = extent;
  return tensor_of(plan, shape, tensor.type.tile);
}

/// `count` neighbours from `begin` on along one dimension.
Tensor window(const Tensor& tensor, int dimension, std::int64_t begin, std::int64_t count) {
  const std::int64_t extent = tensor.type.shape[dimension], tile = tensor.type.tile[dimension];
  if (begin == 0 && count == extent) return tensor;
  const std::int64_t first = begin / tile, last = (begin + count - 1) / tile;
  const std::int64_t offset = begin % tile;
  const bool ends_with_a_tile = begin + count == extent || (begin + count) % tile == 0;
  const std::int64_t left = std::min(extent, (last + 1) * tile) - first * tile;
  const Tensor all = with_tiles(tensor, dimension, first, last, left);
  if (offset == 0 && ends_with_a_tile) return all;
  return moved(all, dimension, offset, count);
}

/// One dimension less, of which there is one element.
Tensor without(const Tensor& tensor, int dimension) {
  const char* fold = tensor.type.dtype == DType::boolean ? "any" : "sum";
  return reduced(tensor, KernelCall(fold, {{"axes", std::vector<std::int64_t>{dimension}}}));
}

}  // namespace

std::optional<Tensor> as_box(const TypedForm& form, const std::vector<Tensor>& arguments) {
  const auto* read = as<term::Element>(form.form.value);
  if (read == nullptr) return std::nullopt;
  Tensor tensor = arguments[static_cast<std::size_t>(read->argument)];
  std::vector<Place> places;
  int next = 0;
  for (const Term& at : read->at) {
    const auto place = place_of(at);
    // Forward, and in the order of the dimensions.
    if (!place || place->step < 1 || (place->index >= 0 && place->index != next))
      return std::nullopt;
    next += place->index >= 0 ? 1 : 0;
    places.push_back(*place);
  }
  if (next != form.form.rank || form.result.shape.elements() == 0) return std::nullopt;
  for (std::size_t p = 0; p < places.size(); ++p) {
    const Place& place = places[p];
    const std::int64_t count =
        place.index < 0 ? 1 : form.extents[static_cast<std::size_t>(place.index)];
    const std::int64_t last = place.first + (count - 1) * place.step;
    if (place.first < 0 || last >= tensor.type.shape[static_cast<int>(p)]) return std::nullopt;
  }
  for (std::size_t p = places.size(); p-- > 0;) {
    const Place& place = places[p];
    const int d = static_cast<int>(p);
    const std::int64_t count =
        place.index < 0 ? 1 : form.extents[static_cast<std::size_t>(place.index)];
    tensor = window(tensor, d, place.first, (count - 1) * place.step + 1);
    if (place.step > 1) tensor = strided(tensor, d, place.step, count);
    if (place.index < 0) tensor = without(tensor, d);
  }
  return tensor;
}

}  // namespace tessera::query
