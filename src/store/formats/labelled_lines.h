#pragma once

#include <optional>
#include <string>
#include <vector>

#include "store/formats/entries.h"
#include "store/formats/entry_spool.h"
#include "store/formats/format.h"
#include "store/formats/text_blocks.h"
#include "store/formats/text_output.h"

// Points, a line each: labels, then features as index:value. svmlight files and those of the
// extreme-classification repository have this in common.

namespace tessera::store {

/// What lines may have.
struct LabelledRules {
  std::string file;
  bool several_labels = false;     // separated by commas, or none; otherwise one number
  bool comments = false;           // behind #
  bool empty_lines_count = false;  // as points without labels and features
  std::int64_t header_line = 0;    // 0: there is none
  std::int64_t least_index = 0;    // of features
  std::optional<std::int64_t> features = {}, labels = {};  // indices are below
  bool integers = false;                                   // the values must be
};

/// Points of a block. Rows count from 0 within it.
struct LabelledPoints {
  std::int64_t rows = 0;
  Entries features{2};
  Entries labels{2};  // several: row and label, true; one: row and 0, and the label as value
};

/// IoError with the line if a block is not as it should; also if a point has a feature twice.
LabelledPoints read_points(const TextBlock& block, const LabelledRules& rules);

/// All points of a file, one block after the other.
struct LabelledFile {
  explicit LabelledFile(std::int64_t memory) : features(2, memory / 2), labels(2, memory / 2) {}
  std::int64_t rows = 0;
  EntrySpool features, labels;
};
void read_all_points(TextFile& file, const LabelledRules& rules, const FormatOptions& options,
                     Receiver& into, LabelledFile& all);

/// Stores the features of the points as a sparse matrix; the extents of its tiles.
Shape store_features(Receiver& into, LabelledFile& all, const std::string& file, const Shape& shape,
                     std::int64_t base, const FormatOptions& options);
/// Stores labels, several for each point, as a sparse boolean matrix `name`.labels, whose tiles
/// have as many rows as those of the features.
void store_label_sets(Receiver& into, LabelledFile& all, const std::string& file,
                      std::int64_t labels, std::int64_t tile_rows, const FormatOptions& options);

/// The shapes of the two matrices, features and labels, that are to be written as points.
/// TypeError if they are not such.
std::pair<Shape, Shape> shapes_of_points(const std::vector<TensorReader*>& tensors,
                                         const std::string& format);

/// Writes the points of two matrices.
struct LabelledOutput {
  TensorReader& features;
  TensorReader& labels;
  std::int64_t base = 0;
  bool several_labels = false;
  bool empty_lines_count = false;  // otherwise a point of nothing gets a feature that is zero
};
void write_points(const LabelledOutput& points, TextOutput& out);

}  // namespace tessera::store
