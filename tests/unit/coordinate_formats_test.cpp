#include <random>

#include "store/formats/sorted_runs.h"
#include "store/formats/sparse_tiles.h"
#include "support/expectations.h"
#include "support/text_files.h"

namespace tessera {
namespace {

using store::extreme_format;
using store::matrix_market_format;
using store::svmlight_format;
using store::triples_format;

class CoordinateFormatsTest : public TextFiles {
 protected:
  Tile mtx(const std::string& text, const FormatOptions& options = {}) const {
    return tensor(matrix_market_format(), text, options);
  }
  Tile triples(const std::string& text, const FormatOptions& options = {}) const {
    return tensor(triples_format(), text, options);
  }
};

/// A thousand entries of a matrix in no order, some of them more than once.
struct RandomEntries {
  RandomEntries(std::int64_t rows, std::int64_t columns, int count) {
    std::mt19937_64 random(7);
    std::vector<double> sums(rows * columns, 0);
    for (int i = 0; i < count; ++i) {
      const auto row = static_cast<std::int64_t>(random() % rows);
      const auto column = static_cast<std::int64_t>(random() % columns);
      const double value = static_cast<double>(random() % 1000) / 8 + 1;
      lines += fmt::format("{} {} {}\n", row + 1, column + 1, value);
      sums[row * columns + column] += value;
    }
    expected = Tile::of<double>({rows, columns}, sums);
  }
  std::string lines;
  Tile expected;
};

TEST_F(CoordinateFormatsTest, SortedRunsAreInOrderAndStable) {
  for (const std::int64_t memory :
       {std::int64_t{0}, std::int64_t{1} << 16, std::int64_t{1} << 24}) {
    store::SortedRuns runs(memory, memory != 0);
    std::mt19937_64 random(1);
    const int count = 100000;
    for (int i = 0; i < count; ++i) runs.add((random() % 5000) << (i % 50), i);
    runs.begin();
    store::SortedRuns::Pair last{}, pair{};
    int seen = 0;
    for (; runs.next(pair); last = pair, ++seen)
      ASSERT_TRUE(seen == 0 || last.position < pair.position ||
                  (last.position == pair.position && last.value < pair.value));
    EXPECT_EQ(seen, count);
  }
}

TEST_F(CoordinateFormatsTest, ChosenTilesHoldSomeMegabytes) {
  EXPECT_EQ(store::chosen_sparse_tile({1000, 1000}, 100), (Shape{1000, 1000}));
  const Shape tile = store::chosen_sparse_tile({1000000, 1000000}, 25000000);
  const double held =
      25e6 * (static_cast<double>(tile[0]) / 1e6) * (static_cast<double>(tile[1]) / 1e6);
  EXPECT_GT(held, 1 << 17);
  EXPECT_LE(held, 1 << 18);
  EXPECT_EQ(store::chosen_sparse_tile({10, 1000000000}, 10000000)[0], 10);
  EXPECT_EQ(store::chosen_sparse_tile({0, 5}, 0), (Shape{1, 5}));
  // Rows that are nearly all empty are not worth an offset each.
  EXPECT_EQ(store::chosen_sparse_dims({1000000000, 1000000000}, {1000000000, 1000000000}, 1000), 2);
  EXPECT_EQ(store::chosen_sparse_dims({1000, 1000}, {1000, 1000}, 10), 1);
}

TEST_F(CoordinateFormatsTest, MatrixMarketKinds) {
  const std::string head = "%%MatrixMarket matrix ";
  EXPECT_TILE_EQ(
      mtx(head + "coordinate real general\n% comment\n\n2 3 3\n1 1 1.5\n2 3 -2\n1 2 1e1\n"),
      Tile::of<double>({2, 3}, {1.5, 10, 0, 0, 0, -2}));
  EXPECT_TILE_EQ(mtx(head + "coordinate integer symmetric\n2 2 2\n1 1 5\n2 1 -3\n"),
                 Tile::of<std::int64_t>({2, 2}, {5, -3, -3, 0}));
  EXPECT_TILE_EQ(mtx(head + "coordinate real skew-symmetric\n2 2 1\n2 1 4\n"),
                 Tile::of<double>({2, 2}, {0, -4, 4, 0}));
  EXPECT_TILE_EQ(
      mtx(head + "coordinate pattern symmetric\n3 3 2\n3 1\n2 2\n"),
      Tile::of<bool>({3, 3}, {false, false, true, false, true, false, true, false, false}));
  EXPECT_TILE_EQ(mtx(head + "array real general\n2 3\n1\n2\n3\n4\n5\n6\n"),
                 Tile::of<double>({2, 3}, {1, 3, 5, 2, 4, 6}));
  EXPECT_TILE_EQ(mtx(head + "array integer symmetric\n3 3\n1\n2\n3\n4\n5\n6\n"),
                 Tile::of<std::int64_t>({3, 3}, {1, 2, 3, 2, 4, 5, 3, 5, 6}));
  EXPECT_TILE_EQ(mtx(head + "array real skew-symmetric\n3 3\n1\n2\n3\n"),
                 Tile::of<double>({3, 3}, {0, -1, -2, 1, 0, -3, 2, 3, 0}));
  EXPECT_TILE_EQ(mtx("%%matrixmarket MATRIX Coordinate Real General\r\n1 1 1\r\n1 1 2\r\n"),
                 Tile::of<double>({1, 1}, {2}));
  EXPECT_TILE_EQ(mtx(head + "coordinate real general\n1 2 3\n1 2 1\n1 2 2\n1 1 5\n"),
                 Tile::of<double>({1, 2}, {5, 3}))
      << "duplicates are added";
  for (const Shape& shape : {Shape{0, 0}, Shape{0, 4}, Shape{4, 0}, Shape{3, 2}})
    for (const bool tiled : {false, true}) {
      const FormatOptions options = with([&](auto& o) {
        if (tiled) o.tile = Shape{2, 3};
      });
      EXPECT_EQ(mtx(fmt::format("{}coordinate real general\n{} {} 0\n", head, shape[0], shape[1]),
                    options)
                    .shape(),
                shape);
      if (shape.elements() == 0)
        EXPECT_EQ(
            mtx(fmt::format("{}array real general\n{} {}\n", head, shape[0], shape[1]), options)
                .shape(),
            shape);
    }
}

TEST_F(CoordinateFormatsTest, ResultsDoNotDependOnMemoryThreadsOrTiles) {
  const RandomEntries random(83, 71, 20000);
  const std::string text =
      "%%MatrixMarket matrix coordinate real general\n83 71 20000\n" + random.lines;
  for (const std::int64_t memory : {std::int64_t{0}, std::int64_t{1} << 16, std::int64_t{1} << 26})
    for (const int threads : {1, 2, 4})
      for (const Shape& tile : {Shape{83, 71}, Shape{10, 20}, Shape{1, 1}, Shape{100, 3}}) {
        const FormatOptions options = with([&](auto& o) {
          o.memory = memory;
          o.threads = threads;
          o.tile = tile;
        });
        EXPECT_TILE_EQ(mtx(text, options), random.expected);
        EXPECT_TILE_EQ(triples(random.lines, with([&](auto& o) {
                                 o = options;
                                 o.index_base = 1;
                               })),
                       random.expected);
      }
}

TEST_F(CoordinateFormatsTest, TriplesOfAnyRank) {
  EXPECT_TILE_EQ(triples("i,j,v\n0,0,1\n1,2,-5\n"),
                 Tile::of<std::int64_t>({2, 3}, {1, 0, 0, 0, 0, -5}));
  EXPECT_TILE_EQ(triples("3 .5\n0 1\n"), Tile::of<double>({4}, {1, 0, 0, .5}));
  EXPECT_TILE_EQ(triples("0\t1\t1\ttrue\n1\t0\t0\ttrue\n"),
                 Tile::of<bool>({2, 2, 2}, {false, false, false, true, true, false, false, false}));
  EXPECT_TILE_EQ(triples("0,0,1\n", with([](auto& o) {
                           o.shape = Shape{2, 2};
                         })),
                 Tile::of<std::int64_t>({2, 2}, {1, 0, 0, 0}));
  EXPECT_EQ(triples("1,1,1,1,1,1,1,1,2.5\n").shape(), (Shape{2, 2, 2, 2, 2, 2, 2, 2}));
  EXPECT_EQ(triples("", with([](auto& o) { o.shape = Shape{2, 3}; })).shape(), (Shape{2, 3}));
  const Tile cube = random_sparse({DType::f64, {11, 7, 5}, 2}, 5, .2);
  for (const int base : {0, 1}) {
    const FormatOptions options = with([&](auto& o) { o.index_base = base; });
    write(triples_format(), {MemoryReader::of(cube, {4, 3, 2}, Presence::sparse)}, path("out.coo"),
          options);
    EXPECT_TILE_EQ(triples(content(path("out.coo")), with([&](auto& o) {
                             o.index_base = base;
                             o.shape = cube.shape();
                           })),
                   cube.dense());
  }
}

TEST_F(CoordinateFormatsTest, MatrixMarketWritesWhatItReads) {
  for (const Shape& shape : {Shape{1, 9}, Shape{9, 1}, Shape{23, 17}, Shape{0, 3}})
    for (const DType dtype : {DType::f64, DType::i64, DType::boolean}) {
      const Tile sparse = random_sparse({dtype, shape, 1}, 2, .3);
      write(matrix_market_format(), {MemoryReader::of(sparse, {5, 4}, Presence::sparse)},
            path("s.mtx"));
      EXPECT_TILE_EQ(mtx(content(path("s.mtx"))), sparse.dense());
      const Tile dense = random_integers(dtype, shape, 3, 0, 50);
      for (const std::int64_t memory : {1, 1 << 20}) {
        write(matrix_market_format(), {MemoryReader::of(dense, {5, 4})}, path("d.mtx"),
              with([&](auto& o) { o.memory = memory; }));
        EXPECT_TILE_EQ(mtx(content(path("d.mtx")), with([](auto& o) {
                             o.tile = Shape{3, 2};
                           })),
                       dense);
      }
    }
}

TEST_F(CoordinateFormatsTest, SvmlightPointsAndLabels) {
  const std::string text = "# a file\n1 1:0.5 3:2 # point\n-1 qid:3 2:1\n\n+2.5\n";
  MemoryReceiver into;
  read(svmlight_format(), file("a.svm", text), into);
  EXPECT_TILE_EQ(into.tensor().whole(), Tile::of<double>({3, 3}, {.5, 0, 2, 0, 1, 0, 0, 0, 0}));
  EXPECT_TILE_EQ(into.tensor(".labels").whole(), Tile::of<double>({3, 1}, {1, -1, 2.5}));
  EXPECT_TILE_EQ(tensor(svmlight_format(), "1 0:1 2:3\n0 1:2\n"),
                 Tile::of<std::int64_t>({2, 3}, {1, 0, 3, 0, 2, 0}))
      << "with a feature 0 they are counted from 0";
  EXPECT_TILE_EQ(tensor(svmlight_format(), "1,3 1:1\n 2:1\n0\n", {}, ".labels"),
                 Tile::of<bool>({3, 4}, {false, true, false, true, false, false, false, false, true,
                                         false, false, false}));
  EXPECT_EQ(tensor(svmlight_format(), "1 1:1\n", with([](auto& o) {
                     o.shape = Shape{1, 9};
                   }))
                .shape(),
            (Shape{1, 9}));
  EXPECT_EQ(tensor(svmlight_format(), "").shape(), (Shape{0, 0}));
}

TEST_F(CoordinateFormatsTest, ExtremeClassification) {
  const std::string text = "3 4 5\n0,4 0:1 3:.5\n 1:2\n2 2:1.5\n";
  MemoryReceiver into;
  read(extreme_format(), file("a.xc", text), into, with([](auto& o) { o.tile = Shape{2, 3}; }));
  EXPECT_TILE_EQ(into.tensor().whole(),
                 Tile::of<double>({3, 4}, {1, 0, 0, .5, 0, 2, 0, 0, 0, 0, 1.5, 0}));
  EXPECT_EQ(into.tensor(".labels").head.tile.shape[0], 2) << "tiled as the features are";
  const Tile labels = into.tensor(".labels").whole();
  EXPECT_TILE_EQ(
      labels, Tile::of<bool>({3, 5}, {true, false, false, false, true, false, false, false, false,
                                      false, false, false, true, false, false}));
}

TEST_F(CoordinateFormatsTest, PointsAreWrittenAsTheyAreRead) {
  const Tile features = random_sparse({DType::f64, {53, 31}, 1}, 4, .1);
  const Tile sets = random_sparse({DType::boolean, {53, 6}, 1}, 5, .2);
  const Tile labels = random_integers(DType::i64, {53, 1}, 6, -1, 2);
  const auto readers = [&](const Tile& l, const Shape& tile) {
    return std::vector<MemoryReader>{MemoryReader::of(features, {10, 7}, Presence::sparse),
                                     MemoryReader::of(l, tile)};
  };
  const auto check = [&](const store::Format& format, const Tile& expected,
                         const FormatOptions& options) {
    MemoryReceiver into;
    read(format, path("out"), into, options);
    EXPECT_TILE_EQ(into.tensor().whole(), features.dense());
    EXPECT_TILE_EQ(into.tensor(".labels").whole(), expected.dense());
  };
  const FormatOptions whole = with([](auto& o) { o.shape = Shape{53, 31}; });
  write(svmlight_format(), readers(labels, {9, 1}), path("out"));
  check(svmlight_format(), labels, whole);
  write(svmlight_format(), readers(sets, {9, 2}), path("out"));
  check(svmlight_format(), sets, whole);
  write(extreme_format(), readers(sets, {9, 2}), path("out"));
  check(extreme_format(), sets, {});
  check(extreme_format(), sets, with([](auto& o) {
          o.memory = 0;
          o.threads = 3;
        }));
}

}  // namespace
}  // namespace tessera
