#include "kernel/form/scalar_function.h"

#include <array>
#include <limits>

#include "base/check.h"
#include "kernel/form/operations.h"

namespace tessera {
namespace {

template <class F, class T>
constexpr ScalarFunction::Evaluate evaluation() {
  if constexpr (std::is_invocable_v<F, T>)
    return [](const Scalar* a) { return Scalar(F()(a[0].as<T>())); };
  else if constexpr (std::is_invocable_v<F, T, T>)
    return [](const Scalar* a) { return Scalar(F()(a[0].as<T>(), a[1].as<T>())); };
  else
    return nullptr;
}

struct Traits {
  WorkingDType working = WorkingDType::promoted;
  bool gives_boolean = false;
  double flops = 1;
};

template <class F>
constexpr ScalarFunction function(std::string_view name, Traits traits = {}) {
  return {.name = name,
          .arguments = std::is_invocable_v<F, double> || std::is_invocable_v<F, bool> ? 1 : 2,
          .working = traits.working,
          .gives_boolean = traits.gives_boolean,
          .flops = traits.flops,
          .evaluate = {evaluation<F, float>(), evaluation<F, double>(),
                       evaluation<F, std::int64_t>(), evaluation<F, bool>()}};
}

constexpr Traits transcendental{.working = WorkingDType::floating, .flops = 20};
constexpr Traits comparison{.gives_boolean = true};

constexpr std::array functions = {
    function<Add>("add"),
    function<Sub>("sub"),
    function<Mul>("mul"),
    function<Div>("div", {.working = WorkingDType::floating}),
    function<FloorDivide>("floor_divide", {.working = WorkingDType::number}),
    function<Remainder>("remainder", {.working = WorkingDType::number}),
    function<Power>("power", {.working = WorkingDType::number, .flops = 20}),
    function<Maximum>("maximum"),
    function<Minimum>("minimum"),
    function<Equal>("equal", comparison),
    function<NotEqual>("not_equal", comparison),
    function<Less>("less", comparison),
    function<LessEqual>("less_equal", comparison),
    function<Greater>("greater", comparison),
    function<GreaterEqual>("greater_equal", comparison),
    function<LogicalAnd>("logical_and", {.working = WorkingDType::boolean}),
    function<LogicalOr>("logical_or", {.working = WorkingDType::boolean}),
    function<LogicalNot>("logical_not", {.working = WorkingDType::boolean}),
    function<Neg>("neg"),
    function<Abs>("abs"),
    function<Square>("square", {.working = WorkingDType::number}),
    function<Relu>("relu"),
    function<ReluDeriv>("relu_deriv"),
    function<Exp>("exp", transcendental),
    function<Log>("log", transcendental),
    function<Sqrt>("sqrt", transcendental),
    function<Tanh>("tanh", transcendental),
    function<Sigmoid>("sigmoid", transcendental),
};

struct NamedMonoid {
  Monoid monoid;
  std::string_view name;
};
constexpr std::array monoids = {
    NamedMonoid{Monoid::sum, "sum"},       NamedMonoid{Monoid::product, "product"},
    NamedMonoid{Monoid::min, "min"},       NamedMonoid{Monoid::max, "max"},
    NamedMonoid{Monoid::all, "all"},       NamedMonoid{Monoid::any, "any"},
    NamedMonoid{Monoid::argmin, "argmin"}, NamedMonoid{Monoid::argmax, "argmax"},
};

}  // namespace

DType ScalarFunction::working_dtype(std::span<const DType> given) const {
  TESSERA_REQUIRE(TypeError, std::cmp_equal(given.size(), arguments),
                  "{} takes {} argument{}, not {}", name, arguments, arguments == 1 ? "" : "s",
                  given.size());
  DType dtype = given[0];
  for (const DType other : given.subspan(1)) dtype = promote(dtype, other);
  dtype = tessera::working_dtype(working, dtype);
  TESSERA_REQUIRE(TypeError, evaluate[static_cast<int>(dtype)] != nullptr,
                  "{} is not defined for {}", name, to_string(dtype));
  return dtype;
}

const ScalarFunction* scalar_function(std::string_view name) {
  for (const ScalarFunction& function : functions)
    if (function.name == name) return &function;
  return nullptr;
}

std::vector<std::string_view> scalar_function_names() {
  std::vector<std::string_view> names;
  for (const ScalarFunction& function : functions) names.push_back(function.name);
  return names;
}

std::string_view to_string(Monoid monoid) {
  for (const NamedMonoid& known : monoids)
    if (known.monoid == monoid) return known.name;
  TESSERA_INVARIANT(false, "monoid {}", static_cast<int>(monoid));
}

std::optional<Monoid> monoid_named(std::string_view name) {
  for (const NamedMonoid& known : monoids)
    if (known.name == name) return known.monoid;
  return std::nullopt;
}

DType folded_dtype(Monoid monoid, DType values) {
  switch (monoid) {
    case Monoid::sum:
    case Monoid::product: return working_dtype(WorkingDType::number, values);
    case Monoid::min:
    case Monoid::max: return values;
    case Monoid::all:
    case Monoid::any: return DType::boolean;
    case Monoid::argmin:
    case Monoid::argmax: return DType::i64;
  }
  TESSERA_INVARIANT(false, "monoid {}", static_cast<int>(monoid));
}

DType state_dtype(Monoid monoid, DType values) {
  if (gives_position(monoid)) return values;
  const DType folded = folded_dtype(monoid, values);
  const bool adds = monoid == Monoid::sum || monoid == Monoid::product;
  return adds && folded == DType::f32 ? DType::f64 : folded;
}

std::string_view combination_of(Monoid monoid) {
  switch (monoid) {
    case Monoid::sum: return "add";
    case Monoid::product: return "mul";
    case Monoid::min:
    case Monoid::argmin: return "minimum";
    case Monoid::max:
    case Monoid::argmax: return "maximum";
    case Monoid::all: return "logical_and";
    case Monoid::any: return "logical_or";
  }
  TESSERA_INVARIANT(false, "monoid {}", static_cast<int>(monoid));
}

Scalar identity_of(Monoid monoid, DType folded) {
  const auto extreme = [&](bool greatest) {
    return visit_dtype(folded, [&]<class T>() -> Scalar {
      using Limits = std::numeric_limits<T>;
      if constexpr (std::is_floating_point_v<T>)
        return greatest ? Limits::infinity() : -Limits::infinity();
      else
        return greatest ? Limits::max() : Limits::min();
    });
  };
  switch (monoid) {
    case Monoid::sum: return Scalar(std::int64_t{0}).cast(folded);
    case Monoid::product: return Scalar(std::int64_t{1}).cast(folded);
    case Monoid::min: return extreme(true);
    case Monoid::max: return extreme(false);
    case Monoid::all: return true;
    case Monoid::any: return false;
    case Monoid::argmin:
    case Monoid::argmax: return std::int64_t{-1};
  }
  TESSERA_INVARIANT(false, "monoid {}", static_cast<int>(monoid));
}

}  // namespace tessera
