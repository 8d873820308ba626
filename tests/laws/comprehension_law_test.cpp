#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <map>

#include "kernel/form/form_cache.h"
#include "lang/sql/parser.h"
#include "query/tensors/tensor_expression.h"
#include "support/naive_comprehension.h"
#include "support/random_tiles.h"
#include "tessera/run.h"

// Random array comprehensions over random arrays, dense and sparse, cut into tiles of any extents,
// against their definition: as the reference interpreter computes them, and as the engine does on
// several sites, with the optimizer and without.

namespace tessera {
namespace {

struct Stored {
  Tile tile;
  query::Tensor tensor;
};

/// An index variable and how far it runs.
struct IndexVariable {
  std::string name;
  std::int64_t extent;
  bool determined = false;  // by another one
};

class RandomComprehension {
 public:
  explicit RandomComprehension(std::uint64_t seed) : random_(seed) {
    for (std::int64_t& side : sides_) side = random_.chance(0.15) ? 1 : random_.between(2, 6);
    for (const char* name : {"A", "B", "C"}) store(name, 2);
    for (const char* name : {"V", "W"}) store(name, 1);
  }

  std::string text() {
    const std::int64_t generators = random_.between(1, 3);
    for (std::int64_t g = 0; g < generators; ++g) generator();
    if (random_.chance(0.3)) equation();
    if (random_.chance(0.4)) let();
    if (random_.chance(0.3)) condition();
    return random_.chance(0.5) ? grouped() : plain();
  }

  const std::map<std::string, Stored>& arrays() const { return arrays_; }
  Random& random() { return random_; }

 private:
  std::int64_t side() { return sides_[static_cast<std::size_t>(random_.between(0, 2))]; }
  std::string fresh(const char* stem) { return fmt::format("{}{}", stem, ++count_); }

  void store(const std::string& name, int rank) {
    Shape shape, cut;
    for (int d = 0; d < rank; ++d) shape.push_back(side());
    const DType dtype = random_.chance(0.3) ? DType::i64 : DType::f64;
    const Layouts layout = random_.chance(0.3) ? Layouts::sparse : Layouts::dense;
    const Tile tile = random_tile(random_, dtype, shape, {Values::small_integers, layout});
    for (std::int64_t extent : shape) cut.push_back(random_.between(1, extent + 1));
    const Presence presence =
        tile.is_sparse() && random_.chance(0.5) ? Presence::sparse : Presence::continuous;
    arrays_.emplace(
        name,
        Stored{tile, query::tensor_of(Plan::input(Relation::from_tensor(tile, cut, presence), name),
                                      shape)});
  }

  void generator() {
    if (random_.chance(0.2)) {
      const std::int64_t from = random_.between(-2, 2), extent = side();
      const std::string name = fresh("i");
      qualifiers_.push_back(fmt::format("{} <- {} .. {}", name, from, from + extent - 1));
      values_.push_back(name);
      if (from == 0)
        indices_.push_back({name, extent});
      else
        shifted_ = true;
      return;
    }
    static const std::vector<std::string> names = {"A", "B", "C", "V", "W"};
    const std::string array = random_.pick(names);
    const Shape& shape = arrays_.at(array).tile.shape();
    std::vector<std::string> own;
    std::vector<std::string> equalities;
    for (std::int64_t extent : shape) {
      IndexVariable index{fresh("i"), extent};
      // Often a join with what there is.
      for (const IndexVariable& known : indices_)
        if (!index.determined && known.extent == extent && random_.chance(0.5)) {
          equalities.push_back(fmt::format("{} == {}", index.name, known.name));
          index.determined = true;
        }
      own.push_back(index.name);
      indices_.push_back(index);
    }
    const std::string value = fresh("v");
    const std::string pattern =
        own.size() == 1 ? own[0] : fmt::format("({})", fmt::join(own, ", "));
    qualifiers_.push_back(
        fmt::format("({}, {}) {} {}", pattern, value, random_.chance(0.3) ? "<<-" : "<-", array));
    for (const std::string& equality : equalities) qualifiers_.push_back(equality);
    values_.push_back(value);
  }

  /// An index as a function of another one.
  void equation() {
    for (IndexVariable& index : indices_) {
      if (index.determined || indices_.size() < 2) continue;
      const IndexVariable& other = random_.pick(indices_);
      if (other.name == index.name || other.determined) continue;
      const std::int64_t by = random_.between(0, 2);
      qualifiers_.push_back(random_.chance(0.5)
                                ? fmt::format("{} == {} + {}", index.name, other.name, by)
                                : fmt::format("{} - {} == {}", other.name, by, index.name));
      index.determined = true;
      return;
    }
  }

  void let() {
    const std::string name = fresh("x");
    qualifiers_.push_back(fmt::format("let {} = {}", name, arithmetic(2)));
    values_.push_back(name);
  }

  void condition() {
    static const std::vector<std::string> comparisons = {"<", "<=", ">", "<>", "=="};
    qualifiers_.push_back(
        fmt::format("{} {} {}", arithmetic(1), random_.pick(comparisons), random_.between(-1, 3)));
  }

  std::string arithmetic(int depth) {
    if (depth == 0 || random_.chance(0.2))
      return random_.chance(0.2) ? fmt::format("{}", random_.between(0, 3)) : random_.pick(values_);
    const std::string a = arithmetic(depth - 1), b = arithmetic(depth - 1);
    switch (random_.between(0, 5)) {
      case 0: return fmt::format("({} + {})", a, b);
      case 1: return fmt::format("({} - {})", a, b);
      case 2:
      case 3: return fmt::format("{} * {}", a, b);
      case 4: return fmt::format("CASE WHEN {} > 0 THEN {} ELSE {} END", a, b, a);
      default: return nested(a);
    }
  }

  /// A fold of a comprehension inside.
  std::string nested(const std::string& factor) {
    if (indices_.empty()) return factor;
    const IndexVariable& outer = random_.pick(indices_);
    const std::string i = fresh("i"), j = fresh("i"), v = fresh("v");
    return fmt::format("+/[ {0} * {1} | (({2}, {3}), {0}) <- A, {2} == {4} ]", v, factor, i, j,
                       outer.name);
  }

  std::vector<IndexVariable> free_indices() const {
    std::vector<IndexVariable> free;
    for (const IndexVariable& index : indices_)
      if (!index.determined) free.push_back(index);
    return free;
  }

  std::string plain() {
    std::vector<IndexVariable> keys = free_indices();
    if (shifted_ || keys.empty() || keys.size() > 4) return grouped();
    random_.shuffle(keys);
    return finished(keys, arithmetic(2), true);
  }

  std::string grouped() {
    std::vector<IndexVariable> keys;
    for (const IndexVariable& index : free_indices())
      if (keys.size() < 3 && random_.chance(0.6)) keys.push_back(index);
    if (keys.empty()) {
      if (indices_.empty()) {
        generator();
        return grouped();
      }
      keys.push_back(indices_[0]);
    }
    std::vector<std::string> names;
    if (random_.chance(0.25)) {  // by functions of indices
      std::vector<std::string> functions;
      for (IndexVariable& key : keys) {
        const std::int64_t by = random_.between(1, 3);
        switch (random_.between(0, 4)) {
          case 0: functions.push_back(fmt::format("{} // {}", key.name, by)); break;
          case 1: functions.push_back(fmt::format("{} % {}", key.name, by)); break;
          case 2:
            functions.push_back(fmt::format("({} + {}) % {}", key.name, by, key.extent));
            break;
          case 3: functions.push_back(fmt::format("{} + {}", key.name, by)); break;
          default: functions.push_back(fmt::format("{} * {}", key.name, by)); break;
        }
        key = {fresh("k"), key.extent + random_.between(0, 2)};
        names.push_back(key.name);
      }
      qualifiers_.push_back(
          fmt::format("group by ({}) : ({})", fmt::join(names, ", "), fmt::join(functions, ", ")));
      if (names.size() == 1)
        qualifiers_.back() = fmt::format("group by {} : {}", names[0], functions[0]);
    } else {
      for (const IndexVariable& key : keys) names.push_back(key.name);
      qualifiers_.push_back(names.size() == 1
                                ? fmt::format("group by {}", names[0])
                                : fmt::format("group by ({})", fmt::join(names, ", ")));
    }
    static const std::vector<std::string> folds = {"+",   "+",     "*",   "min",
                                                   "max", "count", "and", "or"};
    const auto one = [&] {
      const std::string fold = random_.pick(folds);
      const std::string value = random_.pick(values_);
      const std::string number = fold == "and" || fold == "or" ? fmt::format("({} > 0)", value)
                                 : random_.chance(0.3)
                                     ? fmt::format("({} * {})", value, random_.pick(values_))
                                     : value;
      return fold == "and" || fold == "or"
                 ? fmt::format("CASE WHEN {}/{} THEN 1 ELSE 0 END", fold, number)
                 : fmt::format("{}/{}", fold, number);
    };
    std::string value = one();
    if (random_.chance(0.3)) value += " + " + one();
    random_.shuffle(keys);
    return finished(keys, value, false);
  }

  std::string finished(const std::vector<IndexVariable>& keys, const std::string& value,
                       bool functions) {
    std::vector<std::string> names;
    std::vector<std::int64_t> extents;
    for (const IndexVariable& key : keys) {
      std::int64_t extent = key.extent;
      std::string name = key.name;
      if (functions && random_.chance(0.2)) {
        const std::int64_t by = random_.between(1, 3);
        switch (random_.between(0, 3)) {
          case 0: name = fmt::format("({} + {}) % {}", name, by, extent); break;
          case 1: name = fmt::format("{} - {}", extent - 1, name); break;
          case 2: name = fmt::format("{} + {}", name, by); break;
          default: name = fmt::format("{} * {}", name, by); break;
        }
      }
      names.push_back(name);
      extents.push_back(random_.chance(0.8) ? extent : random_.between(1, extent + 2));
    }
    return fmt::format("tensor*({})[ ({}, {}) | {} ]", fmt::join(extents, ", "),
                       names.size() == 1 ? names[0] : fmt::format("({})", fmt::join(names, ", ")),
                       value, fmt::join(qualifiers_, ", "));
  }

  Random random_;
  std::int64_t sides_[3];
  std::map<std::string, Stored> arrays_;
  int count_ = 0;
  bool shifted_ = false;
  std::vector<IndexVariable> indices_;
  std::vector<std::string> values_, qualifiers_;
};

std::string difference(const Tile& actual, const Tile& expected) {
  if (actual.shape() != expected.shape())
    return fmt::format("it is {}, not {}", to_string(actual.shape()), to_string(expected.shape()));
  const Tile a = actual.cast(DType::f64).contiguous(), b = expected.contiguous();
  for (std::int64_t i = 0; i < b.elements(); ++i) {
    const double x = a.data<double>()[i], y = b.data<double>()[i];
    if (std::abs(y) > 1e12) continue;  // integers of 64 bits may have wrapped around
    if (x != y && !(std::abs(x - y) <= 1e-9 * std::max(1.0, std::abs(y))))
      return fmt::format("element {} is {}, not {}", i, x, y);
  }
  return "";
}

std::uint64_t cases() {
  const char* said = std::getenv("COMPREHENSIONS");
  return said == nullptr ? 600 : std::strtoull(said, nullptr, 10);
}

TEST(Comprehension, IsWhatItsDefinitionSays) {
  int compared = 0;
  for (std::uint64_t seed = 0; seed < cases(); ++seed) {
    RandomComprehension made(seed);
    const std::string text = made.text();
    SCOPED_TRACE(fmt::format("seed {}: {}", seed, text));
    const auto statements = sql::parse("CREATE TENSOR r AS " + text);
    const auto& create = std::get<sql::CreateTensor>(statements.at(0)->node);
    const auto& comprehension =
        *std::get<std::shared_ptr<const sql::Comprehension>>(create.expression->node);
    const Tile expected = naive_comprehension(
        comprehension, [&](const std::string& name) { return made.arrays().at(name).tile; });
    const query::Tensor tensor = query::bind_tensor(
        *create.expression, [&](const std::string& name) { return made.arrays().at(name).tensor; });
    EXPECT_EQ(difference(tensor.plan.interpret().to_tensor(), expected), "");
    if (seed % 3 == 0) {
      RunOptions options;
      options.sites = static_cast<int>(made.random().between(1, 4));
      options.optimize = !made.random().chance(0.2);
      EXPECT_EQ(difference(tensor.plan.run(options).to_tensor(), expected), "");
    }
    ++compared;
    if (HasFailure()) return;
  }
  EXPECT_EQ(compared, static_cast<int>(cases()));
  EXPECT_EQ(form_cache().failures(), 0);  // what can be compiled is
}

}  // namespace
}  // namespace tessera
