#include <utility>

#include "kernel/arguments.h"
#include "kernel/binary_operation.h"
#include "kernel/builtin.h"
#include "kernel/claims.h"

namespace tessera {
namespace {

using Distributions = std::vector<Properties::Distribution>;

/// f distributes over each of these in both arguments.
Distributions in_both(std::initializer_list<const char*> names) {
  Distributions result;
  for (const char* name : names)
    for (int argument : {0, 1}) result.push_back({name, argument});
  return result;
}

/// Names for the ways an operation runs, by layout; `apply` chooses among them by shape too.
std::vector<Implementation> implementations_of(const BinaryOperation& operation,
                                               const Implementation& general) {
  const auto named = [&](const char* name, std::vector<LayoutPattern> layouts) {
    Implementation result = general;
    result.name = name;
    result.layouts = std::move(layouts);
    return result;
  };
  using enum LayoutPattern;
  std::vector<Implementation> result;
  if (operation.zeros == ZeroLaw::preserves)
    result.push_back(named("sparse_union", {sparse, sparse}));
  if (operation.zeros == ZeroLaw::annihilates) {
    result.push_back(named("sparse_intersection", {sparse, sparse}));
    result.push_back(named("sparse_sampling", {sparse, dense}));
    result.push_back(named("sparse_sampling", {dense, sparse}));
  }
  result.push_back(general);
  return result;
}

Kernel binary_kernel(const char* name, const BinaryOperation& operation, const char* description,
                     void (*claim)(Properties&), std::vector<std::string> aliases = {}) {
  Properties properties;
  claim(properties);
  properties.elementwise = true;
  properties.zero_preserving = operation.zeros != ZeroLaw::none;
  const Implementation general{.name = "strided_loop",
                               .run = [name, &operation](Tiles tiles, const Params&) {
                                 return std::vector{apply(name, operation, tiles[0], tiles[1])};
                               }};
  return {.name = name,
          .description = description,
          .min_arguments = 2,
          .max_arguments = 2,
          .properties = std::move(properties),
          .infer =
              [name, &operation](Types types, const Params&) {
                return std::vector{infer_binary(name, operation, types[0], types[1])};
              },
          .cost =
              [name, &operation](Types types, const Params&) {
                const TileType result = infer_binary(name, operation, types[0], types[1]);
                return Cost{static_cast<double>(result.shape.elements()),
                            dense_bytes(types[0]) + dense_bytes(types[1]) + dense_bytes(result)};
              },
          .implementations = implementations_of(operation, general),
          .aliases = std::move(aliases)};
}

void claim_commutative(Properties& f) { f.commutative = true; }

std::vector<Kernel> arithmetic() {
  const auto lattice = [](Properties& f) {
    f.associative = f.commutative = f.idempotent = true;
    f.distributes_over = in_both({"maximum", "minimum"});
  };
  return {
      binary_kernel("add", operation::add, "a + b; of booleans, a or b",
                    [](Properties& f) {
                      f.associative = f.commutative = f.addition = true;
                      f.identity = 0;
                      f.distributes_over = in_both({"maximum", "minimum"});
                    },
                    {"matAdd", "mat_add"}),
      binary_kernel("sub", operation::sub, "a - b",
                    [](Properties& f) {
                      f.distributes_over = {{"maximum", 0}, {"minimum", 0}};
                    },
                    {"matSub", "mat_sub", "matVecSub", "mat_vec_sub"}),
      binary_kernel("mul", operation::mul, "a * b, element by element; of booleans, a and b",
                    [](Properties& f) {
                      f.associative = f.commutative = true;
                      f.identity = 1;
                      f.annihilated_by = f.linear_in = {0, 1};
                      f.distributes_over = in_both({"add", "sub"});
                    },
                    {"elemMul", "elem_mul", "hadamard"}),
      // Not linear in a: (a + b) / 0 is infinite where a / 0 + b / 0 may be NaN.
      binary_kernel("div", operation::div, "a / b as floats", claim_nothing,
                    {"elemDiv", "elem_div"}),
      binary_kernel("power", operation::power,
                    "a to the power b; integers wrap around and take no negative powers",
                    claim_nothing, {"pow"}),
      binary_kernel("maximum", operation::maximum, "the larger of a and b; NaN wins", lattice,
                    {"elemMax", "elem_max"}),
      binary_kernel("minimum", operation::minimum, "the smaller of a and b; NaN wins", lattice,
                    {"elemMin", "elem_min"}),
      binary_kernel("cross_entropy_deriv", operation::cross_entropy_deriv,
                    "prediction - target: the derivative of the cross entropy over a softmax",
                    claim_nothing, {"crossEntropyDeriv"}),
  };
}

std::vector<Kernel> comparisons() {
  return {
      binary_kernel("equal", operation::equal, "whether a = b", claim_commutative, {"eq"}),
      binary_kernel("not_equal", operation::not_equal, "whether a and b differ", claim_commutative,
                    {"ne"}),
      binary_kernel("less", operation::less, "whether a < b", claim_nothing, {"lt"}),
      binary_kernel("less_equal", operation::less_equal, "whether a <= b", claim_nothing, {"le"}),
      binary_kernel("greater", operation::greater, "whether a > b", claim_nothing, {"gt"}),
      binary_kernel("greater_equal", operation::greater_equal, "whether a >= b", claim_nothing,
                    {"ge"}),
  };
}

/// Neither is idempotent nor has an identity: and(2, 2) is true, which is not 2.
std::vector<Kernel> logic() {
  const auto boolean_algebra = [](Properties& f) {
    f.associative = f.commutative = true;
    f.distributes_over = in_both({"logical_or", "logical_and"});
  };
  Kernel logical_and = binary_kernel("logical_and", operation::logical_and,
                                     "whether neither a nor b is zero", boolean_algebra);
  logical_and.properties.annihilated_by = {0, 1};
  return {std::move(logical_and), binary_kernel("logical_or", operation::logical_or,
                                                "whether a or b is not zero", boolean_algebra)};
}

}  // namespace

std::vector<Kernel> binary_kernels() {
  std::vector<Kernel> kernels = arithmetic();
  for (Kernel& kernel : comparisons()) kernels.push_back(std::move(kernel));
  for (Kernel& kernel : logic()) kernels.push_back(std::move(kernel));
  return kernels;
}

}  // namespace tessera
