#include <cmath>
#include <limits>

#include "store/formats/csv_lines.h"
#include "store/formats/row_bands.h"
#include "store/formats/text_place.h"
#include "support/expectations.h"
#include "support/special_values.h"
#include "support/text_files.h"

namespace tessera {
namespace {

using store::csv_format;

class CsvFormatTest : public TextFiles {
 protected:
  Tile csv(const std::string& text, const FormatOptions& options = {}) const {
    return tensor(csv_format(), text, options);
  }
};

constexpr double inf = std::numeric_limits<double>::infinity();

TEST_F(CsvFormatTest, IntegersStayIntegersAndFractionsMakeReals) {
  EXPECT_TILE_EQ(csv("1,2,3\n4,5,6\n"), Tile::of<std::int64_t>({2, 3}, {1, 2, 3, 4, 5, 6}));
  EXPECT_TILE_EQ(csv("1,2\n3,4.5\n"), Tile::of<double>({2, 2}, {1, 2, 3, 4.5}));
  EXPECT_TILE_EQ(csv("true,False\nTRUE,false\n"),
                 Tile::of<bool>({2, 2}, {true, false, true, false}));
  EXPECT_TILE_EQ(csv("true,3\nfalse,4\n"), Tile::of<std::int64_t>({2, 2}, {1, 3, 0, 4}));
  EXPECT_TILE_EQ(csv("9223372036854775807\n-9223372036854775808\n"),
                 Tile::of<std::int64_t>({2, 1}, {INT64_MAX, INT64_MIN}));
  EXPECT_TILE_EQ(csv("9223372036854775808,1\n"), Tile::of<double>({1, 2}, {0x1p63, 1}));
}

TEST_F(CsvFormatTest, AFractionInTheLastLineOfALongFileMakesAllOfItReal) {
  std::string text;
  for (int i = 0; i < 300000; ++i) text += fmt::format("{},{}\n", i, -i);
  const Tile integers = csv(text);
  EXPECT_EQ(integers.dtype(), DType::i64);
  EXPECT_EQ(integers.shape(), (Shape{300000, 2}));
  const Tile reals = csv(text + "0.5,1\n");
  EXPECT_EQ(reals.dtype(), DType::f64);
  EXPECT_EQ(reals.at<double>({299999, 1}), -299999);
  EXPECT_EQ(reals.at<double>({300000, 0}), 0.5);
}

TEST_F(CsvFormatTest, NumbersAreReadAsNumPyDoes) {
  EXPECT_TILE_EQ(csv("+1.5,-2e3,.5,5.,inf,-Infinity,1e400,-1e400,1e-400,NaN\n"),
                 Tile::of<double>({1, 10}, {1.5, -2000, .5, 5, inf, -inf, inf, -inf, 0, nan}));
  const std::string tiny = "0." + std::string(400, '0') + "1";
  const std::string huge = std::string(400, '9');
  EXPECT_TILE_EQ(csv(tiny + "," + huge + ",1e9223372036854775807,1e-99999999999999999999\n"),
                 Tile::of<double>({1, 4}, {0, inf, inf, 0}));
  EXPECT_TILE_EQ(csv("4.9406564584124654e-324,2.2250738585072014e-308\n"),
                 Tile::of<double>({1, 2}, {4.9406564584124654e-324, 2.2250738585072014e-308}));
}

TEST_F(CsvFormatTest, LinesEndInManyWays) {
  const Tile expected = Tile::of<std::int64_t>({2, 2}, {1, 2, 3, 4});
  for (const char* text :
       {"1,2\n3,4\n", "1,2\r\n3,4\r\n", "1,2\n3,4", "1,2\r\n3,4", "\n1,2\n\n\n3,4\n\n",
        "\xef\xbb\xbf"
        "1,2\n3,4\n",
        " 1 , 2 \n\t3\t,4\n", "# a comment\n1,2\n#\n3,4\n", "1,2\r\n3,4\r"})
    EXPECT_TILE_EQ(csv(text), expected) << text;
}

TEST_F(CsvFormatTest, DelimitersAreToldByTheLines) {
  const Tile expected = Tile::of<double>({2, 2}, {1.5, 2, 3, 4});
  for (const char* text : {"1.5,2\n3,4\n", "1.5;2\n3;4\n", "1.5\t2\n3\t4\n", "1.5 2\n3 4\n",
                           "  1.5   2 \n 3 4\n", "1.5|2\n3|4\n", "1.5, 2\n3, 4\n"})
    EXPECT_TILE_EQ(csv(text), expected) << text;
  EXPECT_TILE_EQ(csv("1:2\n", with([](auto& o) { o.delimiter = ':'; })),
                 Tile::of<std::int64_t>({1, 2}, {1, 2}));
  EXPECT_TILE_EQ(csv("1\t\t3\n4\t5\t6\n"), Tile::of<double>({2, 3}, {1, nan, 3, 4, 5, 6}));
  EXPECT_TILE_EQ(csv("1\n2\n"), Tile::of<std::int64_t>({2, 1}, {1, 2}));
}

TEST_F(CsvFormatTest, HeadersAreSeenOrTold) {
  const Tile expected = Tile::of<std::int64_t>({1, 2}, {1, 2});
  EXPECT_TILE_EQ(csv("a,b\n1,2\n"), expected);
  EXPECT_TILE_EQ(csv("\"a, \"\"first\"\"\",b\n1,2\n"), expected);
  EXPECT_TILE_EQ(csv("2020,2021\n1,2\n", with([](auto& o) { o.header = true; })), expected);
  EXPECT_EQ(csv("2020,2021\n1,2\n").shape(), (Shape{2, 2}));
  EXPECT_EQ(csv("a,b\n").shape(), (Shape{0, 2}));
  EXPECT_ERROR(IoError, csv("a,b\n1,2\n", with([](auto& o) { o.header = false; })), "'a'");
}

TEST_F(CsvFormatTest, QuotedAndMissingFields) {
  EXPECT_TILE_EQ(csv("\"1\",\" 2 \"\n\"3.5\",4\n"), Tile::of<double>({2, 2}, {1, 2, 3.5, 4}));
  EXPECT_TILE_EQ(csv("1,,NA\nnull,NaN,6\n"), Tile::of<double>({2, 3}, {1, nan, nan, nan, nan, 6}));
  const FormatOptions zero = with([](auto& o) { o.missing = 0; });
  EXPECT_TILE_EQ(csv("1,,NA\nnull,NaN,6\n", zero),
                 Tile::of<std::int64_t>({2, 3}, {1, 0, 0, 0, 0, 6}));
  EXPECT_TILE_EQ(csv("1,\n", with([](auto& o) { o.missing = -.5; })),
                 Tile::of<double>({1, 2}, {1, -.5}));
}

TEST_F(CsvFormatTest, ARowIsNeverTakenForAHeader) {
  EXPECT_ERROR(IoError, csv("1.5,2.5,3.5\n7\n8\n"), "line 2: 1 fields, but the first line has 3");
  EXPECT_ERROR(IoError, csv("1,2\n3\n"), "line 2: 1 fields, but the first line has 2");
  EXPECT_ERROR(IoError, csv("1 2\n3\n4\n"), "line 2: 1 fields, but the first line has 2");
  EXPECT_ERROR(IoError, csv("1,2x,3\n4,5,6\n"), "line 1: '2x' is not a number");
  EXPECT_ERROR(IoError, csv("1d3,2\n3,4\n"), "line 1: '1d3' is not a number");
  EXPECT_ERROR(IoError, csv("id,2019,2020\n3,4,5\n"), "set the option header");
  EXPECT_TILE_EQ(csv("id,2019,2020\n3,4,5\n", with([](auto& o) { o.header = true; })),
                 Tile::of<std::int64_t>({1, 3}, {3, 4, 5}));
  EXPECT_ERROR(IoError, csv("1,2\n3,4\n", with([](auto& o) { o.delimiter = '\t'; })),
               "line 1: '1,2' is not a number");
  EXPECT_TILE_EQ(csv(",a,b\n1,2,3\n"), Tile::of<std::int64_t>({1, 3}, {1, 2, 3}));
}

TEST_F(CsvFormatTest, AMatrixWithoutRowsKeepsItsColumns) {
  write(csv_format(), {MemoryReader::of(Tile::full(DType::f64, {0, 3}, 0), {2, 2})},
        path("out.csv"));
  MemoryReceiver into;
  read(csv_format(), path("out.csv"), into);
  EXPECT_EQ(*into.tensor().shape, (Shape{0, 3}));
}

TEST_F(CsvFormatTest, ADtypeThatIsAskedForHolds) {
  const auto as = [](DType dtype) { return with([&](auto& o) { o.dtype = dtype; }); };
  EXPECT_TILE_EQ(csv("1,2\n", as(DType::f32)), Tile::of<float>({1, 2}, {1, 2}));
  EXPECT_TILE_EQ(csv("1,0\n", as(DType::boolean)), Tile::of<bool>({1, 2}, {true, false}));
  EXPECT_TILE_EQ(csv("1,2\n", as(DType::f64)), Tile::of<double>({1, 2}, {1, 2}));
  EXPECT_ERROR(IoError, csv("1,2\n1,2.5\n", as(DType::i64)),
               "line 2, column 3: '2.5' is not of type i64");
  EXPECT_ERROR(IoError, csv("1,\n", as(DType::i64)), "missing=");
  EXPECT_ERROR(IoError, csv("1,2\n", as(DType::boolean)), "'2' is not of type bool");
}

TEST_F(CsvFormatTest, ResultsDoNotDependOnMemoryThreadsOrTiles) {
  std::string text = "a b c d e f g\n";
  std::vector<double> expected;
  const std::int64_t rows = 5003, columns = 7;
  for (std::int64_t i = 0; i < rows * columns; ++i) {
    const double value = static_cast<double>((i * 7919) % 10007) / 64.0;
    expected.push_back(value);
    text += fmt::format("{}{}", value, i % columns == columns - 1 ? "\n" : " ");
  }
  const Tile whole = Tile::of<double>({rows, columns}, expected);
  for (const std::int64_t memory :
       {std::int64_t{1} << 12, std::int64_t{1} << 16, std::int64_t{1} << 26})
    for (const int threads : {1, 2, 5})
      for (const Shape& tile : {Shape{1000, 3}, Shape{5003, 7}, Shape{1, 1}, Shape{9000, 9}}) {
        if (tile == Shape{1, 1} && threads != 2) continue;
        EXPECT_TRUE(tiles_equal(csv(text, with([&](auto& o) {
                                      o.memory = memory;
                                      o.threads = threads;
                                      o.tile = tile;
                                    })),
                                whole))
            << memory << " " << threads << " " << to_string(tile);
      }
}

TEST_F(CsvFormatTest, LongLinesAndWideRows) {
  std::string line;
  for (int i = 0; i < 300000; ++i) line += fmt::format("{}{}", i == 0 ? "" : ",", i);
  MemoryReceiver into;
  read(csv_format(), file("wide.csv", line + "\n" + line + "\n" + line), into,
       with([](auto& o) { o.memory = 1 << 20; }));
  const Received& wide = into.tensor();
  EXPECT_EQ(*wide.shape, (Shape{3, 300000}));
  EXPECT_EQ(wide.whole().at<std::int64_t>({2, 299999}), 299999);
}

TEST_F(CsvFormatTest, ABandOfChosenTilesFitsTheMemory) {
  for (const std::int64_t columns : {10, 1000, 100000, 10000000}) {
    const Shape shape{100000, columns};
    const std::int64_t memory = 64 << 20;
    const Shape tile = store::chosen_band_tile(DType::f64, shape, memory);
    EXPECT_TRUE(tile[1] == columns || tile[0] == 1 || tile[0] * columns * 8 <= memory)
        << to_string(tile);
    EXPECT_GE(tile[0] * tile[1] * 8, 3000000) << to_string(tile);
    EXPECT_LE(tile[0] * tile[1] * 8, 17000000) << to_string(tile);
  }
}

TEST_F(CsvFormatTest, ErrorsTellTheFirstWrongLineOnAnyNumberOfThreads) {
  std::string text;
  for (int i = 1; i <= 50000; ++i) text += i == 41234 || i == 41235 ? "1,2,x\n" : "1,2,3\n";
  for (const int threads : {1, 2, 4})
    EXPECT_ERROR(IoError, csv(text, with([&](auto& o) {
                                o.threads = threads;
                                o.memory = 1 << 16;
                              })),
                 "in.txt, line 41234, column 5: 'x' is not a number");
}

TEST_F(CsvFormatTest, AnImportCanBeInterrupted) {
  std::string text;
  for (int i = 0; i < 100000; ++i) text += "1,2.5,3\n";
  MemoryReceiver into;
  into.interrupt_after_rows = 1000;
  EXPECT_ERROR(Interrupted, read(csv_format(), file("long.csv", text), into), "told");
}

TEST_F(CsvFormatTest, WritesWhatItReads) {
  const Tile reals = random_normal(DType::f64, {57, 13}, 1);
  for (const Shape& tile : {Shape{10, 4}, Shape{57, 13}, Shape{1, 13}})
    for (const std::int64_t memory : {std::int64_t{1}, std::int64_t{1} << 26}) {
      write(csv_format(), {MemoryReader::of(reals, tile)}, path("out.csv"),
            with([&](auto& o) { o.memory = memory; }));
      EXPECT_TILE_EQ(csv(content(path("out.csv"))), reals);
    }
  const Tile floats = random_normal(DType::f32, {5, 3}, 1);
  write(csv_format(), {MemoryReader::of(floats, {2, 2})}, path("out.tsv"),
        with([](auto& o) { o.header = true; }));
  EXPECT_EQ(content(path("out.tsv")).substr(0, 9), "c0\tc1\tc2\n");
  EXPECT_TILE_EQ(csv(content(path("out.tsv")), with([](auto& o) { o.dtype = DType::f32; })),
                 floats);
  const Tile sparse = random_sparse({DType::i64, {20, 30}, 1}, 3, .1);
  write(csv_format(), {MemoryReader::of(sparse, {7, 8}, Presence::sparse)}, path("out.csv"));
  EXPECT_TILE_EQ(csv(content(path("out.csv"))), sparse.dense());
  const Tile vector = Tile::of<bool>({3}, {true, false, true});
  write(csv_format(), {MemoryReader::of(vector, {2})}, path("out.csv"));
  EXPECT_EQ(content(path("out.csv")), "true\nfalse\ntrue\n");
  EXPECT_ERROR(
      TypeError,
      write(csv_format(), {MemoryReader::of(Tile::zeros(DType::f64, {2, 2, 2}), {2, 2, 2})},
            path("cube.csv")),
      "matrices and vectors");
  EXPECT_FALSE(std::filesystem::exists(path("cube.csv")));
}

TEST_F(CsvFormatTest, TextInMessagesIsShortAndPrintable) {
  EXPECT_EQ(store::shown(std::string("a\0\n", 3)), "'a\\x00\\x0a'");
  EXPECT_EQ(store::shown(std::string(100, 'x')), "'" + std::string(40, 'x') + "...'");
}

}  // namespace
}  // namespace tessera
