#include "base/check.h"
#include "store/formats/dense_rows.h"
#include "store/formats/labelled_lines.h"
#include "store/formats/stored_entries.h"
#include "tile/dispatch.h"

namespace tessera::store {
namespace {

/// Walks along the rows of a sparse or dense matrix, a row of its tiles at a time.
class RowWalker {
 public:
  explicit RowWalker(const TensorReader& tensor) : tensor_(tensor), bands_(rows_of_keys(tensor)) {}

  /// Calls `visit(column, tile, entry)` for the entries of a row: all that are not zero, and zeros
  /// that are stored. Rows are asked for in order.
  template <class Visit>
  void visit_row(std::int64_t row, Visit&& visit) {
    const std::int64_t height = tensor_.type().columns[0].type.shape[0];
    const std::int64_t band = height == 0 ? 0 : row / height;
    if (band != band_) load(band);
    for (const auto& [tile, first_column] : tiles_) {
      const std::int64_t inside = row - band * height;
      for (std::int64_t e = tile.offsets()[inside]; e < tile.offsets()[inside + 1]; ++e)
        visit(first_column + tile.coordinates()[e], tile, e);
    }
  }

 private:
  void load(std::int64_t band) {
    band_ = band;
    tiles_.clear();
    while (next_ < bands_.size() && bands_[next_][0][0] < band) ++next_;
    if (next_ == bands_.size() || bands_[next_][0][0] > band) return;  // no entries there
    for (const Key& key : bands_[next_])
      tiles_.emplace_back(tensor_.read(key).with_sparse_dims(1), corner_of(tensor_, key)[1]);
  }

  const TensorReader& tensor_;
  const std::vector<std::vector<Key>> bands_;
  std::int64_t band_ = -1;
  std::size_t next_ = 0;  // of the bands
  std::vector<std::pair<Tile, std::int64_t>> tiles_;
};

/// Whether a label is in the set: not where a zero is stored. A set has no other numbers.
bool is_in_set(const TensorReader& labels, const Tile& tile, std::int64_t entry, std::int64_t row,
               std::int64_t column) {
  if (tile.dtype() == DType::boolean) return true;
  return visit_dtype(tile.dtype(), [&]<class T>() {
    const T value = tile.data<T>()[entry];
    TESSERA_REQUIRE(TypeError, value == T{0} || value == T{1},
                    "\"{}\" has the value {} at <{}, {}>; several labels per point must be a "
                    "matrix of booleans, or of zeros and ones",
                    labels.name(), value, row, column);
    return value == T{1};
  });
}

}  // namespace

std::pair<Shape, Shape> shapes_of_points(const std::vector<TensorReader*>& tensors,
                                         const std::string& format) {
  TESSERA_REQUIRE(TypeError, tensors.size() == 2,
                  "{} needs two matrices, features and labels, not {}", format, tensors.size());
  const Shape features = matrix_shape(*tensors[0], format);
  const Shape labels = matrix_shape(*tensors[1], format);
  TESSERA_REQUIRE(TypeError,
                  features[0] == labels[0] && tensors[0]->shape()->rank() == 2 &&
                      tensors[1]->shape()->rank() == 2,
                  "\"{}\" has shape {} and \"{}\" has shape {}; features and labels must be "
                  "matrices with the same number of rows",
                  tensors[0]->name(), to_string(*tensors[0]->shape()), tensors[1]->name(),
                  to_string(*tensors[1]->shape()));
  return {features, labels};
}

void write_points(const LabelledOutput& points, TextOutput& out) {
  const std::int64_t rows = tensor_shape(points.features, "lines of points")[0];
  RowWalker features(points.features);
  RowWalker labels(points.labels);
  for (std::int64_t row = 0; row < rows; ++row) {
    bool first = true;
    labels.visit_row(row, [&](std::int64_t column, const Tile& tile, std::int64_t entry) {
      if (points.several_labels && !is_in_set(points.labels, tile, entry, row, column)) return;
      if (!first) out.put(',');
      first = false;
      if (points.several_labels)
        out.put_integer(column);
      else
        out.put_element(tile, entry);
    });
    if (first && !points.several_labels) {
      out.put('0');  // which is not stored
      first = false;
    }
    features.visit_row(row, [&](std::int64_t column, const Tile& tile, std::int64_t entry) {
      first = false;
      out.put(' ');
      out.put_integer(column + points.base);
      out.put(':');
      if (tile.dtype() == DType::boolean)
        out.put('1');
      else
        out.put_element(tile, entry);
    });
    if (first && !points.empty_lines_count) {
      out.put(' ');
      out.put_integer(points.base);
      out.put(":0");
    }
    out.put('\n');
    if ((row & 0xfff) == 0xfff || row + 1 == rows)
      points.features.advance(out.take_written(), (row & 0xfff) + 1);
  }
}

}  // namespace tessera::store
