#include "store/formats/labelled_lines.h"

#include <algorithm>

#include "base/check.h"
#include "store/formats/coordinate_lines.h"
#include "store/formats/sparse_tiles.h"

namespace tessera::store {
namespace {

class PointReader {
 public:
  PointReader(const LabelledRules& rules, LabelledPoints& into) : rules_(rules), into_(into) {}

  void read(std::string_view text, std::int64_t number) {
    if (rules_.comments) text = text.substr(0, text.find('#'));
    LineCursor line(rules_.file, text, number);
    line.skip();
    if (line.done() && !rules_.empty_lines_count) return;
    if (rules_.several_labels)
      read_label_set(line);
    else
      read_label(line);
    indices_.clear();
    for (line.skip(); !line.done(); line.skip()) read_feature(line);
    check_no_duplicates(line);
    ++into_.rows;
  }

 private:
  /// Indices must not repeat; most files have them in order.
  void check_no_duplicates(LineCursor& line) {
    if (std::is_sorted(indices_.begin(), indices_.end(), std::less_equal<>())) return;
    std::sort(indices_.begin(), indices_.end());
    const auto twice = std::adjacent_find(indices_.begin(), indices_.end());
    if (twice == indices_.end()) return;
    fail_at(line.file, line.line, 0, fmt::format("feature {} occurs twice", *twice));
  }

  void read_label(LineCursor& line) {
    const std::string_view word = line.word();
    const std::size_t before = into_.labels.values.size();
    if (word.find(',') != std::string_view::npos)
      line.fail(fmt::format("several labels ({}), but the lines before have one label each",
                            shown(word)));
    const bool read = read_number(line.at, line.end, into_.labels.values);
    if (!read || (!line.done() && !is_blank(*line.at))) {
      line.at = word.data();
      line.fail(word.find(':') != std::string_view::npos
                    ? fmt::format("{} is not a label: the line has no label", shown(word))
                    : fmt::format("{} is not a label: a label must be a number", shown(word)));
    }
    TESSERA_INVARIANT(into_.labels.values.size() == before + 1, "one label was read");
    into_.labels.coordinates.push_back(into_.rows);
    into_.labels.coordinates.push_back(0);
  }

  void read_label_set(LineCursor& line) {
    const std::string_view word = line.word();
    if (word.find(':') != std::string_view::npos || word.empty()) return;  // no labels
    for (;;) {
      std::int64_t label = 0;
      const char* begin = line.at;
      const bool read = read_index(line.at, line.end, label);
      const bool ends = line.done() || *line.at == ',' || is_blank(*line.at);
      if (!read || !ends || (rules_.labels && label >= *rules_.labels)) {
        line.at = begin;
        line.fail(
            rules_.labels && read && ends
                ? fmt::format("label {} is out of range: the file declares {} labels, 0 to {}",
                              label, *rules_.labels, *rules_.labels - 1)
                : fmt::format("{} is not a list of labels: labels are integers, at least 0",
                              shown(word)));
      }
      into_.labels.coordinates.push_back(into_.rows);
      into_.labels.coordinates.push_back(label);
      into_.labels.values.add_boolean(true);
      if (line.done() || *line.at != ',') return;
      ++line.at;
    }
  }

  void read_feature(LineCursor& line) {
    const char* begin = line.at;
    const std::string_view word = line.word();
    if (word.starts_with("qid:")) {  // which query a point belongs to is of no use here
      line.at += word.size();
      return;
    }
    std::int64_t index = 0;
    if (!read_index(line.at, line.end, index) || line.done() || *line.at != ':') {
      line.at = begin;
      line.fail(fmt::format("{} is not a feature: a feature is index:value", shown(word)));
    }
    ++line.at;
    const bool out = rules_.features && index - rules_.least_index >= *rules_.features;
    if (index < rules_.least_index || out) {
      line.at = begin;
      line.fail(out ? fmt::format("feature {} is out of range: the file declares {} features",
                                  index, *rules_.features)
                    : fmt::format("feature {} is less than {}", index, rules_.least_index));
    }
    const bool read = read_number(line.at, line.end, into_.features.values);
    if (!read || (!line.done() && !is_blank(*line.at))) {
      line.at = begin;
      line.fail(fmt::format("the value of {} is not a number", shown(word)));
    }
    if (rules_.integers && into_.features.values.are_real()) {
      line.at = begin;
      line.fail(fmt::format("the value of {} is not an integer, but dtype i64 is requested",
                            shown(word)));
    }
    indices_.push_back(index);
    into_.features.coordinates.push_back(into_.rows);
    into_.features.coordinates.push_back(index);
  }

  const LabelledRules& rules_;
  LabelledPoints& into_;
  std::vector<std::int64_t> indices_;
};

}  // namespace

LabelledPoints read_points(const TextBlock& block, const LabelledRules& rules) {
  LabelledPoints points;
  points.features.coordinates.reserve(block.text.size() / 4);
  points.features.values.reserve(block.text.size() / 8);
  PointReader reader(rules, points);
  for_each_line(block, [&](std::string_view text, std::int64_t number) {
    if (number != rules.header_line) reader.read(text, number);
  });
  return points;
}

void read_all_points(TextFile& file, const LabelledRules& rules, const FormatOptions& options,
                     Receiver& into, LabelledFile& all) {
  for_each_block(file, options, [&](const TextBlock& block) -> std::function<void()> {
    auto points = std::make_shared<LabelledPoints>(read_points(block, rules));
    return [&all, &into, points, bytes = block.bytes] {
      points->features.shift(0, all.rows);
      points->labels.shift(0, all.rows);
      all.features.add(points->features);
      all.labels.add(points->labels);
      all.rows += points->rows;
      into.advance(bytes, points->rows);
    };
  });
}

Shape store_features(Receiver& into, LabelledFile& all, const std::string& file, const Shape& shape,
                     std::int64_t base, const FormatOptions& options) {
  SparseTensor tensor;
  tensor.file = file;
  tensor.shape = shape;
  tensor.tile = requested_tile(options, 2).value_or(chosen_sparse_tile(shape, all.features.size()));
  tensor.dtype = options.dtype.value_or(
      all.features.size() == 0 ? DType::f64 : dtype_of_kind(all.features.kind()));
  tensor.entries = all.features.size();
  tensor.duplicates = Duplicates::refuse;
  SparseTiles tiles(into, tensor, options);
  all.features.replay([&](Entries& entries) {
    entries.shift(1, -base);
    tiles.add(entries);
  });
  tiles.finish();
  return *tensor.tile;
}

void store_label_sets(Receiver& into, LabelledFile& all, const std::string& file,
                      std::int64_t labels, std::int64_t tile_rows, const FormatOptions& options) {
  SparseTensor tensor;
  tensor.file = file;
  tensor.suffix = ".labels";
  tensor.shape = {all.rows, labels};
  tensor.tile = options.tile_extent > 0 ? Shape(2, options.tile_extent)
                                        : chosen_sparse_tile(tensor.shape, all.labels.size());
  (*tensor.tile)[0] = tile_rows;
  tensor.dtype = DType::boolean;
  tensor.entries = all.labels.size();
  SparseTiles tiles(into, tensor, options);
  all.labels.replay([&](Entries& entries) { tiles.add(entries); });
  tiles.finish();
}

}  // namespace tessera::store
