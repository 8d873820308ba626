// A few training steps of a two-layer network, on one machine or a cluster:
//
//   train_network --batch 600 --features 80 --hidden 400 --labels 12
//   mpirun -n 4 train_network --batch 400 --features 6000 --hidden 40 --labels 400
//
// Where the weights are small the optimizer splits the batch and adds up gradients; where they are
// large it splits the layers.

#include <iostream>

#include "tasks/arguments.h"
#include "tasks/cluster.h"
#include "tasks/network.h"

using namespace tessera;

namespace {

struct Options {
  tasks::NetworkShape shape{400, 60, 200, 8, 4, 4, 4};
  int sites = 1, steps = 3;
  bool explain = false;
};

Options parse(int argc, char** argv) {
  tasks::Arguments given(
      argc, argv,
      "train_network [--batch N] [--features D] [--hidden H] [--labels L] [--tiles T]\n"
      "              [--steps K] [--sites S] [--explain]\n"
      "N, H and L are split into T tiles each and must be divisible by T\n");
  Options options;
  tasks::NetworkShape& shape = options.shape;
  shape.batch = given.number("--batch", shape.batch);
  shape.features = given.number("--features", shape.features);
  shape.hidden = given.number("--hidden", shape.hidden);
  shape.labels = given.number("--labels", shape.labels);
  const std::int64_t tiles = given.number("--tiles", shape.batch_tiles);
  shape.batch_tiles = shape.hidden_tiles = shape.label_tiles = tiles;
  options.steps = static_cast<int>(given.number("--steps", options.steps));
  options.sites = static_cast<int>(given.number("--sites", options.sites));
  options.explain = given.flag("--explain");
  given.end();
  if (shape.batch % tiles != 0 || shape.hidden % tiles != 0 || shape.labels % tiles != 0)
    given.stop(2);
  return options;
}

/// What the network predicts, compared with what is right: the mean of the squares.
double loss(const tasks::TrainingStep& step, const OptimizerOptions& optimizer, double count) {
  const Plan squares = step.d2.transform("square").transform("sum(axes=[])").aggregate({}, "add");
  return run(optimize(squares, optimizer).plans).front().at({}).at<double>({}) / count;
}

}  // namespace

int main(int argc, char** argv) {
  return tasks::program([&] {
    const Options options = parse(argc, argv);
    const ClusterInfo cluster = cluster_info();
    const tasks::NetworkInputs types = tasks::network_types(options.shape);
    const Plan x = tasks::made_input("X", types.x, 1);
    const Plan y = tasks::made_input("Y", types.y, 2)
                       .transform("greater_scalar(value=0)")
                       .transform("cast(dtype=\"f64\")");
    Plan w1 = tasks::made_input("W1", types.w1, 3).transform("mul_scalar(value=0.1)");
    Plan w2 = tasks::made_input("W2", types.w2, 4).transform("mul_scalar(value=0.1)");
    OptimizerOptions optimizer;
    optimizer.sites = cluster.size > 1 ? cluster.size : options.sites;
    const double rate = 1.0 / static_cast<double>(options.shape.batch);
    const auto outputs = static_cast<double>(options.shape.batch * options.shape.labels);
    for (int i = 0; i < options.steps; ++i) {
      const tasks::TrainingStep step = tasks::training_step(x, y, w1, w2, rate);
      const OptimizedPlan optimized = optimize({step.w1, step.w2}, optimizer);
      if (options.explain && i == 0 && cluster.rank == 0)
        std::cout << optimized.explain() << std::flush;
      const double before = loss(step, optimizer, outputs);
      const std::vector<Relation> weights = run(optimized.plans);
      if (cluster.rank == 0) std::cout << "step " << i << ": loss " << before << std::endl;
      w1 = Plan::input(weights[0], "W1");
      w2 = Plan::input(weights[1], "W2");
    }
  });
}
