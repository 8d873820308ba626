#include "fuzz/database_seed.h"

#include "tessera/session.h"

namespace tessera::hostile {
namespace {

constexpr const char* tables = R"(
CREATE TABLE people (id INT, name TEXT, age DOUBLE, here BOOLEAN);
INSERT INTO people VALUES (1, 'Ada', 36, true), (2, 'Grace', 85, false), (3, 'Emmy', 53, true);
INSERT INTO people VALUES (4, 'Sofja', 41, true);
CREATE TABLE keyed (a INT PRIMARY KEY, b TEXT);
INSERT INTO keyed VALUES (0, 'zero'), (1, 'one'), (5, 'five');
CREATE TABLE tiles (i INT, j INT, m MATRIX[2][2]);
INSERT INTO tiles VALUES (0, 0, [[1, 2], [3, 4]]), (0, 1, [[5, 6], [7, 8]]), (1, 1, [[0, 1], [1, 0]]);
CREATE TABLE empty (x INT, y TEXT);
CREATE VIEW adults (who, years) AS SELECT name, age FROM people WHERE age > 40;
CREATE VIEW elders AS SELECT who FROM adults WHERE years > 50;
CREATE TENSOR X AS [[1.5, 2, 3], [4, 5, 6]] TILE [1][2];
CREATE TENSOR Y AS X.T @ X TILE [2][2];
CREATE TENSOR P [400][400] OF FLOAT TILE [100][150] PARTITION BY (0) VIRTUAL;
CREATE TABLE f[i:0...1] (v) AS SELECT * FROM VALUES (1);
CREATE TABLE f[i:2...] (v) AS SELECT SUM(v) FROM UNION f[i-2...i-1];
CREATE TABLE w[0] (k, m) AS SELECT i, m FROM tiles WHERE j = 1;
CREATE TABLE w[i:1...] (k, m) AS SELECT k, m + 1 AS m FROM w[i-1];
MATERIALIZE f[6];
MATERIALIZE w[2];
)";

/// Stops a statement in frames when some of them are done, as a kill would.
void leave_a_job(const Database& database) {
  std::stop_source source;
  Session session(database);
  session.execute("SET frame_size = 4");
  session.run_options().stop = source.get_token();
  session.run_options().progress = [&](const Progress& progress) {
    if (progress.frame > 3) source.request_stop();
  };
  session.run_options().progress_seconds = 0;
  try {
    session.execute("SELECT * FROM w[12]");
  } catch (const StatementError&) {  // it was stopped
  }
}

Relation sparse_tensor(DType dtype, const Shape& shape, const Shape& tile, int sparse_dims,
                       std::uint64_t seed) {
  return Relation::from_tensor(random_sparse({dtype, shape, sparse_dims}, seed, 0.3), tile,
                               Presence::sparse);
}

/// Tiles of several shapes and two columns, with holes.
Relation ragged() {
  std::vector<Tuple> tuples;
  for (std::int64_t k = 0; k < 6; k += 2)
    tuples.push_back({{k, k / 2},
                      {random_uniform(DType::f64, {k + 1, 2}, 1), Tile::scalar(k),
                       random_sparse({DType::f32, {3, k + 1}, 1}, 2, 0.5)}});
  return Relation::of(std::move(tuples), Presence::partial);
}

/// A sparse relation whose absent tiles have extents that only rules tell.
Relation with_rules() {
  const TypesAt absent = [](const Key& key) {
    return std::vector<TileType>{{DType::f64, {1 + key[0] % 3, 2 + key[1] % 2}, 1}};
  };
  std::vector<Tuple> tuples;
  for (std::int64_t k = 0; k < 4; ++k)
    tuples.push_back({{k, k}, {random_sparse(absent({k, k})[0], 3, 0.6)}});
  return Relation::assemble({{{"", {DType::f64, {3, 3}, 1}}}, {4, 4}, Presence::sparse},
                            std::move(tuples), absent);
}

}  // namespace

void make_seed(const std::filesystem::path& folder) {
  Database database = Database::open(folder);
  const auto store = [&](const std::string& name, const Tile& tensor, const Shape& tile) {
    database.store(name, Relation::from_tensor(tensor, tile));
  };
  store("D", random_uniform(DType::f64, {5, 7}, 1), {2, 3});
  store("H", random_uniform(DType::f32, {7, 5}, 2), {3, 2});
  store("I", random_integers(DType::i64, {2, 3, 2}, 3, -5, 5), {1, 2, 2});
  store("B", random_integers(DType::boolean, {5, 6}, 4, 0, 2), {3, 4});
  database.store("S", sparse_tensor(DType::f64, {8, 9}, {3, 4}, 1, 5));
  database.store("C", sparse_tensor(DType::f32, {9, 8}, {4, 3}, 2, 6));
  database.store("T", sparse_tensor(DType::i64, {4, 4, 4}, {2, 4, 2}, 2, 7));
  database.store("G", sparse_tensor(DType::boolean, {9, 9}, {9, 9}, 1, 8));
  database.store("ragged", ragged());
  database.store("rules", with_rules());
  Database compressing = Database::open(folder, {.compress = true});
  compressing.store("Z", Relation::from_tensor(Tile::full(DType::f64, {16, 16}, 2), {8, 8}));
  compressing.store("ZS", sparse_tensor(DType::f64, {40, 40}, {40, 40}, 1, 9));
  database.store(
      "product",
      database.plan("D").join(database.plan("H"), {1}, {0}, "matmul").aggregate({0, 2}, "add"));
  Session(database).execute(tables);
  leave_a_job(database);
  database.checkpoint();
}

const std::vector<std::string>& statements() {
  static const std::vector<std::string> all = {
      "SHOW TABLES",
      "SHOW JOBS",
      "SHOW HISTORY",
      "DESCRIBE people",
      "DESCRIBE f",
      "DESCRIBE w",
      "DESCRIBE elders",
      "DESCRIBE S",
      "DESCRIBE P",
      "SELECT * FROM people",
      "SELECT name, COUNT(*) FROM people GROUP BY name ORDER BY name",
      "SELECT * FROM keyed",
      "SELECT * FROM tiles",
      "SELECT * FROM empty",
      "SELECT * FROM adults",
      "SELECT * FROM elders",
      "SELECT * FROM D",
      "SELECT * FROM H",
      "SELECT * FROM I",
      "SELECT * FROM B",
      "SELECT * FROM S",
      "SELECT * FROM C",
      "SELECT * FROM T",
      "SELECT * FROM G",
      "SELECT * FROM ragged",
      "SELECT * FROM rules",
      "SELECT * FROM Z",
      "SELECT * FROM ZS",
      "SELECT * FROM X",
      "SELECT * FROM Y",
      "SELECT * FROM product",
      "SELECT k0, SUM(sum_elements(tile)) FROM S GROUP BY k0",
      "SELECT a.i, b.j, SUM(matmul(a.m, b.m)) FROM tiles AS a, tiles AS b WHERE a.j = b.i "
      "GROUP BY a.i, b.j",
      "SELECT s.k0, SUM(matmul(s.tile, c.tile)) FROM S AS s, C AS c WHERE s.k1 = c.k0 "
      "GROUP BY s.k0",
      "SELECT p.name, k.b FROM people AS p, keyed AS k WHERE p.id = k.a",
      "SELECT * FROM f[9]",
      "SELECT * FROM f[6]",
      "SELECT * FROM w[4]",
      "MATERIALIZE f[8]",
      "DROP TABLE f[6]",
      "SET frame_size = 4; SELECT * FROM w[12]",
      "SET frame_size = 2; SELECT * FROM f[10]",
      "CREATE TENSOR n1 AS D @ H",
      "CREATE TENSOR n2 AS S @ C",
      "CREATE TENSOR n3 AS G",
      "CREATE TENSOR n4 AS S.T + 1 TILE [2][2]",
      "CREATE TENSOR n5 AS B TILE [2][5]",
      "CREATE TENSOR n6 AS X.T @ X + Y",
      "CREATE TENSOR n7 AS ZS @ ZS.T",
      "CREATE TENSOR n8 AS einsum('ijk,jkl->il', T, I)",
      "CREATE TENSOR n9 AS Z * 2 TILE [5][5]",
      "EXPLAIN CREATE TENSOR Q AS P @ P",
      "EXPLAIN SELECT * FROM w[5]",
      "EXPLAIN ANALYZE SELECT k0, SUM(tile) FROM S GROUP BY k0",
      "CREATE TABLE c1 AS SELECT k0, k1, tile FROM S",
      "CREATE TABLE c2 AS SELECT * FROM ragged",
      "CREATE TABLE c3 AS SELECT k0 + 1 AS i, tile FROM rules",
      "INSERT INTO people VALUES (9, 'Ada', 1, false), (10, 'new', 2, true)",
      "INSERT INTO keyed VALUES (7, 'one')",
      "INSERT INTO empty VALUES (1, 'a')",
      "INSERT INTO tiles VALUES (3, 3, [[1, 0], [0, 1]])",
      "INSERT INTO people SELECT id + 10, name, age, here FROM people",
      "COPY people TO 'p.csv'",
      "COPY S TO 's.mtx'",
      "COPY D TO 'd.npy'",
      "COPY T TO 't.h5'",
      "COPY B TO 'b.npz'",
      "COPY C TO 'c.tns' WITH (format = triples)",
      "ALTER TABLE people RENAME TO folk",
      "ALTER TENSOR S RENAME TO SS",
      "DROP VIEW elders",
      "DROP TABLE f",
      "DROP TENSOR S",
      "DROP TABLE tiles",
      "VACUUM",
      "CHECKPOINT",
  };
  return all;
}

}  // namespace tessera::hostile
