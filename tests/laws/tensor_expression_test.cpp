#include "query/tensors/tensor_expression.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "lang/sql/parser.h"
#include "query/tensors/tensor_tiling.h"
#include "support/elements.h"
#include "support/random_tiles.h"
#include "tessera/run.h"
#include "tessera/session.h"

// Random expressions over random tensors, of every dtype and cut into tiles of any extents, against
// the same expressions on whole tiles: kernels that see everything at once, and for einsum plain
// loops.

namespace tessera {
namespace {

using query::Tensor;

/// An expression as text, and what it yields by definition.
struct Case {
  std::string text;
  Tile value;
  bool exact = true;  // otherwise rounding may decide a comparison, which is then not made
};

/// Extents that are often equal, often 1 and now and then 0.
std::int64_t random_side(Random& random) {
  if (random.chance(0.04)) return 0;
  return random.chance(0.2) ? 1 : random.between(2, 7);
}

class Expressions {
 public:
  explicit Expressions(std::uint64_t seed) : random_(seed) {
    for (std::int64_t& side : sides_) side = random_side(random_);
  }

  Case tensor() { return tensor(random_.between(0, 3)); }
  Case tensor(std::int64_t rank) {
    Shape shape;
    for (std::int64_t d = 0; d < rank; ++d)
      shape.push_back(sides_[static_cast<std::size_t>(random_.between(0, 2))]);
    return stored(shape);
  }

  Case stored(const Shape& shape) {
    const Tile tile =
        random_tile(random_, random_dtype(random_), shape, {Values::small_integers, Layouts::any});
    rough_ = rough_ || tile.dtype() == DType::f32;
    Shape cut;
    for (std::int64_t extent : shape)
      cut.push_back(random_.between(1, std::max<std::int64_t>(1, extent + 1)));
    const Presence presence = random_.chance(0.3) ? Presence::sparse : Presence::continuous;
    const std::string name = fmt::format("t{}", tensors_.size());
    tensors_.emplace(
        name,
        query::tensor_of(Plan::input(Relation::from_tensor(tile, cut, presence), name), shape));
    return {name, tile};
  }

  Case expression(int depth) {
    if (depth == 0) return tensor();
    switch (random_.between(0, 13)) {
      case 0: return transposed(expression(depth - 1));
      case 1: return unary(expression(depth - 1));
      case 2: return with_number(expression(depth - 1));
      case 3:
      case 4: return binary(expression(depth - 1));
      case 5: return reduction(expression(depth - 1));
      case 6: return product(expression(depth - 1));
      case 7: return einsum_of_one(expression(depth - 1));
      case 8: return einsum_of_two(expression(depth - 1));
      case 9: return chosen(expression(depth - 1));
      case 10: return side_by_side(expression(depth - 1));
      case 11: return stacked(expression(depth - 1));
      case 12: return scanned(expression(depth - 1));
      default: return softmax(expression(depth - 1));
    }
  }

  Tensor bind(const std::string& text,
              double worth_compiling = query::usually_worth_compiling) const {
    const auto statements = sql::parse("CREATE TENSOR r AS " + text);
    const auto& create = std::get<sql::CreateTensor>(statements.at(0)->node);
    return query::bind_tensor(
        *create.expression, [&](const std::string& name) { return tensors_.at(name); },
        worth_compiling);
  }

  /// The tensors that the expression names, by their names.
  const std::map<std::string, Tensor>& tensors() const { return tensors_; }
  Random& random() { return random_; }
  bool rough() const { return rough_; }  // some of it is in single precision

 private:
  Case transposed(const Case& a) {
    return {fmt::format("({}).T", a.text), a.value.transpose(), a.exact};
  }

  Case unary(const Case& a) {
    static const std::vector<std::string> names = {"relu", "abs", "square", "tanh", "logical_not"};
    const std::string name = a.exact ? random_.pick(names) : "abs";
    return {fmt::format("{}({})", name, a.text), KernelCall(name)({a.value}),
            a.exact && name != "tanh"};
  }

  Case with_number(const Case& a) {
    static const std::vector<std::pair<std::string, std::string>> operators = {
        {"+", "add"}, {"-", "sub"}, {"*", "mul"}, {"<", "less"}, {">=", "greater_equal"}};
    const auto& [op, kernel] = a.exact ? random_.pick(operators) : operators[0];
    const std::int64_t value = random_.between(0, 3);
    const bool left = random_.chance(0.5);
    const KernelCall call(kernel + "_scalar", {{"value", value}, {"left", left}});
    return {left ? fmt::format("({} {} ({}))", value, op, a.text)
                 : fmt::format("(({}) {} {})", a.text, op, value),
            call({a.value}), a.exact};
  }

  Case binary(const Case& a) {
    static const std::vector<std::pair<std::string, std::string>> operators = {
        {"+", "add"}, {"*", "mul"}, {"=", "equal"}, {"<=", "less_equal"}, {"<>", "not_equal"}};
    const auto& [op, kernel] = a.exact ? random_.pick(operators) : operators[1];
    const Case b = stored(random_narrowing(random_, a.value.shape()));
    const bool swap = random_.chance(0.5);
    const Case &left = swap ? b : a, &right = swap ? a : b;
    return {fmt::format("(({}) {} ({}))", left.text, op, right.text),
            KernelCall(kernel)({left.value, right.value}), a.exact};
  }

  Case reduction(const Case& a) {
    static const std::vector<std::string> names = {
        "sum", "max", "min", "mean", "all", "any", "count_nonzero", "product", "argmax"};
    std::vector<std::int64_t> axes;
    for (int d = 0; d < a.value.rank(); ++d)
      if (random_.chance(0.5)) axes.push_back(random_.chance(0.5) ? d : d - a.value.rank());
    const bool keepdims = random_.chance(0.4);
    std::string name = a.exact ? random_.pick(names) : "sum";
    // What has no elements has no largest.
    if (a.value.elements() == 0 && (name == "max" || name == "min" || name == "argmax"))
      name = "sum";
    const KernelCall call(name, {{"axes", axes}, {"keepdims", keepdims}});
    return {fmt::format("{}({}, axes=[{}], keepdims={})", name, a.text, fmt::join(axes, ", "),
                        keepdims),
            call({a.value}), a.exact && name != "mean" && name != "product"};
  }

  Case product(const Case& a) {
    if (a.value.rank() == 0) return a;
    Shape shape;
    const std::int64_t inner = a.value.shape().back();
    if (random_.chance(0.3)) {
      shape = {inner};
    } else {
      if (a.value.rank() > 2 && random_.chance(0.7))
        shape =
            random_narrowing(random_, Shape(a.value.shape().begin(), a.value.shape().end() - 2));
      else if (random_.chance(0.2))
        shape = {random_.between(1, 3)};
      if (a.value.rank() > 2 && shape.rank() == 1 && shape[0] != 1 &&
          a.value.shape()[a.value.rank() - 3] != 1 &&
          a.value.shape()[a.value.rank() - 3] != shape[0])
        shape = {};
      shape.push_back(inner);
      shape.push_back(random_side(random_));
    }
    const Case b = stored(shape);
    return {fmt::format("(({}) @ ({}))", a.text, b.text), KernelCall("matmul")({a.value, b.value}),
            a.exact};
  }

  Case softmax(const Case& a) {
    if (a.value.rank() == 0 || a.value.shape().back() == 0) return a;
    return {fmt::format("softmax({})", a.text), KernelCall("softmax")({a.value}), false};
  }

  Case chosen(const Case& a) {
    const Shape& shape = a.value.shape();
    const Case condition = stored(random_narrowing(random_, shape));
    const Case b = stored(random_narrowing(random_, shape));
    const DType dtype = promote(a.value.dtype(), b.value.dtype());
    const Elements holds(condition.value), yes = converted(Elements(a.value), dtype),
                                           no = converted(Elements(b.value), dtype);
    Elements result(dtype, shape);
    for (std::int64_t i = 0; i < result.size(); ++i) {
      const Index index = index_of(i, shape);
      const Elements& from = holds.is_nonzero(broadcast_position(index, holds.shape)) ? yes : no;
      result.set(i, from, broadcast_position(index, from.shape));
    }
    return {fmt::format("where({}, {}, {})", condition.text, a.text, b.text), to_tile(result),
            a.exact};
  }

  std::int64_t random_axis(int rank) { return random_.between(-rank, rank - 1); }

  Case side_by_side(const Case& a) {
    if (a.value.rank() == 0) return a;
    const std::int64_t axis = random_axis(a.value.rank());
    std::vector<Tile> tiles{a.value};
    std::string text = a.text;
    for (std::int64_t more = random_.between(0, 5); more > 0; --more) {
      Shape shape = a.value.shape();
      shape[static_cast<int>(axis < 0 ? axis + shape.rank() : axis)] = random_side(random_);
      const Case next = stored(shape);
      tiles.push_back(next.value);
      text += ", " + next.text;
    }
    return {fmt::format("concat({}, axis={})", text, axis),
            KernelCall("concat", {{"axis", axis}})(tiles), a.exact};
  }

  Case stacked(const Case& a) {
    if (a.value.rank() > 3) return a;
    const std::int64_t axis = random_axis(a.value.rank() + 1);
    const Case b = stored(a.value.shape());
    const KernelCall expand("expand_dims", {{"axis", axis}});
    return {fmt::format("stack({}, {}, axis={})", a.text, b.text, axis),
            KernelCall("concat", {{"axis", axis}})({expand({a.value}), expand({b.value})}),
            a.exact};
  }

  Case scanned(const Case& a) {
    if (a.value.rank() == 0) return a;
    const std::int64_t axis = random_axis(a.value.rank());
    const bool sums = random_.chance(0.7), exclusive = random_.chance(0.3);
    const std::string name = sums || !a.exact ? "cumsum" : "cumprod";
    return {fmt::format("{}({}, axis={}, exclusive={})", name, a.text, axis, exclusive),
            KernelCall(name, {{"axis", axis}, {"exclusive", exclusive}})({a.value}),
            a.exact && name == "cumsum"};
  }

  /// Letters for a shape: dimensions of one extent may get the same one.
  std::string letters_for(const Shape& shape, std::map<char, std::int64_t>& extents) {
    std::string letters;
    for (std::int64_t extent : shape) {
      std::vector<char> fitting;
      for (const auto& [letter, known] : extents)
        if (known == extent) fitting.push_back(letter);
      char letter = static_cast<char>('a' + extents.size());
      if (!fitting.empty() && random_.chance(0.6)) letter = random_.pick(fitting);
      extents[letter] = extent;
      letters += letter;
    }
    return letters;
  }

  std::string output_for(const std::map<char, std::int64_t>& extents) {
    std::vector<char> output;
    for (const auto& [letter, extent] : extents)
      if (random_.chance(0.6) && output.size() < 3) output.push_back(letter);
    random_.shuffle(output);
    return {output.begin(), output.end()};
  }

  /// By plain loops over all values of all letters.
  static Tile loops(const std::string& a_letters, const Elements& a, const std::string& b_letters,
                    const Elements& b, const std::string& output,
                    const std::map<char, std::int64_t>& extents) {
    Shape shape, all;
    for (char letter : output) shape.push_back(extents.at(letter));
    std::map<char, int> place;
    for (const auto& [letter, extent] : extents) {
      place[letter] = all.rank();
      all.push_back(extent);
    }
    Elements result(a.dtype, shape);
    const auto position = [&](const std::string& letters, const Shape& of, const Index& values) {
      Index index;
      for (char letter : letters) index.push_back(values[place.at(letter)]);
      return position_of(index, of);
    };
    for (std::int64_t i = 0; i < all.elements(); ++i) {
      const Index values = index_of(i, all);
      const std::int64_t to = position(output, shape, values);
      const std::int64_t from_a = position(a_letters, a.shape, values);
      const std::int64_t from_b = position(b_letters, b.shape, values);
      if (a.dtype == DType::boolean)
        result.set_integer(to, result.integers[to] | (a.integers[from_a] & b.integers[from_b]));
      else if (a.dtype == DType::i64)
        result.set_integer(
            to, static_cast<std::int64_t>(static_cast<std::uint64_t>(result.integers[to]) +
                                          static_cast<std::uint64_t>(a.integers[from_a]) *
                                              static_cast<std::uint64_t>(b.integers[from_b])));
      else
        result.set_real(to, result.reals[to] + a.reals[from_a] * b.reals[from_b]);
    }
    return to_tile(result);
  }

  Case einsum_of_one(const Case& a) {
    std::map<char, std::int64_t> extents;
    const std::string letters = letters_for(a.value.shape(), extents);
    const std::string output = output_for(extents);
    Elements one(a.value.dtype(), {});
    one.set_real(0, 1);
    if (a.value.dtype() == DType::i64 || a.value.dtype() == DType::boolean) one.set_integer(0, 1);
    return {fmt::format("einsum('{}->{}', {})", letters, output, a.text),
            loops(letters, Elements(a.value), "", one, output, extents), a.exact};
  }

  Case einsum_of_two(const Case& a) {
    const Case b = tensor();
    std::map<char, std::int64_t> extents;
    const std::string first = letters_for(a.value.shape(), extents),
                      second = letters_for(b.value.shape(), extents);
    const std::string output = output_for(extents);
    const DType dtype = promote(a.value.dtype(), b.value.dtype());
    return {fmt::format("einsum('{},{}->{}', {}, {})", first, second, output, a.text, b.text),
            loops(first, converted(Elements(a.value), dtype), second,
                  converted(Elements(b.value), dtype), output, extents),
            a.exact};
  }

  Random random_;
  bool rough_ = false;
  std::int64_t sides_[3];
  std::map<std::string, Tensor> tensors_;
};

std::string difference(const Tile& actual, const Tile& expected, bool rough) {
  const Elements a(actual), b(expected);
  if (a.dtype != b.dtype || a.shape != b.shape)
    return fmt::format("it is {}, not {}", to_string(actual.type()), to_string(expected.type()));
  double scale = 1;
  for (double value : b.reals)
    if (std::isfinite(value)) scale = std::max(scale, std::abs(value));
  const double tolerance = scale * (rough ? 1e-4 : 1e-10);
  for (std::int64_t i = 0; i < a.size(); ++i)
    if (!same_element(a, b, i) && !(std::abs(a.reals[i] - b.reals[i]) <= tolerance))
      return fmt::format("element {} is {}, not {}", to_string(index_of(i, a.shape)), a.print(i),
                         b.print(i));
  return "";
}

TEST(TensorExpression, EqualsTheSameOnWholeTiles) {
  constexpr std::uint64_t cases = 3000;
  for (std::uint64_t seed = 0; seed < cases; ++seed) {
    Expressions expressions(seed);
    const Case one = expressions.expression(static_cast<int>(expressions.random().between(1, 3)));
    SCOPED_TRACE(fmt::format("seed {}: {}", seed, one.text));
    std::optional<Tensor> bound;
    ASSERT_NO_THROW(bound = expressions.bind(one.text));
    const Tensor& tensor = *bound;
    EXPECT_EQ(tensor.type.shape, one.value.shape());
    EXPECT_EQ(tensor.type.dtype, one.value.dtype());
    std::optional<Relation> result;
    ASSERT_NO_THROW(result = tensor.plan.interpret());
    EXPECT_EQ(difference(result->to_tensor(), one.value, expressions.rough()), "");
    // The engine on several sites, with all that the optimizer does, does the same.
    if (seed % 5 == 0) {
      RunOptions options;
      options.sites = 1 + static_cast<int>(seed / 5 % 3);
      EXPECT_EQ(difference(tensor.plan.run(options).to_tensor(), one.value, expressions.rough()),
                "");
    }
    if (HasFailure()) return;
  }
}

TEST(TensorExpression, EqualsTheSameWhenChainsBecomeOneForm) {
  constexpr std::uint64_t cases = 600;
  int forms = 0;
  for (std::uint64_t seed = 50'000; seed < 50'000 + cases; ++seed) {
    Expressions expressions(seed);
    const Case one = expressions.expression(static_cast<int>(expressions.random().between(2, 5)));
    SCOPED_TRACE(fmt::format("seed {}: {}", seed, one.text));
    const Tensor tensor = expressions.bind(one.text, 0);
    EXPECT_EQ(tensor.type.shape, one.value.shape());
    EXPECT_EQ(tensor.type.dtype, one.value.dtype());
    EXPECT_EQ(difference(tensor.plan.interpret().to_tensor(), one.value, expressions.rough()), "");
    if (seed % 5 == 0)
      EXPECT_EQ(difference(tensor.plan.run().to_tensor(), one.value, expressions.rough()), "");
    forms += tensor.plan.explain().find("compute(") != std::string::npos ? 1 : 0;
    if (HasFailure()) return;
  }
  EXPECT_GT(forms, static_cast<int>(cases) / 10);
}

TEST(TensorExpression, TilesOfAnyExtentsAreMadeOfAnyOthers) {
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    Random random(seed);
    Expressions expressions(seed);
    const Case one = expressions.tensor(random.between(1, 3));
    Shape wanted;
    for (std::int64_t extent : one.value.shape())
      wanted.push_back(random.between(1, std::max<std::int64_t>(1, extent + 2)));
    const Tensor tensor = expressions.bind(one.text);
    SCOPED_TRACE(fmt::format("seed {}: {} to {}", seed, to_string(tensor.type), to_string(wanted)));
    const Tensor other = query::retiled(tensor, wanted);
    for (int d = 0; d < wanted.rank(); ++d)
      EXPECT_EQ(other.type.tile[d],
                std::max<std::int64_t>(1, std::min(wanted[d], one.value.shape()[d])));
    EXPECT_EQ(difference(other.plan.run().to_tensor(), one.value, expressions.rough()), "");
    if (HasFailure()) return;
  }
}

/// A session as somebody may have set it up.
SessionOptions random_settings(Random& random) {
  SessionOptions options;
  options.tile_size = static_cast<int>(random.between(0, 3));
  options.run.sites = random.chance(0.3) ? static_cast<int>(random.between(2, 3)) : 1;
  options.run.optimize = !random.chance(0.2);
  options.run.threads = static_cast<int>(random.between(0, 2));
  if (random.chance(0.2)) options.run.memory_limit = std::int64_t{1} << 20;
  return options;
}

TEST(TensorExpression, StatementsStoreTheSameWhateverTheSettings) {
  for (std::uint64_t seed = 10'000; seed < 10'300; ++seed) {
    Expressions expressions(seed);
    const Case one = expressions.expression(static_cast<int>(expressions.random().between(1, 3)));
    const SessionOptions settings = random_settings(expressions.random());
    SCOPED_TRACE(fmt::format("seed {}: {} in tiles of {}", seed, one.text, settings.tile_size));
    Session session(Database::temporary(), settings);
    Changes changes;
    for (const auto& [name, tensor] : expressions.tensors())
      changes.results.emplace_back(name, tensor.plan);
    session.database().change(changes, {});
    ASSERT_NO_THROW(session.execute("CREATE TENSOR result AS " + one.text));
    const StoredInfo info = session.database().info("result");
    ASSERT_EQ(info.shape, one.value.shape());
    if (settings.tile_size > 0)
      for (int d = 0; d < info.shape->rank(); ++d)
        EXPECT_LE(info.type.columns[0].type.shape[d], settings.tile_size);
    const Tile stored = session.database().plan("result").run().to_tensor();
    EXPECT_EQ(difference(stored, one.value, expressions.rough()), "");
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace tessera
