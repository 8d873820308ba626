#include "base/check.h"
#include "store/formats/dense_rows.h"
#include "store/formats/labelled_lines.h"
#include "store/formats/row_bands.h"
#include "store/formats/sparse_tiles.h"
#include "store/formats/stored_entries.h"

// What SVMlight, LIBSVM and many others read: a label, then index:value of the features.

namespace tessera::store {
namespace {

/// Whether the first lines have several labels, or none.
bool has_label_sets(const TextBlock& head) {
  bool found = false;
  for_each_line(head, [&](std::string_view text, std::int64_t) {
    text = text.substr(0, text.find('#'));
    const char* at = text.data();
    const char* end = at + text.size();
    skip_blanks(at, end);
    const std::string_view word(at, std::find_if(at, end, is_blank) - at);
    found = found || word.find_first_of(",:") != std::string_view::npos;
  });
  return found;
}

/// One label for each point: a dense column, whose tiles have as many rows as those of the
/// features.
void store_labels(Receiver& into, LabelledFile& all, std::int64_t tile_rows, std::int64_t memory) {
  TensorHead head;
  head.suffix = ".labels";
  head.tile.dtype = all.rows == 0 ? DType::f64 : dtype_of_kind(all.labels.kind());
  head.tile.shape = {tile_rows, 1};
  RowBands column(into, head, 1, memory);
  all.labels.replay([&](Entries& entries) { column.add(entries.values); });
  column.finish();
}

void read_svmlight(const InputFile& input, const FormatOptions& options, Receiver& into) {
  const std::string& from = input.name;
  check_options(options, "svmlight", {"tile", "dtype", "shape", "index_base"});
  TextFile file(input);
  std::vector<char> buffer;
  LabelledRules rules;
  rules.file = from;
  rules.comments = true;
  rules.several_labels = has_label_sets(file.head(1 << 20, buffer));
  rules.least_index = options.index_base ? index_base(options, 1) : 0;
  rules.integers = options.dtype == DType::i64;
  if (options.tile) check_matrix_tile(*options.tile, from);
  TESSERA_REQUIRE(TypeError, !options.shape || options.shape->rank() == 2,
                  "{} is a matrix and cannot have shape {}", from,
                  options.shape ? to_string(*options.shape) : "");
  LabelledFile all(options.memory);
  read_all_points(file, rules, options, into, all);

  // As scikit-learn does: features are counted from 1, unless there is one with number 0.
  const bool from_zero = all.features.size() > 0 && all.features.least()[1] == 0;
  const std::int64_t base = index_base(options, from_zero ? 0 : 1);
  Shape shape{all.rows, std::max<std::int64_t>(0, all.features.extents()[1] - base)};
  if (options.shape) {
    TESSERA_REQUIRE(IoError, (*options.shape)[0] >= shape[0] && (*options.shape)[1] >= shape[1],
                    "{} has {} points and {} features, more than shape {} allows", from, shape[0],
                    shape[1], to_string(*options.shape));
    shape = *options.shape;
    // There is a label for each point, and for no other row.
    TESSERA_REQUIRE(IoError, shape[0] == all.rows, "{} has {} points, not {} as in shape {}", from,
                    all.rows, shape[0], to_string(shape));
  }
  const Shape tile = store_features(into, all, from, shape, base, options);
  if (rules.several_labels)
    store_label_sets(into, all, from, all.labels.extents()[1], tile[0], options);
  else
    store_labels(into, all, tile[0], options.memory);
}

void write_svmlight(const std::vector<TensorReader*>& tensors, const OutputFile& to,
                    const FormatOptions& options) {
  check_options(options, "svmlight", {"index_base"});
  const Shape labels = shapes_of_points(tensors, "svmlight").second;
  const RelationType& type = tensors[1]->type();
  const bool several = type.columns[0].type.dtype == DType::boolean;
  TESSERA_REQUIRE(TypeError, several || labels[1] == 1,
                  "\"{}\" has shape {}; labels must be one column, or a matrix of booleans",
                  tensors[1]->name(), to_string(labels));
  TextOutput out(to);
  write_points({*tensors[0], *tensors[1], index_base(options, 1), several, false}, out);
  out.finish();
}

}  // namespace

const Format& svmlight_format() {
  static const Format format{
      {"svmlight",
       "one point per line: a label, then index:value of its features (SVMlight, LIBSVM)",
       {".svm", ".svmlight", ".libsvm"}},
      read_svmlight,
      write_svmlight};
  return format;
}

}  // namespace tessera::store
