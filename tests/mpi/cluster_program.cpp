// What the tests start under mpirun: cluster_program MODE. Every mode does the same in all
// processes.

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <iostream>
#include <thread>

#include "tasks/cluster.h"
#include "tasks/multiplication.h"
#include "tasks/nearest_neighbour.h"
#include "tasks/network.h"

using namespace tessera;

namespace {

Relation matrix(std::int64_t rows, std::int64_t columns, std::int64_t tile, std::uint64_t seed) {
  return Relation::from_tensor(random_normal(DType::f64, {rows, columns}, seed), {tile, tile});
}

/// The results of the cluster against those of the reference, which every process computes itself.
void compare(const std::vector<Plan>& plans) {
  const std::vector<Relation> results = run(plans);
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const Relation expected = plans[i].interpret();
    if (results[i].size() != expected.size()) throw InternalError("the sizes differ");
    for (std::size_t t = 0; t < expected.tuples().size(); ++t) {
      const Tuple& a = results[i].tuples()[t];
      const Tuple& e = expected.tuples()[t];
      if (a.key != e.key) throw InternalError("the keys differ");
      for (std::size_t c = 0; c < a.tiles.size(); ++c) {
        if (e.tiles[c].elements() == 0) continue;
        const Tile size = KernelCall("max")({KernelCall("abs")({e.tiles[c].dense()})});
        const Tile off = KernelCall("max")(
            {KernelCall("abs")({KernelCall("sub")({a.tiles[c].dense(), e.tiles[c].dense()})})});
        const double relative = off.at<double>({}) / std::max(1e-300, size.at<double>({}));
        if (!(relative <= 1e-12))
          throw InternalError("plan " + std::to_string(i) + " is off by " +
                              std::to_string(relative));
      }
    }
  }
}

void tasks_of_the_paper() {
  const Plan a = Plan::input(matrix(23, 31, 5, 1), "A"), b = Plan::input(matrix(31, 17, 5, 2), "B");
  compare({tasks::product(a, b)});
  std::vector<Tuple> query, rows;
  const Relation x = Relation::from_tensor(random_normal(DType::f64, {24, 12}, 3), {4, 3});
  const Relation metric = Relation::from_tensor(random_normal(DType::f64, {12, 12}, 4), {3, 3});
  for (std::int64_t d = 0; d < 4; ++d)
    query.push_back({{d}, {random_normal(DType::f64, {1, 3}, 100 + d)}});
  for (std::int64_t n = 0; n < 6; ++n) {
    std::vector<double> numbers;
    for (std::int64_t i = 0; i < 4; ++i) numbers.push_back(static_cast<double>(4 * n + i));
    rows.push_back({{n}, {Tile::of<double>({4}, numbers)}});
  }
  compare(
      {tasks::nearest_neighbour(Plan::input(x, "X"), Plan::input(Relation::of(query), "q"),
                                Plan::input(metric, "A"), Plan::input(Relation::of(rows), "rows"))
           .nearest});
  const tasks::NetworkShape shape{12, 5, 8, 6, 3, 4, 2};
  const tasks::NetworkInputs types = tasks::network_types(shape);
  const auto given = [](const RelationType& type, std::uint64_t seed) {
    std::vector<Tuple> tuples;
    Key key(type.frontier.size(), 0);
    for (std::int64_t i = 0, n = count_below(type.frontier); i < n; ++i) {
      tuples.push_back(
          {key, {random_normal(DType::f64, type.columns[0].type.shape, seed * 1000 + i)}});
      for (std::size_t d = key.size(); d-- > 0;) {
        if (++key[d] < type.frontier[d]) break;
        key[d] = 0;
      }
    }
    return Relation::of(tuples);
  };
  const tasks::TrainingStep step = tasks::training_step(
      Plan::input(given(types.x, 5), "X"), Plan::input(given(types.y, 6), "Y"),
      Plan::input(given(types.w1, 7), "W1"), Plan::input(given(types.w2, 8), "W2"), 0.1);
  compare({step.w1, step.w2});
}

/// Sparse tiles, sparse relations, views, several dtypes and empty tiles travel too.
void all_kinds_of_tiles() {
  for (DType dtype : {DType::f32, DType::f64, DType::i64, DType::boolean})
    for (int sparse : {0, 1, 2})
      for (Presence presence : {Presence::continuous, Presence::sparse}) {
        const Tile tensor = random_sparse({dtype, {13, 11}, sparse == 0 ? 1 : sparse}, 9, 0.3)
                                .with_sparse_dims(sparse);
        const Plan r = Plan::input(Relation::from_tensor(tensor, {4, 3}, presence), "R");
        const Relation turned = run(r.rekey("<k1, k0>").transform("transpose"));
        const Tile expected = tensor.dense().transpose();
        const Tile same =
            KernelCall("all")({KernelCall("equal")({turned.to_tensor().dense(), expected})});
        if (same.at<double>({}) == 0) throw InternalError("tiles changed on their way");
      }
  const Plan none =
      Plan::input(Relation::from_tensor(Tile::zeros(DType::f64, {0, 4}), {2, 2}), "E");
  compare({none.aggregate({1}, "add")});
}

/// One tile at one site fails.
void failing_kernel() {
  register_kernel(
      {.name = "brittle",
       .infer = [](Types types, const Params&) { return std::vector<TileType>{types[0]}; },
       .implementations = {{.name = "loop", .run = [](Tiles tiles, const Params&) {
                              if (tiles[0].at<double>({0, 0}) == 5)
                                throw ValueError("brittle: five is right out");
                              return std::vector<Tile>{tiles[0]};
                            }}}});
  std::vector<Tuple> tuples;
  for (std::int64_t i = 0; i < 9; ++i)
    tuples.push_back({{i}, {Tile::full(DType::f64, {2, 2}, static_cast<double>(i))}});
  const Plan plan = Plan::input(Relation::of(tuples), "R").transform("brittle");
  run(plan.join(plan.rekey("<8 - k0>"), {0}, {0}, "add").aggregate({}, "add"));
}

/// A run that takes long, for those who want to end it.
void long_run(double seconds) {
  register_kernel(
      {.name = "slow",
       .infer = [](Types types, const Params&) { return std::vector<TileType>{types[0]}; },
       .implementations = {{.name = "sleep", .run = [](Tiles tiles, const Params&) {
                              std::this_thread::sleep_for(std::chrono::milliseconds(200));
                              return std::vector<Tile>{tiles[0]};
                            }}}});
  std::cout << "pid " << getpid() << " rank " << cluster_info().rank << std::endl;
  std::vector<Tuple> tuples;
  const auto tasks = static_cast<std::int64_t>(seconds * 5 * cluster_info().size);
  for (std::int64_t i = 0; i < tasks; ++i)
    tuples.push_back({{i}, {Tile::full(DType::f64, {2}, 1)}});
  run(Plan::input(Relation::of(tuples), "R").transform("slow").aggregate({}, "add"));
}

/// One process leaves before the others are done with it.
void early_exit() {
  if (cluster_info().rank == 1) throw ValueError("rank 1 has had enough");
  tasks_of_the_paper();
}

/// Processes that run plans of the same form, with other kernels.
void other_kernel() {
  const Plan a = Plan::input(matrix(8, 8, 2, 1), "A");
  run(a.join(a, {0, 1}, {0, 1}, cluster_info().rank == 0 ? "add" : "sub"));
}

/// The first process decides how plans run: the others have been told not to optimize, and do as it
/// says. Each tells what it ran. A function of C++ is the same in all, and is not sent; a plan with
/// a kernel that is not registered is sent too.
void decided_by_one() {
  const auto unregistered = std::make_shared<const Kernel>(
      Kernel{.name = "halved",
             .infer = [](Types types, const Params&) { return std::vector<TileType>{types[0]}; },
             .implementations = {{.name = "loop", .run = [](Tiles tiles, const Params&) {
                                    return KernelCall("mul_scalar(value=0.5)").run(tiles);
                                  }}}});
  const auto turned = KeyFunction::opaque("turned", 2, [](const Key& key) {
    return Key{key[1], key[0]};
  });
  const Plan a = Plan::input(matrix(20, 30, 5, 1), "A"), b = Plan::input(matrix(30, 20, 5, 2), "B");
  const Plan plan = tasks::product(a, b).rekey(turned).transform(KernelCall(unregistered, {}));
  RunOptions options;
  options.optimize = cluster_info().rank == 0;
  options.ended = [](const RunRecord& record) {
    std::string text = record.plans.front().explain();
    for (char& letter : text)
      if (letter == '\n') letter = ';';
    std::cout << fmt::format("ran {}\n", text) << std::flush;
  };
  const Relation result = run(plan, options);
  const Relation expected = plan.interpret();
  for (std::size_t t = 0; t < expected.tuples().size(); ++t)
    for (std::int64_t i = 0; i < 5; ++i)
      if (std::abs(result.tuples()[t].tiles[0].at<double>({i, i}) -
                   expected.tuples()[t].tiles[0].at<double>({i, i})) > 1e-9)
        throw InternalError("another result");
}

/// A source that fails at one process: the others are told, and all go on with the next plan.
void failing_source() {
  const RelationType type{{{"", {DType::f64, {4, 4}, 0}}}, {4, 4}};
  const auto input = [&](bool fails) {
    return Plan::input(type, [fails](const Key&) {
      if (fails && cluster_info().rank == 1) throw ValueError("the tile cannot be read");
      return std::vector<Tile>{Tile::full(DType::f64, {4, 4}, 1)};
    });
  };
  bool failed = false;
  try {
    run(tasks::product(input(true), input(false)));
  } catch (const Error& error) {
    failed = std::string(error.what()).find("the tile cannot be read") != std::string::npos;
  }
  if (!failed) throw InternalError("the failure of a source was not told");
  const Relation after = run(tasks::product(input(false), input(false)));
  if (after.at({0, 0}).at<double>({0, 0}) != 16) throw InternalError("the next plan is wrong");
}

/// More tiles in a tuple than the head of a message has room for.
void many_columns(int count) {
  std::vector<Tuple> tuples;
  for (std::int64_t k = 0; k < 8; ++k) {
    Tuple tuple{{k}, {}};
    for (int c = 0; c < count; ++c) tuple.tiles.push_back(Tile::scalar(static_cast<double>(k + c)));
    tuples.push_back(std::move(tuple));
  }
  const Plan wide = Plan::input(Relation::of(tuples));
  const Relation sums = run(wide.aggregate({}, "add"));
  for (int c = 0; c < count; ++c)
    if (sums.at({}, c).at<double>({}) != 28 + 8 * c) throw InternalError("a sum is wrong");
}

/// Processes that disagree about what to run.
void disagreement() {
  const Plan a = Plan::input(matrix(8, 8, 2, 1), "A");
  run(cluster_info().rank == 1 ? a.transform("neg") : tasks::product(a, a));
}

/// One process has other values for an input than the rest: whether it needs them or not, and
/// wherever they are other ones.
void other_values(int culprit) {
  const bool mine = cluster_info().rank == culprit;
  const Plan b = Plan::input(matrix(8, 8, 2, 2), "B");
  for (const double off : {1.0, 1e-300}) {
    MutableTile tensor = MutableTile::copy_of(random_normal(DType::f64, {9, 8}, 1));
    if (mine) tensor.data<double>()[71] += off == 1.0 ? 1.0 : 0.0;
    if (mine && off != 1.0) tensor.data<double>()[71] = -tensor.data<double>()[71];
    const Plan a = Plan::input(Relation::from_tensor(std::move(tensor).publish(), {2, 2}), "A");
    std::string said;
    try {
      run(tasks::product(a, b));
    } catch (const ClusterError& error) {
      said = error.what();
    }
    if (said.find("other values for the input \"A\"") == std::string::npos)
      throw InternalError("expected to be told, and not: '" + said + "'");
    if (off != 1.0) throw ClusterError(said);
    run(tasks::product(b, b));  // all go on
  }
}

/// A source that makes other tiles at one process.
void other_source() {
  const RelationType type{{{"", {DType::f64, {4, 4}, 0}}}, {4, 4}};
  const Plan source = Plan::input(
      type,
      [](const Key& key) {
        const auto seed = static_cast<std::uint64_t>(key[0] * 4 + key[1]);
        return std::vector<Tile>{
            random_normal(DType::f64, {4, 4}, seed + (cluster_info().rank == 2 ? 1000 : 0))};
      },
      "S");
  run(tasks::product(source, source));
}

/// Sources of which each process knows only its part, and says so of the rest.
void own_parts() {
  const int size = cluster_info().size, rank = cluster_info().rank;
  const RelationType type{{{"", {DType::f64, {4}, 0}}}, {size}};
  const Plan source = Plan::input(type, [rank](const Key& key) {
    if (key[0] != rank) throw ValueError("this is another one's");
    return std::vector<Tile>{Tile::full(DType::f64, {4}, static_cast<double>(key[0]))};
  });
  const ia::Plan placed = ia::Plan::input(source, Placement::part({0}, type.frontier, size));
  const ia::Plan sum = placed.shuffle(Placement({}, size)).aggregate({}, {"add"});
  const Relation result = run(sum.broadcast());
  if (result.at({}).at<double>({0}) != size * (size - 1) / 2.0)
    throw InternalError("the sum is wrong");
}

/// A kernel that takes so many seconds, in one process.
void long_kernel(double seconds) {
  register_kernel(
      {.name = "long",
       .infer = [](Types types, const Params&) { return std::vector<TileType>{types[0]}; },
       .implementations = {{.name = "sleep", .run = [seconds](Tiles tiles, const Params&) {
                              std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
                              return std::vector<Tile>{tiles[0]};
                            }}}});
  const Plan one = Plan::input(Relation::of({{{0}, {Tile::full(DType::f64, {2}, 1)}}}), "R");
  run(one.transform("long").aggregate({}, "add"));
}

/// A process that never comes to its first plan.
void never_joins() {
  const char* rank = std::getenv("OMPI_COMM_WORLD_RANK");
  if (rank != nullptr && std::string(rank) == "1") std::_Exit(0);
  tasks_of_the_paper();
}

/// A tile of so many MiB from one process to all others.
void large(std::int64_t mebibytes) {
  const RelationType type{{{"", {DType::f64, {mebibytes << 17}, 0}}}, {1}};
  const Plan big = Plan::input(type, [&](const Key&) {
    return std::vector<Tile>{Tile::full(DType::f64, type.columns[0].type.shape, 3)};
  });
  const int sites = cluster_info().size;
  const ia::Plan everywhere = ia::Plan::input(big, Placement::part({0}, type.frontier, sites))
                                  .broadcast()
                                  .map(std::nullopt, {{{"sum(axes=[])"}}});
  const std::vector<LocalPart> parts = run_in_place({everywhere});
  const double sum = parts.at(0).tuples.at(0).tiles.at(0).at<double>({});
  if (sum != 3.0 * static_cast<double>(mebibytes << 17))
    throw InternalError("not all of it arrived");
}

/// Traces two runs, in memory and in so little that values must be spilled, and says what their
/// reports say; then, if it is wanted, a run that fails.
void traced(const std::string& path, bool fails) {
  const auto trace = std::make_shared<Trace>(path);
  RunOptions options;
  options.threads = 2;
  options.observer = trace;
  const RelationType type{{{"", {DType::f64, {32, 32}, 0}}}, {8, 8}};
  const auto source = [&](std::uint64_t seed) {
    return Plan::input(type, [seed](const Key& key) {
      return std::vector<Tile>{random_normal(
          DType::f64, {32, 32}, seed + static_cast<std::uint64_t>(key[0] * 8 + key[1]))};
    });
  };
  const Plan once = tasks::product(source(0), source(100));
  const Plan twice = tasks::product(once, once).aggregate({}, "add");
  RunReport total;
  double floats = 0;
  for (const std::int64_t limit : {std::int64_t{0}, std::int64_t{160'000}}) {
    options.memory_limit = limit;
    RunReport report;
    (void)run(twice, options, &report);
    total.tasks += report.tasks;
    total.flops += report.flops;
    floats += report.floats_moved;
    total.bytes_read += report.bytes_read;
    total.bytes_spilled += report.bytes_spilled;
  }
  std::cout << fmt::format("took {} {} {} {} {}\n", total.tasks, total.flops, floats,
                           total.bytes_read, total.bytes_spilled)
            << std::flush;
  if (fails) run(Plan::input(matrix(8, 8, 2, 1), "A").transform("cholesky"), options);
  trace->finish();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  return tasks::program([&] {
    if (mode == "tasks")
      tasks_of_the_paper();
    else if (mode == "tiles")
      all_kinds_of_tiles();
    else if (mode == "failing_kernel")
      failing_kernel();
    else if (mode == "long_run")
      long_run(std::atof(argc > 2 ? argv[2] : "100"));
    else if (mode == "early_exit")
      early_exit();
    else if (mode == "disagreement")
      disagreement();
    else if (mode == "other_kernel")
      other_kernel();
    else if (mode == "decided_by_one")
      decided_by_one();
    else if (mode == "other_values")
      other_values(std::atoi(argc > 2 ? argv[2] : "2"));
    else if (mode == "other_source")
      other_source();
    else if (mode == "own_parts")
      own_parts();
    else if (mode == "long_kernel")
      long_kernel(std::atof(argc > 2 ? argv[2] : "5"));
    else if (mode == "never_joins")
      never_joins();
    else if (mode == "failing_source")
      failing_source();
    else if (mode == "many_columns")
      many_columns(3000);
    else if (mode == "traced")
      traced(argv[2], argc > 3);
    else if (mode == "large")
      large(argc > 2 ? std::atoll(argv[2]) : 64);
    else
      throw ValueError("no such mode: " + mode);
    if (cluster_info().rank == 0) std::cout << "done" << std::endl;
  });
}
