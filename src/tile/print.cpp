#include <algorithm>
#include <cmath>
#include <ostream>

#include "tile/dispatch.h"
#include "tile/ends_text.h"
#include "tile/tile_rep.h"

namespace tessera {
namespace {

// NumPy's defaults.
constexpr std::int64_t edge_items = end_positions;
constexpr std::size_t line_width = 75;
constexpr int precision = 8;

struct Decimal {
  std::string whole, fraction, exponent;
};

/// The shortest digits that read back as the same number, at most `precision` after the point.
template <class T>
Decimal positional(T value) {
  std::string text = fmt::format("{:.{}f}", value, precision);
  for (int digits = 0; digits < precision; ++digits) {
    std::string shorter = fmt::format("{:.{}f}", value, digits);
    if (static_cast<T>(std::strtod(shorter.c_str(), nullptr)) == value) {
      text = std::move(shorter);
      break;
    }
  }
  const std::size_t point = text.find('.');
  if (point == std::string::npos) return {text, "", ""};
  std::string fraction = text.substr(point + 1);
  fraction.erase(fraction.find_last_not_of('0') + 1);
  return {text.substr(0, point), fraction, ""};
}

template <class T>
Decimal scientific(T value, int digits) {
  const std::string text = fmt::format("{:.{}e}", value, digits);
  const std::size_t e = text.find('e');
  const std::size_t point = text.find('.');
  std::string fraction = point < e ? text.substr(point + 1, e - point - 1) : "";
  return {text.substr(0, std::min(point, e)), fraction, text.substr(e)};
}

template <class T>
Decimal shortest_scientific(T value) {
  for (int digits = 0; digits < precision; ++digits)
    if (static_cast<T>(std::strtod(fmt::format("{:.{}e}", value, digits).c_str(), nullptr)) ==
        value)
      return scientific(value, digits);
  Decimal decimal = scientific(value, precision);
  decimal.fraction.erase(decimal.fraction.find_last_not_of('0') + 1);
  return decimal;
}

/// Formats numbers so that a column of them lines up at the decimal point.
template <class T>
class FloatFormat {
 public:
  explicit FloatFormat(const std::vector<T>& values) {
    double largest = 0;
    double smallest = INFINITY;
    for (T value : values) {
      if (!std::isfinite(value) || value == 0) continue;
      largest = std::max(largest, std::abs(static_cast<double>(value)));
      smallest = std::min(smallest, std::abs(static_cast<double>(value)));
    }
    scientific_ = largest > 0 && (largest >= 1e8 || smallest < 1e-4 || largest / smallest > 1000);
    std::size_t special = 0;
    for (T value : values) {
      if (!std::isfinite(value)) {
        special = std::max<std::size_t>(special, std::isinf(value) && value < 0 ? 4 : 3);
        continue;
      }
      const Decimal decimal = scientific_ ? shortest_scientific(value) : positional(value);
      left_ = std::max(left_, decimal.whole.size());
      digits_ = std::max(digits_, decimal.fraction.size());
      exponent_ = std::max(exponent_, decimal.exponent.size());
    }
    const std::size_t right = digits_ + exponent_ + 1;
    if (special > right) left_ = std::max(left_, special - right);
  }

  std::string operator()(T value) const {
    const std::size_t width = left_ + 1 + digits_ + exponent_;
    if (std::isnan(value)) return fmt::format("{:>{}}", "nan", width);
    if (std::isinf(value)) return fmt::format("{:>{}}", value < 0 ? "-inf" : "inf", width);
    if (scientific_) {
      const Decimal d = scientific(value, static_cast<int>(digits_));
      return fmt::format("{:>{}}.{}{}", d.whole, left_, d.fraction, d.exponent);
    }
    const Decimal d = positional(value);
    return fmt::format("{:>{}}.{:<{}}", d.whole, left_, d.fraction, digits_);
  }

 private:
  bool scientific_ = false;
  std::size_t left_ = 0, digits_ = 0, exponent_ = 0;
};

template <class T>
class WidthFormat {
 public:
  explicit WidthFormat(const std::vector<T>& values) {
    for (T value : values) width_ = std::max(width_, text(value).size());
    if (std::is_same_v<T, bool>) width_ = 5;
  }
  std::string operator()(T value) const { return fmt::format("{:>{}}", text(value), width_); }

 private:
  static std::string text(T value) {
    if constexpr (std::is_same_v<T, bool>) return value ? "True" : "False";
    return fmt::format("{}", value);
  }
  std::size_t width_ = 0;
};

/// The positions of a dimension that are shown, -1 standing for the dots between its ends.
std::vector<std::int64_t> shown(std::int64_t extent, bool summarized) {
  std::vector<std::int64_t> places;
  for (std::int64_t i = 0; i < extent; ++i) {
    if (summarized && extent > 2 * edge_items && i == edge_items) {
      places.push_back(-1);
      i = extent - edge_items;
    }
    places.push_back(i);
  }
  return places;
}

template <class T>
void collect(const Tile& tile, Index& index, bool summarized, std::vector<T>& values) {
  if (index.size() == tile.shape().size()) {
    values.push_back(tile.at<T>(index));
    return;
  }
  for (std::int64_t place : shown(tile.shape()[index.size()], summarized)) {
    if (place < 0) continue;
    Index next = index;
    next.push_back(place);
    collect(tile, next, summarized, values);
  }
}

template <class T, class Format>
std::string nested(const Tile& tile, const Index& index, bool summarized, const Format& format) {
  const std::string indent(index.size() + 1, ' ');
  const std::size_t dims_left = tile.shape().size() - index.size();
  const std::size_t width = line_width - index.size();
  std::string text;
  std::string line = indent;
  bool first = true;
  for (std::int64_t place : shown(tile.shape()[index.size()], summarized)) {
    Index next = index;
    next.push_back(place);
    if (dims_left == 1) {
      const std::string word = place < 0 ? "..." : format(tile.at<T>(next));
      if (!first) line += ' ';
      if (line.size() + word.size() > width - 1) {
        text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
        line = indent;
      }
      line += word;
    } else {
      if (!first) text += std::string(dims_left - 1, '\n') + indent;
      text += place < 0 ? "..." : nested<T>(tile, next, summarized, format);
    }
    first = false;
  }
  return dims_left == 1 ? "[" + (text + line).substr(indent.size()) + "]" : "[" + text + "]";
}

template <class T>
std::string print_scalar(T value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value ? "True" : "False";
  } else if constexpr (std::is_floating_point_v<T>) {
    std::string text = fmt::format("{}", value);
    return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
  } else {
    return fmt::format("{}", value);
  }
}

template <class T>
std::string print_dense(const Tile& tile, bool summarized) {
  if (tile.rank() == 0) return print_scalar(tile.at<T>({}));
  if (tile.elements() == 0) return "[]";
  std::vector<T> values;
  Index index;
  collect(tile, index, summarized, values);
  if constexpr (std::is_floating_point_v<T>)
    return nested<T>(tile, {}, summarized, FloatFormat<T>(values));
  else
    return nested<T>(tile, {}, summarized, WidthFormat<T>(values));
}

template <class T>
std::string print_sparse(const Tile& tile) {
  std::string text = fmt::format("{}, {} stored", to_string(tile.type()), tile.stored());
  const std::int64_t width = sparse_extent(tile.type());
  const std::int64_t entries = tile.stored();
  std::int64_t count = 0;
  for (std::int64_t row = 0; row < tile.rows(); ++row)
    for (std::int64_t e = tile.offsets()[row]; e < tile.offsets()[row + 1]; ++e, ++count) {
      if (entries > 2 * edge_items && count >= edge_items && count < entries - edge_items) {
        if (count == edge_items) text += "\n  ...";
        continue;
      }
      std::int64_t position = row * width + tile.coordinates()[e];
      Index index(tile.shape().size(), 0);
      for (std::size_t i = index.size(); i-- > 0; position /= tile.shape()[i])
        index[i] = position % tile.shape()[i];
      text += fmt::format("\n  ({})\t{}", fmt::join(index, ", "), print_scalar(tile.at<T>(index)));
    }
  return text;
}

}  // namespace

std::string to_string(const Tile& tile) {
  return visit_dtype(tile.dtype(), [&]<class T>() {
    return tile.is_sparse() ? print_sparse<T>(tile)
                            : print_dense<T>(tile, tile.elements() > most_printed_whole);
  });
}

std::string ends_text(const Tile& ends) {
  return visit_dtype(ends.dtype(), [&]<class T>() { return print_dense<T>(ends, true); });
}

std::ostream& operator<<(std::ostream& out, const Tile& tile) { return out << to_string(tile); }

}  // namespace tessera
