#include <cstring>

#include "base/check.h"
#include "store/formats/coordinate_lines.h"
#include "store/formats/dense_rows.h"
#include "store/formats/labelled_lines.h"
#include "store/formats/numbers.h"

// The text format of the extreme-classification repository: a line with the numbers of points,
// features and labels; then a line a point, its labels separated by commas, then its features.

namespace tessera::store {
namespace {

struct Sizes {
  std::int64_t points = 0, features = 0, labels = 0;
};

Sizes read_sizes(const TextBlock& head, const std::string& file) {
  LineCursor line(file, head.text.substr(0, head.text.find_first_of("\r\n")), 1);
  Sizes sizes;
  sizes.points = line.size("points");
  sizes.features = line.size("features");
  sizes.labels = line.size("labels");
  line.skip();
  if (!line.done()) line.fail(fmt::format("unexpected {} after the sizes", shown(line.word())));
  return sizes;
}

/// How many lines of points there are: an empty line is one, too, but none at the end of the file.
void check_points(const LabelledFile& all, const Sizes& sizes, const std::string& file) {
  TESSERA_REQUIRE(IoError, all.rows == sizes.points,
                  "{}, line 1: the file declares {} points, but has {}", file, sizes.points,
                  all.rows);
}

void read_extreme(const InputFile& input, const FormatOptions& options, Receiver& into) {
  const std::string& from = input.name;
  check_options(options, "extreme", {"tile", "dtype"});
  TextFile file(input);
  std::vector<char> buffer;
  const Sizes sizes = read_sizes(file.head(1 << 10, buffer), from);
  if (options.tile) check_matrix_tile(*options.tile, from);
  LabelledRules rules;
  rules.file = from;
  rules.several_labels = true;
  rules.empty_lines_count = true;
  rules.header_line = 1;
  rules.features = sizes.features;
  rules.labels = sizes.labels;
  rules.integers = options.dtype == DType::i64;
  LabelledFile all(options.memory);
  read_all_points(file, rules, options, into, all);
  check_points(all, sizes, from);
  const Shape tile = store_features(into, all, from, {all.rows, sizes.features}, 0, options);
  store_label_sets(into, all, from, sizes.labels, tile[0], options);
}

void write_extreme(const std::vector<TensorReader*>& tensors, const OutputFile& to,
                   const FormatOptions& options) {
  check_options(options, "extreme", {});
  const auto [features, labels] = shapes_of_points(tensors, "extreme");
  TextOutput out(to);
  out.put_integer(features[0]);
  out.put(' ');
  out.put_integer(features[1]);
  out.put(' ');
  out.put_integer(labels[1]);
  out.put('\n');
  write_points({*tensors[0], *tensors[1], 0, true, true}, out);
  out.finish();
}

}  // namespace

const Format& extreme_format() {
  static const Format format{{"extreme",
                              "one point per line: its labels, then index:value of its features, "
                              "after a line of sizes (extreme-classification repository)",
                              {".xc"}},
                             read_extreme,
                             write_extreme};
  return format;
}

}  // namespace tessera::store
