// How long the optimizer takes to plan the paper's problems and products of random shapes: the
// median of five for each, all of which must be below a tenth of a second.

#include "support/planning_problems.h"
#include "timing.h"

int main() {
  using namespace tessera;
  constexpr double bar = 0.1;
  double longest = 0;
  for (const PlanningProblem& problem : planning_problems()) {
    std::vector<double> seconds;
    for (int i = 0; i < 5; ++i)
      seconds.push_back(
          bench::seconds_of([&] { (void)optimize(problem.results, problem.options); }));
    const double median = bench::median(seconds);
    longest = std::max(longest, median);
    fmt::print("# {:8.2f} ms  {}{}\n", median * 1e3, problem.name, median > bar ? "  MISSED" : "");
  }
  bench::report("planning, the longest", "0.1 s", {longest, bar}, longest / bar, "<= 1.0");
  return longest > bar ? 1 : 0;
}
