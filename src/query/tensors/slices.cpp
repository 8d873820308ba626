#include "query/tensors/slices.h"

#include <algorithm>

#include "base/check.h"
#include "query/binding/binder.h"
#include "query/tensors/place.h"
#include "query/tensors/positions.h"
#include "query/tensors/tensor_reduction.h"
#include "query/tensors/tensor_tiling.h"

namespace tessera::query {
namespace {

using calculus::Array;
using lang::fail_type;

std::int64_t constant_index(const sql::Expression& written) {
  const ExpressionPtr bound = bind_constant(written, {});
  const auto* constant = std::get_if<Constant>(&bound->node);
  const bool is_integer =
      constant != nullptr && !constant->value.is_null() && !constant->value.is_text() &&
      constant->value.tile().dtype() == DType::i64 && constant->value.tile().rank() == 0;
  if (!is_integer) fail_type(written.location, "an index of a tensor must be a constant integer");
  return constant->value.tile().at<std::int64_t>({});
}

/// What is taken of one dimension.
struct Range {
  std::int64_t begin = 0, count = 0, step = 1;
  bool stays = true;  // as a dimension of the result
};

Range range_of(const sql::Slice& slice, std::int64_t extent) {
  Range range;
  if (slice.step) range.step = constant_index(*slice.step);
  if (range.step == 0) fail_type(slice.step->location, "the step of a slice must not be 0");
  // As in Python: bounds beyond the ends are the ends.
  const bool forward = range.step > 0;
  const std::int64_t lowest = forward ? 0 : -1, highest = forward ? extent : extent - 1;
  const auto bound = [&](const sql::ExpressionPtr& written, std::int64_t otherwise) {
    if (written == nullptr) return otherwise;
    const std::int64_t given = constant_index(*written);
    const std::int64_t from_front = given >= 0 ? given : given < -extent ? -1 : given + extent;
    return std::clamp(given < -extent ? lowest : from_front, lowest, highest);
  };
  range.begin = bound(slice.from, forward ? 0 : extent - 1);
  const std::int64_t end = bound(slice.to, forward ? extent : -1);
  const std::int64_t length = forward ? end - range.begin : range.begin - end;
  // A step beyond the extent takes one element.
  range.step =
      std::clamp(range.step, -std::max<std::int64_t>(1, extent), std::max<std::int64_t>(1, extent));
  range.count = length <= 0 ? 0 : (length - 1) / std::abs(range.step) + 1;
  return range;
}

Range range_of(const sql::Expression& index, std::int64_t extent, int dimension) {
  if (const auto* slice = std::get_if<sql::Slice>(&index.node)) return range_of(*slice, extent);
  const std::int64_t given = constant_index(index);
  if (given < -extent || given >= extent)
    fail_type(index.location, "index {} is out of bounds for dimension {} with size {}", given,
              dimension, extent);
  return {given < 0 ? given + extent : given, 1, 1, false};
}

std::vector<Range> ranges_of(const Shape& shape, const std::vector<sql::ExpressionPtr>& indices,
                             lang::Location location) {
  const auto is_ellipsis = [](const sql::ExpressionPtr& index) {
    const auto* slice = std::get_if<sql::Slice>(&index->node);
    return slice != nullptr && slice->is_ellipsis;
  };
  const auto ellipses = std::count_if(indices.begin(), indices.end(), is_ellipsis);
  if (ellipses > 1) fail_type(location, "an index can have only one ellipsis (...)");
  const int given = static_cast<int>(indices.size() - static_cast<std::size_t>(ellipses));
  if (given > shape.rank())
    fail_type(location, "too many indices: a tensor of {} has {} dimension{}, but {} {} indexed",
              to_string(shape), shape.rank(), shape.rank() == 1 ? "" : "s", given,
              given == 1 ? "is" : "are");
  std::vector<Range> ranges;
  const auto whole = [&] {
    const std::int64_t extent = shape[static_cast<int>(ranges.size())];
    ranges.push_back({0, extent});
  };
  for (const sql::ExpressionPtr& index : indices) {
    if (is_ellipsis(index)) {
      for (int left = shape.rank() - given; left > 0; --left) whole();
      continue;
    }
    const int dimension = static_cast<int>(ranges.size());
    ranges.push_back(range_of(*index, shape[dimension], dimension));
  }
  while (std::cmp_less(ranges.size(), shape.rank())) whole();
  return ranges;
}

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

/// Every step-th element along one dimension, from the first on.
Tensor strided(const Tensor& tensor, int dimension, std::int64_t step, std::int64_t count) {
  const std::int64_t whole = tensor.type.tile[dimension];
  const Tensor even = retiled(tensor, dimension, std::max(step, whole - whole % step));
  const std::int64_t tile = (even.type.tile[dimension] - 1) / step + 1;
  const KernelCall kernel("window", {{"axis", std::int64_t{dimension}}, {"step", step}});
  const Plan plan = even.plan.join(positions(count, tile).plan, {dimension}, {0}, kernel);
  Shape shape = tensor.type.shape, tiles = even.type.tile;
  shape[dimension] = count;
  tiles[dimension] = tile;
  return tensor_of(plan, shape, tiles);
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
  // Each tile of the result is of two neighbours; the last one may be of one alone.
  const std::int64_t results = (count - 1) / tile + 1, sources = all.type.tiles(dimension);
  std::vector<KeyExpr> before;
  for (int d = 0; d < tensor.type.rank(); ++d)
    before.push_back(d == dimension ? (key(d) + KeyExpr(sources - 1)) % KeyExpr(sources) : key(d));
  Plan here = all.plan, next = with_keys(all.plan, before);
  if (results < sources) {
    here = here.filter(key(dimension) < KeyExpr(results));
    next = next.filter(key(dimension) < KeyExpr(results));
  }
  std::vector<int> same;
  for (int d = 0; d < tensor.type.rank(); ++d) same.push_back(d);
  const KernelCall kernel("window", {{"axis", std::int64_t{dimension}}, {"begin", offset}});
  const Plan plan =
      here.join(next, same, same, std::vector<Apply>{Apply::column(0), Apply::column(1)})
          .join(positions(count, tile).plan, {dimension}, {0}, std::vector<Apply>{kernel});
  Shape shape = tensor.type.shape;
  shape[dimension] = count;
  return tensor_of(plan, shape, tensor.type.tile);
}

/// One dimension less, of which there is one element.
Tensor without(const Tensor& tensor, int dimension) {
  const char* fold = tensor.type.dtype == DType::boolean ? "any" : "sum";
  return reduced(tensor, KernelCall(fold, {{"axes", std::vector<std::int64_t>{dimension}}}));
}

}  // namespace

Array indexed(const Array& array, const std::vector<sql::ExpressionPtr>& indices,
              lang::Location location) {
  const std::vector<Range> ranges = ranges_of(array.type.shape, indices, location);
  IndexForm form;
  std::vector<Term> at;
  for (const Range& range : ranges) {
    if (!range.stays) {
      at.push_back(integer(range.begin));
      continue;
    }
    Term place = position(static_cast<int>(form.indices.size()));
    if (range.step != 1) place = applied("mul", {place, integer(range.step)});
    if (range.begin != 0) place = applied("add", {place, integer(range.begin)});
    at.push_back(place);
    form.indices.push_back({fmt::format("i{}", form.indices.size()), range.count});
  }
  form.rank = static_cast<int>(form.indices.size());
  form.value = element(0, std::move(at));
  return calculus::defined(std::move(form), {array});
}

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
