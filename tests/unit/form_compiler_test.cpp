#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <thread>

#include "base/stop.h"
#include "kernel/form/compiled_form.h"
#include "kernel/form/form_cache.h"
#include "support/expectations.h"

// Compiled forms: that they are compiled once, stop, refuse, and may be turned off. What they
// compute is compared with the interpreter by tests/laws/index_form_law_test.cpp.

namespace tessera {
namespace {

KernelCall form(const std::string& text) { return {"compute", {{"form", text}}}; }

/// While it lives, forms are interpreted.
class Interpreted {
 public:
  Interpreted() { setenv("TESSERA_JIT", "off", 1); }
  ~Interpreted() { unsetenv("TESSERA_JIT"); }
  Interpreted(const Interpreted&) = delete;
  Interpreted& operator=(const Interpreted&) = delete;
};

Tile interpreted(const std::string& text, const std::vector<Tile>& tiles) {
  const Interpreted off;
  return form(text)(tiles);
}

class FormCompilerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (form_compiler() == nullptr) GTEST_SKIP() << "there is no compiler of forms";
  }
};

TEST_F(FormCompilerTest, CompilesAFormOnceForAllShapes) {
  const KernelCall call = form("[i,j] #0[i,j] * 2.0 + #0[j,i] - 17.25");
  const std::int64_t before = form_cache().compilations();
  for (const std::int64_t n : {3, 1, 40, 0}) {
    const Tile tile = random_normal(DType::f64, {n, n}, 1);
    (void)call({tile});
    EXPECT_EQ(form_cache().compilations(), before + 1) << n;
  }
  // Other code for elements that are not next to each other, and for another dtype.
  (void)call({random_normal(DType::f64, {9, 9}, 1).transpose()});
  EXPECT_EQ(form_cache().compilations(), before + 2);
  (void)call({random_normal(DType::f32, {9, 9}, 1)});
  EXPECT_EQ(form_cache().compilations(), before + 3);
  EXPECT_EQ(form_cache().failures(), 0);
}

TEST_F(FormCompilerTest, IsAskedOnceByManyThreads) {
  const KernelCall call = form("[i] sqrt(abs(#0[i])) + 123.5");
  const Tile tile = random_normal(DType::f64, {100}, 1);
  const std::int64_t before = form_cache().compilations();
  std::vector<std::jthread> threads;
  for (int i = 0; i < 8; ++i) threads.emplace_back([&] { (void)call({tile}); });
  threads.clear();
  EXPECT_EQ(form_cache().compilations(), before + 1);
}

TEST(FormCache, ForgetsWhatWasUsedLongAgo) {
  class Nothing final : public CompiledForm {
   public:
    explicit Nothing(std::atomic<int>& alive) : alive_(alive) { ++alive_; }
    ~Nothing() override { --alive_; }
    End run(const Arguments&, std::int64_t, std::int64_t) const override { return End::done; }
    int shared_index() const override { return -1; }

   private:
    std::atomic<int>& alive_;
  };
  std::atomic<int> alive = 0;
  FormCache cache(3);
  const auto used = [&](const std::string& structure) {
    return cache.of(structure, [&] { return std::make_shared<const Nothing>(alive); });
  };
  const FormCache::Code running = used("a");
  for (const char* structure : {"b", "c", "b", "d", "e"}) (void)used(structure);
  EXPECT_EQ(cache.size(), 3U);
  EXPECT_EQ(alive, 4) << "a runs, and b, d and e are known";
  EXPECT_EQ(cache.compilations(), 5);
  (void)used("b");
  EXPECT_EQ(cache.compilations(), 5);
  (void)used("c");
  EXPECT_EQ(cache.compilations(), 6);
}

TEST_F(FormCompilerTest, HearsAStopInLongLoops) {
  const Tile row = random_normal(DType::f64, {200'000}, 1);
  const Tile long_row = Tile::scalar(0.5).broadcast({4'000'000'000});
  for (const auto& [text, tile] : std::initializer_list<std::pair<const char*, Tile>>{
           {"[i] min([j] abs(#0[i] - #0[j]))", row},
           {"[] sum([i] sqrt(#0[i]))", long_row},
           {"[] argmax([i] #0[i])", long_row},
           {"[k:3] sum([i] #0[i] * k)", long_row}}) {
    std::stop_source source;
    const StopScope heard(source.get_token());
    std::jthread stopping([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
      source.request_stop();
    });
    EXPECT_ERROR(Interrupted, form(text)({tile}), "stopped while an index form was computed");
  }
}

TEST_F(FormCompilerTest, RefusesPositionsOutsideAsTheInterpreterDoes) {
  const Tile tile = Tile::of<double>({4}, {1, 2, 3, 4});
  const Tile places = Tile::of<std::int64_t>({3}, {0, 3, -1});
  EXPECT_EQ(message_of<ValueError>([&] {
              (void)form("[i] #0[#1[i]]")({tile, places});
            }),
            "index -1 is out of bounds for dimension 0 with size 4");
  EXPECT_EQ(message_of<ValueError>([&] { (void)form("[i:4] #0[i + 1]")({tile}); }),
            "index 4 is out of bounds for dimension 0 with size 4");
  EXPECT_TILE_EQ(form("[i] where(#1[i] < 0, 0.5, #0[#1[i]])")({tile, places}),
                 (Tile::of<double>({3}, {1, 4, 0.5})));
  const Tile none = Tile::zeros(DType::f64, {0});
  EXPECT_TILE_EQ(form("[i] where(#1[i] > 9, #0[#1[i]], 2.0)")({none, places}),
                 (Tile::of<double>({3}, {2, 2, 2})));
}

TEST_F(FormCompilerTest, LargeFormsAreComputedInPieces) {
  const Tile a = random_integers(DType::f64, {20'000, 150}, 1, -4, 4);
  for (const char* text : {"[i,j] abs(#0[i,j]) * 2.0 - square(#0[i,j])", "[j] sum([i] #0[i,j])",
                           "[] sum([i,j] #0[i,j])", "[i] max([j] #0[i,j])",
                           "[] any([i,j] #0[i,j] > 3)", "[k:2] sum([i,j] #0[i,j] * k)"})
    EXPECT_TILE_EQ(form(text)({a}), interpreted(text, {a})) << text;
  // A fold of each column is not computed again for each element.
  const KernelCall centred = form("[i,j] #0[i,j] - max([k] #0[k,j])");
  EXPECT_TILE_EQ(centred({a}), KernelCall("sub")({a, KernelCall("max(axes=[0])")({a})}));
}

TEST_F(FormCompilerTest, FunctionsAreAccurate) {
  std::vector<double> values = {0.0,    -0.0, INFINITY, -INFINITY, NAN,   1e-310, 5e-324,
                                709.7,  710., -745,     -745.2,    -746., 1e-17,  1e300,
                                -1e300, 1.0,  -708,     0.34,      0.35,  22.,    1 + 1e-9};
  for (int i = -3000; i < 3000; ++i) values.push_back(i * 0.0137);
  const Tile tile = Tile::of<double>({static_cast<std::int64_t>(values.size())}, values);
  for (const std::string name : {"exp", "log", "tanh", "sigmoid", "sqrt"})
    for (const DType dtype : {DType::f64, DType::f32}) {
      const Tile argument = tile.cast(dtype);
      const std::string text = "[i] " + name + "(#0[i])";
      const auto actual = elements<double>(form(text)({argument}).cast(DType::f64));
      const auto expected = elements<double>(interpreted(text, {argument}).cast(DType::f64));
      const bool single = dtype == DType::f32;
      for (std::size_t i = 0; i < actual.size(); ++i) {
        if (std::isnan(expected[i]) || std::isinf(expected[i]) || expected[i] == 0) {
          EXPECT_TRUE(actual[i] == expected[i] || std::isnan(actual[i]) == std::isnan(expected[i]))
              << name << " of " << values[i] << ": " << actual[i];
          continue;
        }
        const double least = single ? 1.5e-45 : 5e-324;
        const double unit = std::max(least, std::fabs(expected[i]) * (single ? 0x1p-23 : 0x1p-52));
        EXPECT_LE(std::fabs(actual[i] - expected[i]), 3 * unit)
            << name << " of " << values[i] << " in " << to_string(dtype);
      }
    }
}

TEST_F(FormCompilerTest, MayBeTurnedOff) {
  const Interpreted off;
  EXPECT_EQ(form_compiler(), nullptr);
  const std::int64_t before = form_cache().compilations();
  EXPECT_TILE_EQ(form("[i] #0[i] + 77.5")({Tile::of<double>({2}, {1, 2})}),
                 (Tile::of<double>({2}, {78.5, 79.5})));
  EXPECT_EQ(form_cache().compilations(), before);
}

}  // namespace
}  // namespace tessera
