#include "support/expectations.h"
#include "support/text_files.h"

namespace tessera {
namespace {

/// A file that is not as it should, and what its error must say besides the file and the line.
struct Malformed {
  const char* name;
  const store::Format& (*format)();
  std::string content;
  std::string message;
};

std::string mtx(const std::string& kind, const std::string& rest) {
  return "%%MatrixMarket matrix " + kind + "\n" + rest;
}

std::vector<Malformed> malformed_files() {
  const auto csv = store::csv_format;
  const auto triples = store::triples_format;
  const auto market = store::matrix_market_format;
  const auto svm = store::svmlight_format;
  const auto extreme = store::extreme_format;
  const std::string real = "coordinate real general";
  return {
      {"csv_empty", csv, "", "line 1: the file has no data"},
      {"csv_only_comments", csv, "# a\n\n# b\n", "the file has no data"},
      {"csv_word", csv, "1,2\n3,x\n", "line 2, column 3: 'x' is not a number"},
      {"csv_number_with_tail", csv, "1,2\n3,4kg\n", "line 2, column 3: '4kg' is not a number"},
      {"csv_hexadecimal", csv, "1,2\n0x10,4\n", "line 2, column 1: '0x10' is not a number"},
      {"csv_lone_sign", csv, "1,2\n3,-\n", "'-' is not a number"},
      {"csv_two_signs", csv, "1,2\n3,+-4\n", "'+-4' is not a number"},
      {"csv_too_few", csv, "1,2,3\n4,5\n", "line 2: 2 fields, but the first line has 3"},
      {"csv_too_many", csv, "1,2\n1,2\n3,4,5\n", "line 3: 3 fields, but the first line has 2"},
      {"csv_header_differs", csv, "a,b,c\n1,2\n",
       "line 2: 2 fields, but the header in line 1 has 3"},
      {"csv_open_quote", csv, "1,2\n3,\"4\n5,6\n",
       "line 2, column 3: the quoted field '\"4' does not end"},
      {"csv_text_after_quote", csv, "1,2\n\"3\"x,4\n", "line 2, column 1: "},
      {"csv_quoted_words", csv, "1,2\n\"a, b\",4\n",
       "line 2, column 1: '\"a, b\"' is not a number"},
      {"csv_zero_byte", csv, std::string("1,2\n3,\0\n", 8),
       "line 2, column 3: '\\x00' is not a number"},
      {"csv_utf16", csv,
       std::string("\xff\xfe"
                   "1\0,\0",
                   6),
       "line 1: the text is UTF-16"},
      {"csv_binary", csv, "\x93NUMPY\x01\x02", "line 1, column 7: "},
      {"csv_decimal_comma", csv, "1;2\n3,5;4\n", "line 2"},
      {"csv_long_word", csv, "1,2\n" + std::string(5000, 'y') + ",2\n", "yyy...' is not a number"},
      {"csv_spaces_too_many", csv, "1 2\n3 4 5\n", "line 2: 3 fields, but the first line has 2"},
      {"triples_one_field", triples, "1\n", "a line must have 1 to 8 coordinates and a value"},
      {"triples_ten_fields", triples, "1,1,1,1,1,1,1,1,1,1\n",
       "a line must have 1 to 8 coordinates"},
      {"triples_negative", triples, "0,1,1\n0,-1,1\n",
       "line 2, column 3: '-1' is not a coordinate"},
      {"triples_fraction", triples, "0,1,1\n0.5,1,1\n",
       "line 2, column 1: '0.5' is not a coordinate"},
      {"triples_too_few", triples, "0,1,1\n0,1\n", "line 2: 2 fields, but the first line has 3"},
      {"triples_too_many", triples, "0,1,1\n0,1,2,3\n",
       "line 2: 4 fields, but the first line has 3"},
      {"triples_word", triples, "0,1,1\n0,1,one\n", "line 2, column 5: 'one' is not a number"},
      {"triples_huge", triples, "0,1,1\n99999999999999999999,1,1\n", "is too large"},
      {"triples_too_large_tensor", triples, "4611686018427387903,4611686018427387902,1\n",
       "2^63 elements"},
      {"mtx_empty", market, "", "line 1: the file is empty"},
      {"mtx_no_banner", market, "3 3 1\n1 1 1\n",
       "line 1, column 1: a Matrix Market file must begin with"},
      {"mtx_vector", market, "%%MatrixMarket vector coordinate real general\n",
       "'vector' is not a supported object"},
      {"mtx_complex", market, mtx("coordinate complex general", "1 1 1\n1 1 1 0\n"),
       "'complex' is not a supported type of numbers"},
      {"mtx_hermitian", market, mtx("coordinate real hermitian", "1 1 0\n"),
       "'hermitian' is not a supported symmetry"},
      {"mtx_word_after_banner", market, mtx(real + " x", "1 1 0\n"),
       "unexpected 'x' after the header"},
      {"mtx_pattern_array", market, mtx("array pattern general", "1 1\n"),
       "a pattern matrix must have the format coordinate"},
      {"mtx_skew_pattern", market, mtx("coordinate pattern skew-symmetric", "1 1 0\n"),
       "cannot be skew-symmetric"},
      {"mtx_no_sizes", market, mtx(real, "% nothing\n"),
       "the line with the sizes of the matrix is missing"},
      {"mtx_two_sizes", market, mtx(real, "2 2\n"),
       "line 2, column 4: expected the number of entries"},
      {"mtx_negative_size", market, mtx(real, "2 -2 1\n"),
       "line 2, column 3: expected the number of columns"},
      {"mtx_four_sizes", market, mtx(real, "2 2 1 7\n"), "'7' after the sizes"},
      {"mtx_not_square", market, mtx("coordinate real symmetric", "2 3 0\n"),
       "cannot be symmetric"},
      {"mtx_too_large", market, mtx(real, "4000000000 4000000000 0\n"), "2^62 elements"},
      {"mtx_row_zero", market, mtx(real, "2 2 1\n0 1 1\n"),
       "line 3, column 1: '0' is not a row of the matrix: it must be 1 to 2"},
      {"mtx_column_outside", market, mtx(real, "2 2 1\n1 3 1\n"),
       "line 3, column 3: '3' is not a column"},
      {"mtx_no_value", market, mtx(real, "2 2 1\n1 1\n"), "line 3, column 4: the value is missing"},
      {"mtx_word", market, mtx(real, "2 2 1\n1 1 x\n"), "line 3, column 5: 'x' is not a number"},
      {"mtx_complex_value", market, mtx(real, "2 2 1\n1 1 1 2\n"), "'2' after the value"},
      {"mtx_fraction_in_integer", market, mtx("coordinate integer general", "2 2 1\n1 1 1.5\n"),
       "'1.5' is not a 64-bit integer"},
      {"mtx_value_in_pattern", market, mtx("coordinate pattern general", "2 2 1\n1 1 1\n"),
       "unexpected '1' after the row and column"},
      {"mtx_skew_diagonal", market, mtx("coordinate real skew-symmetric", "2 2 1\n1 1 1\n"),
       "cannot have an entry on the diagonal"},
      {"mtx_cut_off", market, mtx(real, "2 2 3\n1 1 1\n"),
       "line 2: the header declares 3 values, but there are 1"},
      {"mtx_more_than_said", market, mtx(real, "2 2 1\n1 1 1\n2 2 2\n"),
       "more values than the 1 that"},
      {"mtx_sum_overflows", market,
       mtx("coordinate integer general", "1 1 2\n1 1 9223372036854775807\n1 1 1\n"),
       "does not fit into i64"},
      {"mtx_array_cut_off", market, mtx("array real general", "2 2\n1\n2\n3\n"),
       "the header declares 4 values, but there are 3"},
      {"mtx_array_two_in_line", market, mtx("array real general", "2 1\n1 2\n"),
       "line 3, column 3: unexpected '2' after the value"},
      {"mtx_array_more", market, mtx("array real general", "1 1\n1\n2\n"),
       "more values than the 1 that"},
      {"svm_word", svm, "1 1:1\nx 1:1\n", "line 2, column 1: 'x' is not a label"},
      {"svm_no_label", svm, "1 1:1\n" + std::string(1 << 20, '\n') + "1:1\n",
       "the line has no label"},
      {"svm_late_label_set", svm, "1 1:1\n" + std::string(1 << 20, '\n') + "1,2 1:1\n",
       "several labels"},
      {"svm_no_colon", svm, "1 1:1 2\n", "line 1, column 7: '2' is not a feature"},
      {"svm_no_value", svm, "1 1:\n", "the value of '1:' is not a number"},
      {"svm_bad_value", svm, "1 1:1\n2 3:4x\n",
       "line 2, column 3: the value of '3:4x' is not a number"},
      {"svm_negative_index", svm, "1 -1:1\n", "'-1:1' is not a feature"},
      {"svm_twice", svm, "1 1:1\n2 3:1 1:1 3:2\n", "line 2: feature 3 occurs twice"},
      {"svm_bad_label_set", svm, "1,x 1:1\n", "'1,x' is not a list of labels"},
      {"svm_fraction_in_label_set", svm, "1,2 1:1\n1.5 1:1\n",
       "line 2, column 1: '1.5' is not a list of labels"},
      {"xc_empty", extreme, "", "line 1, column 1: expected the number of points"},
      {"xc_two_sizes", extreme, "1 2\n0 0:1\n", "expected the number of labels"},
      {"xc_four_sizes", extreme, "1 2 3 4\n0 0:1\n", "'4' after the sizes"},
      {"xc_too_few", extreme, "3 2 2\n0 0:1\n", "line 1: the file declares 3 points, but has 1"},
      {"xc_too_many", extreme, "1 2 2\n0 0:1\n1 1:1\n", "the file declares 1 points, but has 2"},
      {"xc_feature_outside", extreme, "1 2 2\n0 2:1\n",
       "line 2, column 3: feature 2 is out of range: the file declares 2"},
      {"xc_label_outside", extreme, "1 2 2\n2 1:1\n",
       "line 2, column 1: label 2 is out of range: the file declares 2"},
      {"xc_twice", extreme, "1 2 2\n0 1:1 1:1\n", "line 2: feature 1 occurs twice"},
  };
}

class MalformedTextTest : public TextFiles, public ::testing::WithParamInterface<Malformed> {};

TEST_P(MalformedTextTest, IsRefusedWithFileLineAndReason) {
  const Malformed& example = GetParam();
  const std::string from = file("malformed", example.content);
  for (const std::int64_t memory : {std::int64_t{0}, std::int64_t{64} << 20}) {
    MemoryReceiver into;
    try {
      example.format().read({from, from}, with([&](auto& o) { o.memory = memory; }), into);
      FAIL() << "it was read";
    } catch (const InternalError& error) {
      FAIL() << error.what();
    } catch (const Error& error) {
      const std::string message = error.what();
      EXPECT_NE(message.find(from), std::string::npos) << message;
      EXPECT_NE(message.find(example.message), std::string::npos) << message;
      EXPECT_LT(message.size(), from.size() + 250) << message;
    }
    // What was begun has no end, and so is not stored.
    EXPECT_THROW((void)into.tensor(".labels"), InternalError);
    EXPECT_THROW((void)into.tensor(), InternalError);
  }
}

INSTANTIATE_TEST_SUITE_P(, MalformedTextTest, ::testing::ValuesIn(malformed_files()),
                         [](const auto& test) { return std::string(test.param.name); });

/// A file by its name, whatever is there.
InputFile input(const std::string& name) { return {name, name}; }

TEST_F(TextFiles, OptionsOfOtherFormatsAndFilesThatAreNotThere) {
  MemoryReceiver into;
  EXPECT_ERROR(IoError, store::csv_format().read(input(path("none.csv")), {}, into), "none.csv");
  EXPECT_ERROR(IoError, store::csv_format().read(input(folder_.string()), {}, into),
               folder_.string());
  EXPECT_ERROR(
      TypeError,
      store::csv_format().read(input(path("x.csv")), with([](auto& o) { o.query = "q"; }), into),
      "query");
  EXPECT_ERROR(TypeError,
               store::triples_format().read(input(file("a", "0,0,1\n")),
                                            with([](auto& o) { o.index_base = 2; }), into),
               "index_base must be 0 or 1, not 2");
  EXPECT_ERROR(TypeError,
               store::matrix_market_format().read(
                   input(file("b", mtx("coordinate real general", "1 1 0\n"))),
                   with([](auto& o) { o.tile = Shape{2}; }), into),
               "cannot be cut into tiles of [2]");
  EXPECT_ERROR(IoError,
               store::triples_format().read(input(file("c", "0,5,1\n")), with([](auto& o) {
                                              o.shape = Shape{2, 3};
                                            }),
                                            into),
               "line 1, column 3: coordinate 5 (counted from 0) is out of range for shape [2x3]");
}

}  // namespace
}  // namespace tessera
