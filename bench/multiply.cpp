// The local engine: a product of matrices in tiles against one call of the BLAS on as many threads,
// its memory, and what a task costs when there is nothing to compute.

#include <cblas.h>

#include <fstream>

#include "exec/task_graph.h"
#include "ia/evaluate.h"
#include "tessera/tessera.h"
#include "timing.h"

namespace tessera::bench {
namespace {

/// A line of /proc/self/status in bytes.
double memory(const std::string& line) {
  std::ifstream status("/proc/self/status");
  for (std::string text; std::getline(status, text);)
    if (text.starts_with(line + ":")) return std::stod(text.substr(line.size() + 1)) * 1024;
  return 0;
}

Plan product(const Tile& a, const Tile& b, std::int64_t tile) {
  const Plan left = Plan::input(Relation::from_tensor(a, {tile, tile}), "A");
  const Plan right = Plan::input(Relation::from_tensor(b, {tile, tile}), "B");
  return left.join(right, {1}, {0}, "matmul").aggregate({0, 2}, "add");
}

void multiply(CBLAS_ORDER order, int n, const double* a, const double* b, double* c) {
  cblas_dgemm(order, CblasNoTrans, CblasNoTrans, n, n, n, 1, a, n, b, n, 0, c, n);
}
void multiply(CBLAS_ORDER order, int n, const float* a, const float* b, float* c) {
  cblas_sgemm(order, CblasNoTrans, CblasNoTrans, n, n, n, 1, a, n, b, n, 0, c, n);
}

template <class T>
void time_and_memory(const char* name) {
  constexpr std::int64_t n = 4000, tile = 1000;
  const DType dtype = dtype_of<T>;
  // The libraries' own buffers are there before anything is counted.
  (void)product(random_uniform(dtype, {512, 512}, 1), random_uniform(dtype, {512, 512}, 2), 128)
      .run();
  const double before = memory("VmRSS");
  const Tile a = random_uniform(dtype, {n, n}, 1), b = random_uniform(dtype, {n, n}, 2);
  std::ofstream("/proc/self/clear_refs") << "5";  // VmHWM counts from here
  {
    const Relation result = product(a, b, tile).run();
    const double grown = memory("VmHWM") - before;
    const double needed = 3.0 * n * n * sizeof(T);
    fmt::print("# {}: {:.0f} MB resident for {:.0f} MB of inputs and output\n", name, grown / 1e6,
               needed / 1e6);
    report(fmt::format("{} memory", name), "inputs + output", {grown / 1e9, needed / 1e9},
           grown / needed, "<= 1.1");
  }
  MutableTile c = MutableTile::zeros(dtype, {n, n});
  const Comparison seconds = compare(
      5, [&] { (void)product(a, b, tile).run(); },
      [&] {
        multiply(CblasRowMajor, static_cast<int>(n), a.data<T>(), b.data<T>(),
                 c.template data<T>());
      });
  report(name, "one cblas call", seconds, seconds.ours / seconds.peer, "<= 1.08");
}

/// A million tasks on tiles of one number each.
void overhead() {
  const Tile a = random_uniform(DType::f64, {100, 100}, 1);
  const Plan plan = product(a, a, 1);
  double tasks = 0;
  std::vector<double> expanding, running;
  for (int i = 0; i < 3; ++i) {
    const ia::Plan physical = ia::fused(ia::translate(plan, ia::round_robin(4)));
    expanding.push_back(
        seconds_of([&] { tasks = static_cast<double>(exec::expand(physical).tasks.size()); }));
    RunReport took;
    (void)run(plan, {}, &took);
    running.push_back(took.seconds / static_cast<double>(took.tasks));
  }
  report("expansion, a task of a million", "a microsecond", {median(expanding) / tasks, 1e-6},
         median(expanding) / tasks / 1e-6, "<= 5");
  report("1x1x1 products, a task of a million", "a microsecond", {median(running), 1e-6},
         median(running) / 1e-6, "");
}

}  // namespace
}  // namespace tessera::bench

int main() {
  tessera::bench::time_and_memory<double>("local engine f64 4000^3 in 1000^2");
  tessera::bench::time_and_memory<float>("local engine f32 4000^3 in 1000^2");
  tessera::bench::overhead();
}
