// How good cuts of large plans into frames are, and what they cost. Lines with # are the tables;
// the others are what bench/run.py judges: the worst ratio of expected breakers to the outer
// index's and to METIS's, and to the optimum where it can be found; time and memory of large plans.

#include <sys/resource.h>

#include <cmath>

#include "support/cut_baselines.h"
#include "support/exact_cut.h"
#include "support/unrolled_plans.h"
#include "timing.h"

namespace {

using namespace tessera;
using frames::Cut;
using frames::Limits;
using frames::OperatorGraph;

bool missed = false;

void judge(const std::string& name, const std::string& peer, const bench::Comparison& seconds,
           double ratio, double bar) {
  bench::report(name, peer, seconds, ratio, fmt::format("<= {}", bar));
  if (ratio > bar + 1e-6) missed = true;
}

double ratio_of(double ours, double peer) {
  if (ours < 1e-9 && peer < 1e-9) return 1;
  return ours / std::max(peer, 1e-9);
}

/// The worst case against a peer, and the time of all.
struct Rival {
  std::string name;
  double worst = 0;
  double product = 1;
  bench::Comparison seconds;

  double meet(const Cut& ours, double our_seconds, const std::function<Cut()>& theirs) {
    Cut peer;
    seconds.peer += bench::seconds_of([&] { peer = theirs(); });
    seconds.ours += our_seconds;
    const double ratio = ratio_of(ours.expected_breakers, peer.expected_breakers);
    worst = std::max(worst, ratio);
    product *= ratio;
    return peer.expected_breakers;
  }
};

void against_heuristics() {
  Rival outer{.name = "outer index", .seconds = {}};
  Rival metis{.name = "METIS, made acyclic", .seconds = {}};
  int cuts = 0;
  fmt::print("# {:50} {:>6} {:>8} {:>10} {:>10} {:>10} {:>6} {:>8}\n", "plan", "ops", "frames",
             "ours", "outer", "METIS", "ratio", "ms");
  for (const UnrolledPlan& plan : unrolled_plans())
    for (const Limits limits : {Limits{10, 40}, Limits{50, 200}}) {
      const OperatorGraph graph = plan.graph();
      Cut ours;
      const double seconds = bench::seconds_of([&] { ours = frames::cut(graph, limits); });
      const double by_outer = outer.meet(
          ours, seconds, [&] { return cut_by_outer_index(graph, plan.outer_index, limits); });
      const double by_metis =
          metis.meet(ours, seconds, [&] { return cut_by_metis(graph, limits); });
      fmt::print("# {:50} {:6} {:>8} {:10.2f} {:10.2f} {:10.2f} {:6.3f} {:8.1f}\n", plan.name,
                 graph.size(), fmt::format("{}-{}", limits.min_size, limits.max_size),
                 ours.expected_breakers, by_outer, by_metis,
                 ratio_of(ours.expected_breakers, std::min(by_outer, by_metis)), seconds * 1e3);
      ++cuts;
    }
  for (const Rival& rival : {outer, metis}) {
    fmt::print("# {}: geometric mean of {} ratios {:.3f}\n", rival.name, cuts,
               std::pow(rival.product, 1.0 / cuts));
    judge(fmt::format("frames: breakers, worst of {} cuts", cuts), rival.name, rival.seconds,
          rival.worst, 1);
  }
}

void against_the_optimum() {
  int known = 0;
  int optimal = 0;
  double worst = 1;
  bench::Comparison seconds;
  for (const UnrolledPlan& plan : small_unrolled_plans())
    for (const Limits limits : {Limits{2, 5}, Limits{3, 8}, Limits{5, 10}, Limits{8, 16}}) {
      const OperatorGraph graph = plan.graph();
      Cut ours;
      std::optional<double> least;
      seconds.ours += bench::seconds_of([&] { ours = frames::cut(graph, limits); });
      seconds.peer +=
          bench::seconds_of([&] { least = least_breakers(graph, limits, ours.expected_breakers); });
      if (!least) continue;
      const double ratio = ratio_of(ours.expected_breakers, *least);
      ++known;
      optimal += ratio <= 1 + 1e-6;
      worst = std::max(worst, ratio);
    }
  fmt::print("# {} of {} cuts of at most 40 operators are optimal\n", optimal, known);
  judge(fmt::format("frames: breakers, worst of {} small cuts", known), "optimum", seconds, worst,
        1.05);
}

/// The most memory the process has had, in MB.
double peak_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024 / 1e6;
}

/// First of all, and from the smallest to the largest: the peak of memory only rises.
void growth() {
  const Limits limits{50, 200};
  const double before = peak_megabytes();
  fmt::print("# {:>10} {:>9} {:>9} {:>16} {:>9} {:>20}\n", "operators", "edges", "seconds",
             "us per operator", "graph MB", "peak MB, all in all");
  for (const int iterations : {28, 112, 465, 1853, 3706}) {
    const OperatorGraph graph = unrolled_network(9, iterations).graph();
    const double seconds = bench::seconds_of([&] { (void)frames::cut(graph, limits); });
    const double megabytes = peak_megabytes() - before;
    fmt::print("# {:10} {:9} {:9.2f} {:16.1f} {:9.1f} {:20.1f}\n", graph.size(), graph.edges(),
               seconds, seconds / graph.size() * 1e6, static_cast<double>(graph.bytes()) / 1e6,
               megabytes);
    if (iterations == 112) judge("frames: time, 12,000 operators", "1 s", {seconds, 1}, seconds, 1);
    if (iterations == 1853)
      judge("frames: time, 200,000 operators", "20 s", {seconds, 20}, seconds / 20, 1);
    if (iterations == 3706)
      judge("frames: peak memory, 400,000 operators", "100 MB", {seconds, 0}, megabytes / 100, 1);
  }
}

}  // namespace

int main() {
  growth();
  against_heuristics();
  against_the_optimum();
  return missed ? 1 : 0;
}
