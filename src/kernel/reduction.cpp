#include <numeric>
#include <utility>

#include "base/check.h"
#include "kernel/arguments.h"
#include "kernel/builtin.h"
#include "kernel/claims.h"
#include "kernel/reducers.h"
#include "tile/dispatch.h"

namespace tessera {
namespace {

/// A reduction: its reducer for each dtype, in the order of DType.
struct Reduction {
  std::array<Reducer, 4> reducers;
  bool needs_elements = false;  // whether there is no result of nothing

  const Reducer& reducer(DType dtype) const { return reducers[static_cast<int>(dtype)]; }
};

template <template <class> class R>
constexpr std::array<Reducer, 4> reducers_of() {
  return {reducer_of<R<float>>(), reducer_of<R<double>>(), reducer_of<R<std::int64_t>>(),
          reducer_of<R<bool>>()};
}

std::vector<int> axes_of(const std::string& kernel, const Params& params, const Shape& shape) {
  std::vector<std::int64_t> axes = params.integers("axes");
  if (axes.empty()) {
    axes.resize(shape.size());
    std::iota(axes.begin(), axes.end(), 0);
  }
  return normalize_axes(kernel, axes, shape);
}

TileType infer_reduction(const std::string& kernel, const Reduction& reduction,
                         const TileType& type, const Params& params) {
  const std::vector<int> axes = axes_of(kernel, params, type.shape);
  const bool keep = params.flag("keepdims");
  Shape shape;
  std::int64_t reduced = 1;
  std::size_t next = 0;
  for (int d = 0; d < type.shape.rank(); ++d) {
    if (next < axes.size() && axes[next] == d) {
      ++next;
      reduced = std::min<std::int64_t>(reduced, type.shape[d]);
      if (keep) shape.push_back(1);
    } else {
      shape.push_back(type.shape[d]);
    }
  }
  if (reduction.needs_elements && reduced == 0 && shape.elements() != 0)
    throw ValueError(fmt::format("{}: cannot reduce axes [{}] of {}: there are no elements", kernel,
                                 fmt::join(axes, ", "), to_string(type)));
  return {reduction.reducer(type.dtype).result, shape};
}

Tile run_reduction(const std::string& kernel, const Reduction& reduction, const Tile& tile,
                   const Params& params) {
  const Tile result =
      reduce(tile, axes_of(kernel, params, tile.shape()), reduction.reducer(tile.dtype()));
  return result.reshape(infer_reduction(kernel, reduction, tile.type(), params).shape);
}

void claim_linear(Properties& f) {
  f.linear_in = {0};
  f.distributes_over = {{"add", 0}, {"sub", 0}};
}

Kernel reduction_kernel(const std::string& name, const char* description, Reduction reduction,
                        void (*claim)(Properties&)) {
  Properties properties;
  claim(properties);
  const auto run = [name, reduction](Tiles tiles, const Params& params) {
    return std::vector{run_reduction(name, reduction, tiles[0], params)};
  };
  return {.name = name,
          .description = description,
          .parameters = {{"axes", std::vector<std::int64_t>{},
                          "the dimensions to reduce, negative ones counted from the end; all of "
                          "them if the list is empty"},
                         {"keepdims", false, "whether reduced dimensions stay, with extent 1"}},
          .properties = std::move(properties),
          .infer =
              [name, reduction](Types types, const Params& params) {
                return std::vector{infer_reduction(name, reduction, types[0], params)};
              },
          .cost =
              [name, reduction](Types types, const Params& params) {
                const TileType result = infer_reduction(name, reduction, types[0], params);
                return Cost{static_cast<double>(types[0].shape.elements()),
                            dense_bytes(types[0]) + dense_bytes(result)};
              },
          .implementations = {{.name = "entries_to_cells",
                               .layouts = {LayoutPattern::sparse},
                               .run = run},
                              {.name = "strided_reduction", .run = run}}};
}

}  // namespace

// Where nothing is reduced, product and all give 1 and mean gives NaN: they do not claim that
// zeros yield zero.
std::vector<Kernel> reduction_kernels() {
  return {
      reduction_kernel("sum", "the sum; of booleans, how many are true", {reducers_of<Sum>()},
                       [](Properties& f) {
                         claim_linear(f);
                         f.zero_preserving = true;
                       }),
      reduction_kernel("mean", "the sum over the number of elements, as a float",
                       {reducers_of<Mean>()}, claim_linear),
      reduction_kernel("product", "the product; integers wrap around", {reducers_of<Product>()},
                       claim_nothing),
      reduction_kernel("max", "the largest element; NaN wins", {reducers_of<Max>(), true},
                       [](Properties& f) {
                         f.zero_preserving = true;
                         f.distributes_over = {{"maximum", 0}};
                       }),
      reduction_kernel("min", "the smallest element; NaN wins", {reducers_of<Min>(), true},
                       [](Properties& f) {
                         f.zero_preserving = true;
                         f.distributes_over = {{"minimum", 0}};
                       }),
      reduction_kernel("argmax",
                       "the first position of the largest element, row-major over the reduced "
                       "dimensions",
                       {reducers_of<ArgMax>(), true},
                       [](Properties& f) { f.zero_preserving = true; }),
      reduction_kernel("argmin",
                       "the first position of the smallest element, row-major over the reduced "
                       "dimensions",
                       {reducers_of<ArgMin>(), true},
                       [](Properties& f) { f.zero_preserving = true; }),
      reduction_kernel("count_nonzero", "how many elements are not zero",
                       {reducers_of<CountNonzero>()},
                       [](Properties& f) { f.zero_preserving = true; }),
      reduction_kernel("all", "whether no element is zero", {reducers_of<All>()},
                       [](Properties& f) {
                         f.distributes_over = {{"logical_and", 0}};
                       }),
      reduction_kernel("any", "whether some element is not zero", {reducers_of<Any>()},
                       [](Properties& f) {
                         f.zero_preserving = true;
                         f.distributes_over = {{"logical_or", 0}};
                       }),
  };
}

}  // namespace tessera
