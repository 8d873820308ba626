#include "laws/kernel_properties.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "laws/kernel_cases.h"
#include "support/elements.h"
#include "tile/dispatch.h"

namespace tessera {
namespace {

/// What a trial of a law comes to: nothing if the law says nothing of the case, otherwise what is
/// wrong, which is empty if the law holds.
using Outcome = std::optional<std::string>;
const Outcome not_applicable = std::nullopt;

struct Law {
  std::string text;
  std::function<Outcome(Random&, const KernelCase&)> holds_of;
};

Tile call(const KernelCall& kernel, const std::vector<Tile>& arguments) {
  return kernel(Tiles(arguments));
}

std::vector<Tile> with_argument(std::vector<Tile> arguments, int i, Tile tile) {
  arguments[i] = std::move(tile);
  return arguments;
}

std::string difference(const Elements& left, const Elements& right) {
  if (left.dtype != right.dtype || left.shape != right.shape)
    return fmt::format("{} is not {}", to_string(TileType{left.dtype, left.shape}),
                       to_string(TileType{right.dtype, right.shape}));
  double scale = 1;
  for (double value : right.reals)
    if (std::isfinite(value)) scale = std::max(scale, std::abs(value));
  const double tolerance = left.dtype == DType::f32 ? 1e-4 * scale : 1e-10 * scale;
  for (std::int64_t i = 0; i < left.size(); ++i) {
    if (same_element(left, right, i)) continue;
    if (is_float(left.dtype) && std::abs(left.reals[i] - right.reals[i]) <= tolerance) continue;
    return fmt::format("element {} is {} on the left and {} on the right",
                       to_string(index_of(i, left.shape)), left.print(i), right.print(i));
  }
  return "";
}

std::string difference(const Tile& left, const Tile& right) {
  return difference(Elements(left), Elements(right));
}

/// a + b by a plain loop; of bools, a or b.
Elements sum(const Elements& a, const Elements& b) {
  Elements result(a.dtype, a.shape);
  for (std::int64_t i = 0; i < a.size(); ++i)
    if (is_float(a.dtype))
      result.set_real(i, a.reals[i] + b.reals[i]);
    else
      result.set_integer(i, a.integers[i] + b.integers[i]);
  return result;
}

Elements scaled(const Elements& a, std::int64_t by) {
  Elements result(a.dtype, a.shape);
  for (std::int64_t i = 0; i < a.size(); ++i)
    if (is_float(a.dtype))
      result.set_real(i, a.reals[i] * static_cast<double>(by));
    else
      result.set_integer(i, a.integers[i] * by);
  return result;
}

bool fits(const KernelCall& kernel, const std::vector<Tile>& arguments) {
  try {
    return kernel.infer(types_of(arguments)).size() == 1;
  } catch (const Error&) {
    return false;
  }
}

Tile another(Random& random, const Tile& like) {
  return random_tile(random, like.dtype(), like.shape(), {});
}

/// Sums and products of bools are bools; a kernel that counts them leaves that arithmetic.
bool leaves_arithmetic(const Tile& argument, const Tile& output) {
  return argument.dtype() == DType::boolean && output.dtype() != DType::boolean;
}

// --- the laws

Outcome elementwise(Random& random, const KernelCase& c) {
  const Tile whole = call(c.call, c.arguments);
  Shape shape;
  for (const Tile& tile : c.arguments) shape = broadcast_shapes(shape, tile.shape());
  if (whole.shape() != shape)
    return fmt::format("its shape is {}, not {}", to_string(whole.shape()), to_string(shape));
  if (whole.elements() == 0) return "";
  const Index place = index_of(random.between(0, whole.elements() - 1), shape);
  std::vector<Tile> single;
  for (const Tile& tile : c.arguments) {
    Index begin = index_of(broadcast_position(place, tile.shape()), tile.shape());
    Index end = begin;
    for (std::int64_t& bound : end) ++bound;
    single.push_back(tile.slice(begin, end));
  }
  Index end = place;
  for (std::int64_t& bound : end) ++bound;
  return difference(whole.slice(place, end), call(c.call, single));
}

Outcome commutative(Random&, const KernelCase& c) {
  return difference(call(c.call, c.arguments), call(c.call, {c.arguments[1], c.arguments[0]}));
}

Outcome associative(Random& random, const KernelCase& c) {
  const Tile& a = c.arguments[0];
  const Tile& b = c.arguments[1];
  const Tile ab = call(c.call, c.arguments);
  for (const Tile& like : {b, a, ab}) {
    const Tile third = random_tile(random, b.dtype(), like.shape(), {});
    if (!fits(c.call, {ab, third}) || !fits(c.call, {b, third})) continue;
    const Tile right = call(c.call, {b, third});
    if (fits(c.call, {a, right}))
      return difference(call(c.call, {ab, third}), call(c.call, {a, right}));
  }
  return not_applicable;
}

Outcome idempotent(Random&, const KernelCase& c) {
  const Tile& a = c.arguments[0];
  return difference(call(c.call, {a, a}), a);
}

Outcome has_identity(double identity, const KernelCase& c) {
  const Tile& a = c.arguments[0];
  const Tile e = Tile::full(a.dtype(), a.shape(), identity);
  const std::string left = difference(call(c.call, {e, a}), a);
  return left.empty() ? difference(call(c.call, {a, e}), a) : left;
}

Outcome addition(Random& random, const KernelCase& c) {
  const Tile& a = c.arguments[0];
  const Tile b = another(random, a);
  return difference(Elements(call(c.call, {a, b})), sum(Elements(a), Elements(b)));
}

Outcome is_zero(const KernelCase& c, const std::vector<Tile>& arguments) {
  for (const Tile& output : c.call.run(arguments)) {
    const std::string wrong = difference(output, Tile::zeros(output.dtype(), output.shape()));
    if (!wrong.empty()) return wrong;
  }
  return "";
}

Outcome zero_preserving(Random&, const KernelCase& c) {
  std::vector<Tile> zeros;
  for (const Tile& tile : c.arguments) zeros.push_back(Tile::zeros(tile.type()));
  return is_zero(c, zeros);
}

Outcome annihilated_by(int i, const KernelCase& c) {
  return is_zero(c, with_argument(c.arguments, i, Tile::zeros(c.arguments[i].type())));
}

Outcome linear_in(int i, Random& random, const KernelCase& c) {
  const Tile& a = c.arguments[i];
  const Tile b = another(random, a);
  const auto f = [&](const Tile& tile) {
    return Elements(call(c.call, with_argument(c.arguments, i, tile)));
  };
  if (leaves_arithmetic(a, call(c.call, c.arguments))) return not_applicable;
  const std::string additive =
      difference(f(to_tile(sum(Elements(a), Elements(b)))), sum(f(a), f(b)));
  if (!additive.empty() || a.dtype() == DType::boolean) return additive;
  const std::int64_t factor = random.between(-3, 3);
  return difference(f(to_tile(scaled(Elements(a), factor))), scaled(f(a), factor));
}

Outcome distributes_over(const Properties::Distribution& law, Random& random, const KernelCase& c) {
  const KernelCall g(law.over);
  const Tile& a = c.arguments[law.argument];
  const Tile b = another(random, a);
  const auto f = [&](const Tile& tile) {
    return call(c.call, with_argument(c.arguments, law.argument, tile));
  };
  if (!fits(g, {a, b}) || leaves_arithmetic(a, f(a))) return not_applicable;
  if (!fits(g, {f(a), f(b)})) return not_applicable;
  return difference(f(call(g, {a, b})), call(g, {f(a), f(b)}));
}

std::vector<Law> claimed_laws(const Properties& claims) {
  std::vector<Law> laws;
  if (claims.elementwise) laws.push_back({"elementwise", elementwise});
  if (claims.commutative) laws.push_back({"f(a,b) = f(b,a)", commutative});
  if (claims.associative) laws.push_back({"f(f(a,b),c) = f(a,f(b,c))", associative});
  if (claims.idempotent) laws.push_back({"f(a,a) = a", idempotent});
  if (claims.addition) laws.push_back({"f(a,b) = a + b", addition});
  if (claims.zero_preserving) laws.push_back({"f(0,...,0) = 0", zero_preserving});
  if (claims.identity)
    laws.push_back(
        {fmt::format("f(e,a) = f(a,e) = a for e = {}", *claims.identity),
         [e = *claims.identity](Random&, const KernelCase& c) { return has_identity(e, c); }});
  for (int i : claims.annihilated_by)
    laws.push_back({fmt::format("f = 0 if argument {} is 0", i),
                    [i](Random&, const KernelCase& c) { return annihilated_by(i, c); }});
  for (int i : claims.linear_in)
    laws.push_back({fmt::format("linear in argument {}", i),
                    [i](Random& random, const KernelCase& c) { return linear_in(i, random, c); }});
  for (const Properties::Distribution& law : claims.distributes_over)
    laws.push_back(
        {fmt::format("distributes over {} in argument {}", law.over, law.argument),
         [law](Random& random, const KernelCase& c) { return distributes_over(law, random, c); }});
  return laws;
}

/// Data without an answer, such as the largest of no elements, are no case of any law.
bool has_answer(const KernelCase& c) {
  try {
    c.call.run(c.arguments);
    return true;
  } catch (const TypeError&) {
    return false;
  } catch (const ValueError&) {
    return false;
  }
}

Outcome try_once(const Law& law, Random& random, const KernelCase& c) {
  if (!has_answer(c)) return not_applicable;
  try {
    return law.holds_of(random, c);
  } catch (const Error& error) {
    return fmt::format("one side ends with: {}", error.what());
  }
}

}  // namespace

ClaimsReport try_claims(const std::shared_ptr<const Kernel>& kernel, std::uint64_t seed,
                        int trials) {
  constexpr int attempts_a_trial = 40;
  ClaimsReport report;
  Random random(seed);
  for (const Law& law : claimed_laws(kernel->properties)) {
    ++report.laws;
    for (DType dtype : {DType::f32, DType::f64, DType::i64, DType::boolean}) {
      int tried = 0;
      std::string broken;
      for (int i = 0; i < attempts_a_trial * trials && tried < trials && broken.empty(); ++i) {
        const KernelCase c = random_case(random, kernel, {.tiles = {}, .dtype = dtype});
        const Outcome outcome = try_once(law, random, c);
        if (outcome) ++tried;
        if (outcome && !outcome->empty())
          broken = fmt::format("{}: {}: {}: {}", kernel->name, law.text, to_string(c), *outcome);
      }
      if (broken.empty() && tried < trials && dtype != DType::boolean)
        broken = fmt::format("{}: {}: only {} cases of {} were found", kernel->name, law.text,
                             tried, to_string(dtype));
      if (!broken.empty()) report.broken.push_back(broken);
      report.trials += tried;
    }
  }
  return report;
}

}  // namespace tessera
