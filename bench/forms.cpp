// Index forms that are compiled, against plain loops that a C++ compiler has compiled for the same
// processor, and against passes over the same memory. One thread each.
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "base/crew.h"
#include "kernel/form/compiled_form.h"
#include "kernel/form/form_cache.h"
#include "tessera/tessera.h"
#include "timing.h"

namespace {

using namespace tessera;
using namespace tessera::bench;

/// Nobody helps.
class Alone final : public Crew {
 public:
  void share(std::int64_t count, const SharedWork::Part& part) override {
    for (std::int64_t i = 0; i < count; ++i) part(i);
  }
};

constexpr int repetitions = 9;
volatile double sink = 0;

KernelCall form(const std::string& text) { return {"compute", {{"form", text}}}; }

void compare_form(const std::string& name, const std::string& text, const std::vector<Tile>& tiles,
                  const std::string& peer, const std::string& bar,
                  const std::function<void()>& loops) {
  const KernelCall call = form(text);
  const Comparison seconds = compare(
      repetitions, [&] { sink = sink + call(tiles).shape().rank(); }, loops);
  report(name, peer, seconds, seconds.ours / seconds.peer, bar);
}

void chain() {
  const std::int64_t n = 10'000'000;
  const Tile x = random_normal(DType::f64, {n}, 1);
  std::vector<double> out(n);
  compare_form("8 operations, 10^7 f64",
               "[i] relu(square(#0[i] * 1.5 - 0.25) + abs(#0[i]) * 0.5 - 1.0)", {x}, "memcpy",
               "<= 1.3", [&] { std::memcpy(out.data(), x.data<double>(), n * sizeof(double)); });
}

void softmax() {
  const std::int64_t n = 2000, m = 1000;
  const Tile x = random_normal(DType::f64, {n, m}, 1);
  std::vector<double> out(n * m);
  compare_form("softmax of rows, 2000 x 1000",
               "[i,j] exp(#0[i,j] - max([k] #0[i,k])) / sum([k] exp(#0[i,k] - max([l] #0[i,l])))",
               {x}, "C++ loops", "<= 1.0", [&] {
                 for (std::int64_t i = 0; i < n; ++i) {
                   const double* row = x.data<double>() + i * m;
                   double most = row[0], sum = 0;
                   for (std::int64_t k = 0; k < m; ++k) most = std::max(most, row[k]);
                   double* to = out.data() + i * m;
                   for (std::int64_t k = 0; k < m; ++k) sum += to[k] = std::exp(row[k] - most);
                   for (std::int64_t k = 0; k < m; ++k) to[k] /= sum;
                 }
               });
}

void distances() {
  const std::int64_t n = 2000, m = 2000;
  for (const std::int64_t k : {4, 64}) {
    const Tile a = random_normal(DType::f64, {n, k}, 1), b = random_normal(DType::f64, {m, k}, 2);
    std::vector<double> out(n);
    compare_form(fmt::format("least distances, 2000 x 2000 x {}", k),
                 "[i] min([j] sum([k] square(#0[i,k] - #1[j,k])))", {a, b}, "C++ loops", "<= 1.0",
                 [&] {
                   for (std::int64_t i = 0; i < n; ++i) {
                     const double* p = a.data<double>() + i * k;
                     double least = std::numeric_limits<double>::infinity();
                     for (std::int64_t j = 0; j < m; ++j) {
                       const double* q = b.data<double>() + j * k;
                       double sum = 0;
                       for (std::int64_t l = 0; l < k; ++l) sum += (p[l] - q[l]) * (p[l] - q[l]);
                       least = std::min(least, sum);
                     }
                     out[i] = least;
                   }
                 });
  }
}

void stencil() {
  const std::int64_t n = 2000;
  const Tile x = random_normal(DType::f64, {n, n}, 1);
  std::vector<double> out(n * n);
  compare_form("stencil of 5 points, 2000 x 2000",
               "[i,j] 4.0 * #0[i,j] - where(i > 0, #0[i - 1,j], 0.0) - "
               "where(i < 1999, #0[i + 1,j], 0.0) - where(j > 0, #0[i,j - 1], 0.0) - "
               "where(j < 1999, #0[i,j + 1], 0.0)",
               {x}, "C++ loops", "<= 1.0", [&] {
                 const double* from = x.data<double>();
                 for (std::int64_t i = 0; i < n; ++i)
                   for (std::int64_t j = 0; j < n; ++j) {
                     const double* p = from + i * n + j;
                     out[i * n + j] = 4 * p[0] - (i > 0 ? p[-n] : 0) - (i < n - 1 ? p[n] : 0) -
                                      (j > 0 ? p[-1] : 0) - (j < n - 1 ? p[1] : 0);
                   }
               });
}

void masked_mean() {
  const std::int64_t n = 10'000'000;
  const Tile x = random_normal(DType::f64, {n}, 1), mask = random_uniform(DType::boolean, {n}, 2);
  compare_form("mean where a mask holds, 10^7", "[] sum([i] #0[i] | #1[i]) / sum([i] 1.0 | #1[i])",
               {x, mask}, "C++ loops", "<= 1.0", [&] {
                 const double* values = x.data<double>();
                 const bool* counts = mask.data<bool>();
                 double sum = 0;
                 std::int64_t count = 0;
                 for (std::int64_t i = 0; i < n; ++i)
                   if (counts[i]) {
                     sum += values[i];
                     ++count;
                   }
                 sink = sink + sum / static_cast<double>(count);
               });
}

void column_sums() {
  const std::int64_t n = 4000, m = 2500;
  const Tile x = random_normal(DType::f64, {n, m}, 1);
  std::vector<double> out(m);
  compare_form("sums of columns, 4000 x 2500", "[j] sum([i] #0[i,j])", {x}, "C++ loops", "<= 1.0",
               [&] {
                 std::fill(out.begin(), out.end(), 0);
                 for (std::int64_t i = 0; i < n; ++i)
                   for (std::int64_t j = 0; j < m; ++j) out[j] += x.data<double>()[i * m + j];
               });
}

/// Median milliseconds until forms are compiled that nobody has compiled, and microseconds of calls
/// whose code is known.
void compilation() {
  const Tile x = random_normal(DType::f64, {4, 4}, 1);
  const std::vector<std::pair<std::string, std::string>> forms = {
      {"chain", "[i,j] relu(square(#0[i,j] * {} - 0.25) + abs(#0[i,j]) * 0.5 - 1.0)"},
      {"softmax",
       "[i,j] exp({} * #0[i,j] - max([k] #0[i,k])) / sum([k] exp(#0[i,k] - max([l] #0[i,l])))"},
      {"distances", "[i] min([j] sum([k] square(#0[i,k] * {} - #0[j,k])))"},
      {"stencil",
       "[i,j] {} * #0[i,j] - where(i > 0, #0[i - 1,j], 0.0) - where(i < 3, #0[i + 1,j], 0.0) - "
       "where(j > 0, #0[i,j - 1], 0.0) - where(j < 3, #0[i,j + 1], 0.0)"},
      {"column sums", "[j] sum([i] #0[i,j] * {})"},
  };
  (void)form("[i,j] #0[i,j] + 0.5")({x});
  for (const auto& [name, text] : forms) {
    std::vector<double> first, again;
    for (int i = 0; i < repetitions; ++i) {
      const KernelCall call = form(fmt::format(fmt::runtime(text), i + 1.5));
      first.push_back(seconds_of([&] { (void)call({x}); }));
      for (int known = 0; known < 20; ++known)
        again.push_back(seconds_of([&] { (void)call({x}); }));
    }
    report("compiling: " + name, "30 ms", {median(first), 0.030}, median(first) / 0.030, "<= 1.0");
    report("known: " + name, "20 us", {median(again), 20e-6}, median(again) / 20e-6, "<= 1.0");
  }
}

}  // namespace

int main() {
  if (form_compiler() == nullptr) {
    fmt::print(stderr, "there is no compiler of forms\n");
    return 2;
  }
  Alone alone;
  const CrewScope crew(&alone);
  chain();
  softmax();
  distances();
  stencil();
  masked_mean();
  column_sums();
  compilation();
}
