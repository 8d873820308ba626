// What the tests of databases start under mpirun: database_program MODE FOLDER. Every mode does the
// same in all processes, but for those that try what happens otherwise.

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <thread>

#include "tasks/cluster.h"
#include "tasks/multiplication.h"
#include "tessera/cluster.h"

using namespace tessera;

namespace {

void require(bool condition, const std::string& what) {
  if (!condition) throw InternalError(what);
}

Tile tensor(std::int64_t rows, std::int64_t columns, std::uint64_t seed) {
  return random_integers(DType::f64, {rows, columns}, seed, -9, 10);
}

Relation a() { return Relation::from_tensor(tensor(23, 31, 1), {5, 5}); }
Relation b() { return Relation::from_tensor(tensor(31, 17, 2), {5, 5}); }
Relation holed() {
  return Relation::from_tensor(random_sparse({DType::f64, {41, 31}, 2}, 3, 0.01), {4, 3},
                               Presence::sparse);
}
/// Fewer tuples than processes.
Relation single() { return Relation::from_tensor(tensor(3, 3, 4), {3, 3}); }

void expect_same(const Relation& found, const Relation& expected, const std::string& what) {
  require(found.type() == expected.type(),
          what + " is " + to_string(found.type()) + ", not " + to_string(expected.type()));
  require(found.size() == expected.size(), what + ": the sizes differ");
  for (std::size_t t = 0; t < expected.tuples().size(); ++t) {
    const Tuple &f = found.tuples()[t], &e = expected.tuples()[t];
    require(f.key == e.key, what + ": the keys differ");
    for (std::size_t c = 0; c < e.tiles.size(); ++c) {
      const Tile same =
          KernelCall("all")({KernelCall("equal")({f.tiles[c].dense(), e.tiles[c].dense()})});
      require(same.at<double>({}) != 0, what + ": the tiles differ at " + to_string(f.key));
    }
  }
  if (expected.type().presence != Presence::sparse) return;
  for (std::int64_t i = 0; i < expected.frontier()[0]; ++i)
    for (std::int64_t j = 0; j < expected.frontier()[1]; ++j)
      require(found.at({i, j}).shape() == expected.at({i, j}).shape(),
              what + ": a tile that is absent has another shape");
}

void expect_well(const Database& database) {
  for (const Damage& damage : database.check())
    throw InternalError("damaged: " + damage.name + ": " + damage.reason);
}

void write(const std::string& folder) {
  Database database = Database::open(folder);
  database.store("A", a());
  database.store("B", b());
  database.store("holed", holed());
  database.store("single", single());
  database.store("C", tasks::product(database.plan("A"), database.plan("B")));
  database.store("turned", database.plan("holed").rekey("<k1, k0>").transform("transpose"));
  database.store("passing", single());
  database.rename("passing", "gone");
  database.drop("gone");
}

void read(const std::string& folder) {
  const Database database = Database::open(folder, {.create = false});
  const auto names = [&] {
    std::string all;
    for (const StoredInfo& info : database.list()) all += info.name + " ";
    return all;
  }();
  require(names == "A B C holed single turned ", "there is " + names);
  expect_same(database.read("A"), a(), "A");
  expect_same(database.read("B"), b(), "B");
  expect_same(database.read("holed"), holed(), "holed");
  expect_same(database.read("single"), single(), "single");
  const Relation c = tasks::product(Plan::input(a(), "A"), Plan::input(b(), "B")).interpret();
  expect_same(database.read("C"), c, "C");
  expect_same(run(tasks::product(database.plan("A"), database.plan("B"))), c, "A times B");
  const Relation turned =
      Plan::input(holed(), "H").rekey("<k1, k0>").transform("transpose").interpret();
  expect_same(database.read("turned"), turned, "turned");
  for (const char* name : {"A", "C", "holed"}) {
    const Statistics stored = database.info(name).statistics;
    const Statistics own = database.read(name).statistics();
    require(stored.tuples == own.tuples && stored.nonzeros == own.nonzeros &&
                stored.min == own.min && stored.max == own.max && stored.distinct == own.distinct,
            std::string("the statistics of ") + name + " differ");
    require(database.info(name).shape.has_value(), std::string(name) + " is no tensor");
  }
  expect_well(database);
}

Relation vector_at(std::int64_t key) {
  return Relation::of({{{key}, {tensor(4, 4, static_cast<std::uint64_t>(key))}}},
                      Presence::partial);
}

/// Of everything that a change may do, with fewer tuples than processes and with more.
void change(const std::string& folder) {
  Database database = Database::open(folder);
  database.store("A", a());
  database.store("B", b());
  database.store("old", single());
  database.store("series", vector_at(0));
  const Plan product = tasks::product(database.plan("A"), database.plan("B"));
  database.change({.dropped = {"A"},
                   .renamed = {{"old", "kept"}},
                   .results = {{"A", database.plan("A").transform("neg")},
                               {"C", product},
                               {"D", product.transform("neg")}},
                   .appended = {{"series", vector_at(1)}, {"new", b()}},
                   .texts = {{"by", "all"}}});
  for (std::int64_t key = 2; key < 40; ++key)
    database.change({.appended = {{"series", vector_at(key)}}});
  database.change({.texts = {{"passing", "here"}}});
  database.change({.texts = {{"passing", std::nullopt}}});
  // Each process stores some of the tuples, and the first one their strings.
  std::vector<std::string> words;
  std::vector<std::int64_t> codes;
  std::vector<Tuple> tuples;
  for (std::int64_t i = 0; i < 20; ++i) {
    words.push_back("word " + std::to_string(i % 7));
    codes.push_back(code_of(words.back()));
    tuples.push_back({{i}, {Tile::scalar(codes.back())}});
  }
  Changes with_strings{.results = {{"words", Plan::input(Relation::of(std::move(tuples)))}},
                       .string_columns = {{"words", {0}}}};
  with_strings.strings_of = [&](const std::vector<std::int64_t>& wanted) {
    std::vector<std::string> found;
    for (const std::int64_t code : wanted)
      found.push_back(words[std::find(codes.begin(), codes.end(), code) - codes.begin()]);
    return found;
  };
  database.change(with_strings);
  require(database.common_snapshot().strings(codes) == words, "strings");
}

void changed(const std::string& folder) {
  Database database = Database::open(folder, {.create = false});
  std::string names;
  for (const StoredInfo& info : database.list()) names += info.name + " ";
  require(names == "A B C D kept new series words ", "there is " + names);
  expect_same(database.read("A"), Plan::input(a(), "A").transform("neg").interpret(), "A");
  const Plan product = tasks::product(Plan::input(a(), "A"), Plan::input(b(), "B"));
  expect_same(database.read("C"), product.interpret(), "C");
  expect_same(database.read("D"), product.transform("neg").interpret(), "D");
  expect_same(database.read("kept"), single(), "kept");
  expect_same(database.read("new"), b(), "new");
  std::vector<Tuple> tuples;
  for (std::int64_t key = 0; key < 40; ++key) tuples.push_back(vector_at(key).tuples()[0]);
  const Relation series = Relation::of(tuples);
  expect_same(database.read("series"), series, "series");
  require(database.info("series").statistics == series.statistics(), "statistics of series");
  require(database.texts() == std::map<std::string, std::string>{{"by", "all"}}, "texts");
  const std::int64_t fifth = code_of("word 5");
  require(database.snapshot().strings({fifth}) == std::vector<std::string>{"word 5"}, "strings");
  expect_well(database);
}

/// All share one, which goes with the last who has it.
void temporary() {
  std::optional<Database> database = Database::temporary();
  const std::string folder = database->folder();
  std::cout << "folder " << folder << std::endl;
  database->store("A", a());
  const Plan sizes = database->plan("A").transform("abs");
  if (cluster_info().rank == 0) database.reset();
  (void)run(sizes);  // the others go on when the first one has done so
  if (database) expect_same(database->read("A"), a(), "A");
}

/// The result does not fit into memory, and neither do the inputs.
void small_memory(const std::string& folder, std::int64_t limit) {
  Database database = Database::open(folder);
  const Relation x = Relation::from_tensor(tensor(400, 500, 1), {50, 50});
  const Relation y = Relation::from_tensor(tensor(500, 300, 2), {50, 50});
  database.store("X", x);
  database.store("Y", y);
  const Plan product = tasks::product(database.plan("X"), database.plan("Y"));
  const Relation expected = tasks::product(Plan::input(x, "X"), Plan::input(y, "Y")).interpret();
  RunOptions options;
  options.memory_limit = limit;
  RunReport report;
  database.store("Z", product, options, &report);
  // What others send comes unasked: a few tiles may be too many for a moment.
  require(report.peak_bytes <= limit + limit / 2, "the limit was not kept");
  expect_same(database.read("Z"), expected, "Z");
  // What is read by two has to wait for the second: it is written out meanwhile.
  const Plan squares = product.join(product, {0, 1}, {0, 1}, "mul");
  const Plan turned = product.rekey("<k1, k0>").transform("transpose");
  database.store("twice", tasks::product(turned, squares), options, &report);
  expect_same(database.read("twice"), tasks::product(turned, squares).interpret(), "twice");
  std::cout << "spilled " << report.bytes_spilled << std::endl;
  options.memory_limit = 4 * limit;
  expect_same(run(product, options), expected, "the product in memory");
  expect_well(database);
}

/// Every process ends with an error, and the database is as it was.
template <class Store>
void failing(const std::string& folder, const std::string& reason, Store&& store) {
  Database database = Database::open(folder);
  database.store("before", single());
  std::string said;
  try {
    store(database);
  } catch (const Error& error) {
    said = std::string(error.kind()) + ": " + error.what();
  }
  require(said.find(reason) != std::string::npos, "expected '" + reason + "', not '" + said + "'");
  std::cout << "rank " << cluster_info().rank << " " << said << std::endl;
  require(database.list().size() == 1, "something was left");
  database.store("after", single());  // and all go on
  database.store("sum",
                 database.plan("after").join(database.plan("before"), {0, 1}, {0, 1}, "add"));
  expect_same(database.read("after"), single(), "after");
  expect_well(database);
}

void failing_kernel(const std::string& folder) {
  register_kernel(
      {.name = "brittle",
       .infer = [](Types types, const Params&) { return std::vector<TileType>{types[0]}; },
       .implementations = {{.name = "loop", .run = [](Tiles tiles, const Params&) {
                              if (tiles[0].at<double>({0}) == 8)
                                throw ValueError("brittle: eight is right out");
                              return std::vector<Tile>{tiles[0]};
                            }}}});
  std::vector<Tuple> tuples;
  for (std::int64_t i = 0; i < 9; ++i)
    tuples.push_back({{i}, {Tile::full(DType::f64, {500}, static_cast<double>(i))}});
  failing(folder, "brittle: eight is right out", [&](Database& database) {
    database.store("R", Plan::input(Relation::of(tuples), "R").transform("brittle"));
  });
}

/// One process cannot write as much as it has to.
void full_disk(const std::string& folder) {
  std::signal(SIGXFSZ, SIG_IGN);
  const int last = cluster_info().size - 1;
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  failing(folder, "File too large", [&](Database& database) {
    if (cluster_info().rank == last) {
      const rlimit small{100'000, before.rlim_max};
      setrlimit(RLIMIT_FSIZE, &small);
    }
    try {
      database.store("R", Relation::from_tensor(tensor(300, 300, 5), {20, 20}));
    } catch (...) {
      setrlimit(RLIMIT_FSIZE, &before);
      throw;
    }
  });
}

/// One process may use too little memory to begin.
void little_memory(const std::string& folder) {
  failing(folder, "of memory, but the limit is", [&](Database& database) {
    RunOptions options;
    if (cluster_info().rank == cluster_info().size - 1) options.memory_limit = 1000;
    const Relation big = Relation::from_tensor(tensor(60, 60, 5), {20, 20});
    database.store("R", tasks::product(Plan::input(big, "X"), Plan::input(big, "Y")), options);
  });
}

void taken_name(const std::string& folder) {
  failing(folder, "TypeError: relation \"before\" already exists; drop it first",
          [](Database& database) { database.store("before", database.plan("before")); });
}

void unknown_name(const std::string& folder) {
  failing(folder, "TypeError: relation \"nothing\" not found in",
          [](Database& database) { database.drop("nothing"); });
}

/// A key that is there, which the first process knows before anything is written.
void taken_key(const std::string& folder) {
  failing(folder, "TypeError: cannot append to \"before\": a tuple with key <0, 0> already exists",
          [](Database& database) {
            database.change({.results = {{"R", database.plan("before").transform("neg")}},
                             .appended = {{"before", single()}}});
          });
}

/// A key that is in a result, which is known when all have written theirs.
void taken_key_of_result(const std::string& folder) {
  failing(folder, "cannot append to \"R\": a tuple with key <0, 0> already exists",
          [](Database& database) {
            database.change({.results = {{"R", database.plan("before").transform("neg")}},
                             .appended = {{"R", single()}}});
          });
}

/// One process stores another text than the others.
void other_strings(const std::string& folder) {
  failing(folder, "words", [](Database& database) {
    const std::string word = cluster_info().rank == 1 ? "red" : "green";
    Changes changes{.appended = {{"words", Relation::of({{{0}, {Tile::scalar(code_of(word))}}})}},
                    .string_columns = {{"words", {0}}}};
    changes.strings_of = [&](const auto& codes) { return std::vector(codes.size(), word); };
    database.change(changes);
  });
}

void other_statement(const std::string& folder) {
  failing(folder, "execute different statements", [](Database& database) {
    if (cluster_info().rank == 1)
      database.drop("before");
    else
      database.rename("before", "later");
  });
}

/// Processes that look at two states of a database.
void other_state(const std::string& folder) {
  Database database = Database::open(folder);
  database.store("X", a());
  const Plan old = database.plan("X");
  database.drop("X");
  database.store("X", Plan::input(a(), "A").transform("neg"));
  const Plan now = database.plan("X");
  database.store("sizes", (cluster_info().rank == 1 ? old : now).transform("abs"));
}

void import(const std::string& folder, const std::string& file) {
  Database database = Database::open(folder);
  const FileReport report = database.import_file("file", file);
  require(report.names == std::vector<std::string>{"file"} && report.bytes > 0, "no such report");
  require(database.read("file").size() > 0, "nothing was imported");
  (void)database.vacuum();
  database.checkpoint();
  expect_well(database);
}

/// One process reads by itself, and the others do nothing.
void reading_alone(const std::string& folder) {
  if (cluster_info().rank != 1) return;
  const Database database = Database::open(folder);
  require(database.read("A").size() == a().size(), "A is not as it was");
  expect_well(database);
}

/// One process makes statements in a database of its own, which the others know nothing of; then
/// all go on together.
void own_database(const std::string& folder) {
  Session together(Database::open(folder + "/all"));
  together.execute("CREATE TENSOR A TILE [2][2] AS [[1, 2, 3], [4, 5, 6], [7, 8, 9]]");
  SessionOptions options;
  options.run.engine = local_engine();
  require(cluster_info(options.run).size == 1, "who is alone is not one of several");
  if (cluster_info().rank == cluster_info().size - 1) {
    std::vector<std::string> done;
    options.run.observer = std::make_shared<Trace>(folder + "/trace.json", options.run);
    Session own(Database::open(folder + "/own"), options);
    own.execute(
        "CREATE TENSOR X TILE [2][2] AS [[1, 2, 3], [4, 5, 6], [7, 8, 9]];"
        "CREATE TENSOR Y AS X @ X; COPY X TO '" +
            folder +
            "/X.npy';"
            "CREATE TENSOR Z FROM '" +
            folder +
            "/X.npy'; DROP TENSOR Z;"
            "CREATE TABLE t (x INT, m MATRIX[2][2]);"
            "INSERT INTO t VALUES (1, [[1, 2], [3, 4]]), (2, [[1, 2], [3, 4]]);"
            "SELECT SUM(matmul(a.m, b.m)) FROM t AS a, t AS b;"
            "COPY (SELECT x, m FROM t) TO '" +
            folder + "/rows.csv'; COPY t FROM '" + folder +
            "/rows.csv';"
            "CREATE TABLE v[0] AS SELECT x, m FROM t;"
            "CREATE TABLE v[i:1...] AS SELECT x, m + m AS m FROM v[i-1]; MATERIALIZE v[2];"
            "EXECUTE (SELECT SUM(m) FROM v[1]); EXPLAIN SELECT SUM(m) FROM v[3];"
            "EXPLAIN ANALYZE SELECT SUM(m) FROM v[3];"
            "SET frame_size = 2; SELECT SUM(m) FROM v[20]; EXPLAIN ANALYZE SELECT SUM(m) FROM "
            "v[20];"
            "SET cluster_timeout = 1; CHECKPOINT; VACUUM",
        [&](const StatementResult& result) { done.push_back(result.command); });
    require(done.size() == 23, "there were " + std::to_string(done.size()) + " statements");
    own.database().store("W", own.database().plan("X").transform("neg"));
    own.database().drop("W");
    const Database temporary = Database::temporary({}, local_engine());
    require(own.query("SHOW SETTINGS").rows() > 0, "there are no settings");
    expect_well(own.database());
  }
  require(cluster_timeout() != 1, "what one session sets is set for all");
  together.execute("CREATE TENSOR B AS A @ A; EXPLAIN ANALYZE CREATE TENSOR C AS A @ B");
  std::string plan;
  const ResultTable lines = together.query("EXPLAIN CREATE TENSOR C AS A @ B @ A");
  for (std::int64_t row = 0; row < lines.rows(); ++row) plan += lines.text(row, 0) + "; ";
  std::cout << "plan of rank " << cluster_info().rank << ": " << plan << std::endl;
  expect_well(together.database());
}

/// A store that takes long, for those who want to end it.
void long_store(const std::string& folder) {
  register_kernel(
      {.name = "slow",
       .infer = [](Types types, const Params&) { return std::vector<TileType>{types[0]}; },
       .implementations = {{.name = "sleep", .run = [](Tiles tiles, const Params&) {
                              std::this_thread::sleep_for(std::chrono::milliseconds(20));
                              return std::vector<Tile>{tiles[0]};
                            }}}});
  Database database = Database::open(folder);
  database.store("before", single());
  std::cout << "pid " << getpid() << " rank " << cluster_info().rank << std::endl;
  std::vector<Tuple> tuples;
  for (std::int64_t i = 0; i < 20000; ++i)
    tuples.push_back({{i}, {Tile::full(DType::f64, {100}, 1)}});
  database.store("R", Plan::input(Relation::of(tuples), "R").transform("slow"));
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "", folder = argc > 2 ? argv[2] : "";
  const std::map<std::string, std::function<void()>> modes{
      {"write", [&] { write(folder); }},
      {"read", [&] { read(folder); }},
      {"small_memory", [&] { small_memory(folder, std::atoll(argv[3])); }},
      {"failing_kernel", [&] { failing_kernel(folder); }},
      {"full_disk", [&] { full_disk(folder); }},
      {"little_memory", [&] { little_memory(folder); }},
      {"taken_name", [&] { taken_name(folder); }},
      {"unknown_name", [&] { unknown_name(folder); }},
      {"change", [&] { change(folder); }},
      {"changed", [&] { changed(folder); }},
      {"temporary", [&] { temporary(); }},
      {"taken_key", [&] { taken_key(folder); }},
      {"taken_key_of_result", [&] { taken_key_of_result(folder); }},
      {"other_strings", [&] { other_strings(folder); }},
      {"other_statement", [&] { other_statement(folder); }},
      {"other_state", [&] { other_state(folder); }},
      {"import", [&] { import(folder, argv[3]); }},
      {"reading_alone", [&] { reading_alone(folder); }},
      {"own_database", [&] { own_database(folder); }},
      {"long_store", [&] { long_store(folder); }}};
  return tasks::program([&] {
    const auto found = modes.find(mode);
    if (found == modes.end()) throw ValueError("no such mode: " + mode);
    found->second();
    if (cluster_info().rank == 0) std::cout << "done" << std::endl;
  });
}
