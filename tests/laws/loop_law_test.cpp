#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <map>

#include "lang/sql/parser.h"
#include "lang/sql/program.h"
#include "query/loops/program.h"
#include "support/random_tiles.h"
#include "support/sequential_program.h"
#include "tessera/run.h"

// Random programs of loops and assignments, whose iterations depend on each other or not, against
// their definition: one step after the other, element by element.

namespace tessera {
namespace {

constexpr std::int64_t side = 7;  // of all arrays; no index is larger

class RandomProgram {
 public:
  explicit RandomProgram(std::uint64_t seed) : random_(seed) {
    for (const char* name : {"A", "B"}) store(name, {side, side});
    store("V", {side});
  }

  std::string text() {
    line("var R[7, 7];");
    line(random_.chance(0.5) ? "var S[7];" : "for z = 0, 6 do S[z] := 0;");
    line(fmt::format("var total = {};", random_.between(0, 2)));
    const std::int64_t loops = random_.between(1, 3);
    for (std::int64_t i = 0; i < loops; ++i) {
      if (random_.chance(0.15))
        recurrence();
      else
        loop(3);
    }
    return "{ " + text_ + "}";
  }

  const std::map<std::string, Tile>& tiles() const { return tiles_; }
  const std::map<std::string, query::Tensor>& tensors() const { return tensors_; }
  Random& random() { return random_; }

 private:
  void line(const std::string& more) { text_ += more + " "; }

  void store(const std::string& name, const Shape& shape) {
    Shape cut;
    for (std::int64_t extent : shape) cut.push_back(random_.between(2, extent + 1));
    const Layouts layout = random_.chance(0.2) ? Layouts::sparse : Layouts::dense;
    const Tile tile = random_tile(random_, DType::f64, shape, {Values::small_integers, layout});
    tiles_.emplace(name, tile.dense());
    const Plan plan = Plan::input(Relation::from_tensor(tile, cut, Presence::continuous), name);
    tensors_.emplace(name, query::tensor_of(plan, shape));
  }

  void loop(int depth) {
    const std::string index = fmt::format("i{}", ++count_);
    const std::string outer = indices_.empty() ? "" : random_.pick(indices_);
    switch (outer.empty() ? random_.between(0, 2) : random_.between(0, 5)) {
      case 0: line(fmt::format("for {} = 3, 0, -1 do {{", index)); break;
      case 1: line(fmt::format("for {} = {}, 3, 2 do {{", index, random_.between(0, 1))); break;
      case 3: line(fmt::format("for {} = {}, 3 do {{", index, outer)); break;
      case 4: line(fmt::format("for {} = 0, {} - 1 do {{", index, outer)); break;
      default:
        line(fmt::format("for {} = {}, {} do {{", index, random_.between(0, 1),
                         random_.between(2, 3)));
    }
    indices_.push_back(index);
    const std::size_t names = numbers_.size();
    const std::int64_t steps = random_.between(1, 3);
    for (std::int64_t s = 0; s < steps; ++s) step(depth - 1);
    line("};");
    indices_.pop_back();
    numbers_.resize(names);
  }

  /// Independent iterations, each of which is a loop in sequence.
  void recurrence() {
    const std::string i = fmt::format("i{}", ++count_), j = fmt::format("i{}", ++count_);
    const std::string number = fmt::format("t{}", ++count_);
    line(fmt::format("for {} = 0, 3 do {{", i));
    indices_.push_back(i);
    if (random_.chance(0.5)) line(fmt::format("S[{}] := {};", i, value(1)));
    line(fmt::format("{} := {};", number, value(1)));
    line(fmt::format("for {} = 1, {} do {{", j, random_.chance(0.7) ? "3" : i));
    indices_.push_back(j);
    line(fmt::format("R[{0}, {1}] := R[{0}, {1} - 1] + A[{1}, {0}] - {2};", i, j, number));
    if (random_.chance(0.5)) line(fmt::format("S[{}] += R[{}, {}];", i, i, j));
    if (random_.chance(0.5)) line(fmt::format("{} += B[{}, {}];", number, i, j));
    line("};};");
    indices_.clear();
  }

  void step(int depth) {
    switch (random_.between(0, 9)) {
      case 0:
      case 1:
      case 2:
        if (depth > 0) return loop(depth);
        break;
      case 3:
        line(fmt::format("if {} {} {} then {{", value(1),
                         random_.chance(0.5) ? "<" : "<=", value(0)));
        assignment();
        if (random_.chance(0.4)) {
          line("} else {");
          assignment();
        }
        return line("};");
      case 4: {
        const std::string name = fmt::format("t{}", ++count_);
        line(fmt::format("{} := {};", name, value(1)));
        numbers_.push_back(name);
        return;
      }
      case 5:
        if (numbers_.empty() || numbers_.back()[0] != 't') break;
        return line(fmt::format("{} += {};", numbers_.back(), value(1)));
      case 6: return line(fmt::format("total += {};", value(1)));
      case 7: {
        const std::string name = fmt::format("n{}", ++count_);
        line(fmt::format("let {} = {};", name, index()));
        numbers_.push_back(name);
        return;
      }
      default: break;
    }
    assignment();
  }

  void assignment() {
    static const std::vector<std::string> updates = {
        ":=", ":=", ":=", "+=", "+=", "-=", "min=", "max="};
    const std::string target = random_.chance(0.5) ? fmt::format("R[{}, {}]", index(), index())
                                                   : fmt::format("S[{}]", index());
    line(fmt::format("{} {} {};", target, random_.pick(updates), value(2)));
  }

  std::string index() {
    const std::string& name = random_.pick(indices_);
    switch (random_.between(0, 9)) {
      case 0: return fmt::format("{} + {}", name, random_.between(1, 2));
      case 1: return fmt::format("3 - {}", name);
      case 2: return fmt::format("2 * {}", name);
      case 3: return fmt::format("{}", random_.between(0, 6));
      case 4: return fmt::format("({} + {}) % 4", name, random_.pick(indices_));
      default: return name;
    }
  }

  std::string value(int depth) {
    if (depth > 0 && random_.chance(0.7)) {
      static const std::vector<std::string> operators = {"+", "-", "+", "*"};
      return fmt::format("({} {} {})", value(depth - 1), random_.pick(operators), value(depth - 1));
    }
    switch (random_.between(0, 9)) {
      case 0: return fmt::format("{}", random_.between(0, 3));
      case 1: return random_.pick(indices_);
      case 2: return fmt::format("V[{}]", index());
      case 3: return random_.chance(0.5) ? "total" : fmt::format("S[{}]", index());
      case 4: return fmt::format("R[{}, {}]", index(), index());
      case 5:
      case 6:
        if (!numbers_.empty()) return random_.pick(numbers_);
        break;
      default: break;
    }
    return fmt::format("{}[{}, {}]", random_.chance(0.5) ? "A" : "B", index(), index());
  }

  Random random_;
  std::map<std::string, Tile> tiles_;
  std::map<std::string, query::Tensor> tensors_;
  std::string text_;
  int count_ = 0;
  std::vector<std::string> indices_, numbers_;
};

std::string differing(const Tile& actual, const Tile& expected) {
  if (actual.shape() != expected.shape())
    return fmt::format("it is {}, not {}", to_string(actual.shape()), to_string(expected.shape()));
  const Tile a = actual.cast(DType::f64).contiguous(), b = expected.contiguous();
  for (std::int64_t i = 0; i < b.elements(); ++i) {
    const double x = a.data<double>()[i], y = b.data<double>()[i];
    if (!std::isfinite(y) || std::abs(y) > 1e12) continue;  // order of operations matters
    if (std::abs(x - y) > 1e-9 * std::max(1.0, std::abs(y)))
      return fmt::format("element {} is {}, not {}", i, x, y);
  }
  return "";
}

std::uint64_t programs() {
  const char* said = std::getenv("PROGRAMS");
  return said == nullptr ? 100 : std::strtoull(said, nullptr, 10);
}

bool grows_large(const std::map<std::string, Tile>& arrays) {
  for (const auto& [name, tile] : arrays) {
    const Tile whole = tile.contiguous();
    for (std::int64_t i = 0; i < whole.elements(); ++i)
      if (!(std::abs(whole.data<double>()[i]) < 1e9)) return true;
  }
  return false;
}

TEST(Loops, AreWhatTheirDefinitionSays) {
  std::uint64_t at_once = 0, compared = 0;
  const std::vector<std::string> wanted = {"R", "S", "total"};
  for (std::uint64_t seed = 0; seed < programs(); ++seed) {
    RandomProgram made(seed);
    const std::string text = made.text();
    SCOPED_TRACE(fmt::format("seed {}: {}", seed, text));
    const auto statements = sql::parse("CREATE TENSOR R AS " + text);
    const sql::Program& program = *std::get<sql::CreateTensor>(statements.at(0)->node).program;
    std::map<std::string, Tile> expected = made.tiles();
    expected.emplace("S", MutableTile::zeros(DType::f64, {side}).publish());
    run_in_sequence(program, expected);
    if (grows_large(expected)) continue;
    const query::TensorNamed named = [&](const std::string& name) {
      if (!made.tensors().contains(name)) throw TypeError("no tensor " + name);
      return made.tensors().at(name);
    };
    RunOptions options;
    options.sites = static_cast<int>(made.random().between(1, 3));
    const query::RunPlans run = [&](const std::vector<Plan>& plans) {
      return tessera::run(plans, options);
    };
    query::BoundProgram bound;
    ASSERT_NO_THROW(bound = query::bind_program(program, wanted, named, run, {}));
    for (std::size_t i = 0; i < wanted.size(); ++i)
      EXPECT_EQ(
          differing(bound.results.at(i).plan.run(options).to_tensor(), expected.at(wanted[i])), "")
          << wanted[i];
    const query::BoundProgram planned = query::bind_program(program, wanted, named, nullptr, {});
    if (!planned.results.empty()) ++at_once;
    ++compared;
    if (HasFailure()) return;
  }
  EXPECT_GT(at_once, compared / 10);
  EXPECT_GT(compared, programs() / 2);
}

TEST(Loops, HaveThePlansOfComprehensions) {
  const RandomProgram made(0);
  const query::TensorNamed named = [&](const std::string& name) {
    if (!made.tensors().contains(name)) throw TypeError("no tensor " + name);
    return made.tensors().at(name);
  };
  const std::string rows = "for i = 0, 6 do for j = 0, 6 do ";
  const std::vector<std::pair<std::string, std::string>> same = {
      {rows + "{ R[i, j] := 0.0; for k = 0, 6 do R[i, j] += A[i, k] * B[k, j] }",
       "[ ((i, j), +/v) | ((i, k), a) <<- A, ((l, j), b) <<- B, l == k, let v = a * b, group by "
       "(i, "
       "j) ]"},
      {rows + "{ s := 0; for k = 0, 6 do s += A[i, k] * B[k, j]; R[i, j] := s }",
       "[ ((i, j), +/v) | ((i, k), a) <<- A, ((l, j), b) <<- B, l == k, let v = a * b, group by "
       "(i, "
       "j) ]"},
      {rows + "R[i] += A[i, j]", "[ (i, +/a) | ((i, j), a) <<- A, group by i ]"},
      {rows + "R[j, i] := A[i, j]", "[ ((j, i), a) | ((i, j), a) <<- A ]"},
      {rows + "R[i, j] := A[i, j] * 2 + B[j, i]",
       "[ ((i, j), A[i, j] * 2 + B[j, i]) | i <- 0 .. 6, j <- 0 .. 6 ]"},
      {"for i = 0, 6 do R += A[i, i]", "+/[ A[i, i] | i <- 0 .. 6 ]"},
      {"for i = 0, 5 do R[i + 1] := V[i] * 2", "tensor(7)[ (i + 1, V[i] * 2) | i <- 0 .. 5 ]"},
  };
  for (const auto& [program, comprehension] : same) {
    const auto statements =
        sql::parse("CREATE TENSOR R AS { " + program + " }; CREATE TENSOR R AS " + comprehension);
    const auto& loops = std::get<sql::CreateTensor>(statements.at(0)->node);
    const auto& other = std::get<sql::CreateTensor>(statements.at(1)->node);
    const auto bound = query::bind_program(*loops.program, {"R"}, named, nullptr, {});
    ASSERT_EQ(bound.results.size(), 1U) << program;
    EXPECT_EQ(bound.results[0].plan.explain(),
              query::bind_tensor(*other.expression, named).plan.explain())
        << program;
  }
}

}  // namespace
}  // namespace tessera
