#include <cmath>
#include <limits>

#include "laws/case_maker.h"
#include "support/elements.h"

namespace tessera {
namespace {

KernelCase one_tile(CaseMaker& make) { return make.made({make.tile(make.shape())}); }

KernelCase rows(CaseMaker& make) {
  return make.made({make.tile(make.shape(make.misfit() ? 0 : 1))});
}

/// Two shapes that broadcast to one.
std::pair<Shape, Shape> two_shapes(CaseMaker& make) {
  const Shape shape = make.shape();
  Shape a = make.random.chance(0.5) ? shape : random_narrowing(make.random, shape);
  Shape b = make.random.chance(0.5) ? shape : random_narrowing(make.random, shape);
  if (make.misfit()) b = make.shape();
  return {a, b};
}

KernelCase two_tiles(CaseMaker& make) {
  const auto [a, b] = two_shapes(make);
  Tile left = make.tile(a);
  return make.made({std::move(left), make.tile(b)});
}

/// The same tile, in its layout, without a negative integer.
Tile without_sign(const Tile& tile) {
  if (tile.dtype() != DType::i64) return tile;
  Elements elements(tile);
  for (std::int64_t i = 0; i < elements.size(); ++i)
    elements.set_integer(i, elements.integers[i] & std::numeric_limits<std::int64_t>::max());
  return to_tile(elements).with_sparse_dims(tile.sparse_dims());
}

KernelCase base_and_exponent(CaseMaker& make) {
  KernelCase result = two_tiles(make);
  if (!make.misfit()) result.arguments[1] = without_sign(result.arguments[1]);
  return result;
}

ParamValue random_scalar(CaseMaker& make) {
  Random& random = make.random;
  const Values values = make.recipe().values;
  if (random.chance(0.5)) {
    if (values == Values::peculiar && random.chance(0.3))
      return static_cast<std::int64_t>(random.bits());
    return random.between(-3, 3);
  }
  if (values == Values::small_integers) return static_cast<double>(random.between(-3, 3));
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (values == Values::peculiar && random.chance(0.3))
    return random.pick(std::vector{infinity, -infinity, -0.0, 0.0, 1e300, std::nan("")});
  return random.uniform(-5, 5);
}

KernelCase tile_and_scalar(CaseMaker& make) {
  Params params{{"value", random_scalar(make)}};
  if (make.random.chance(0.5)) params.set("left", make.random.chance(0.5));
  if (make.misfit()) params.set("value", std::string("three"));
  return make.made({make.tile(make.shape())}, std::move(params));
}

KernelCase tile_and_power(CaseMaker& make) {
  KernelCase result = tile_and_scalar(make);
  const ParamValue& value = result.call.params().values().at("value");
  const auto* power = std::get_if<std::int64_t>(&value);
  if (power == nullptr || make.misfit()) return result;
  Params params = result.call.params();
  if (params.flag("left"))
    result.arguments[0] = without_sign(result.arguments[0]);
  else if (*power < 0)
    params.set("value", *power & std::numeric_limits<std::int64_t>::max());
  return make.made(std::move(result.arguments), std::move(params));
}

}  // namespace

Generators elementwise_generators() {
  Generators result;
  for (const char* name : {"neg", "abs", "square", "relu", "relu_deriv", "logical_not", "exp",
                           "log", "sqrt", "sigmoid", "tanh", "identity"})
    result[name] = one_tile;
  result["softmax"] = rows;
  for (const std::string name : {"add", "sub", "mul", "div", "power", "maximum", "minimum", "equal",
                                 "not_equal", "less", "less_equal", "greater", "greater_equal"}) {
    result[name] = two_tiles;
    result[name + "_scalar"] = tile_and_scalar;
  }
  for (const char* name : {"logical_and", "logical_or", "cross_entropy_deriv"})
    result[name] = two_tiles;
  result["power"] = base_and_exponent;
  result["power_scalar"] = tile_and_power;
  return result;
}

}  // namespace tessera
