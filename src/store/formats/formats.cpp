#include <algorithm>
#include <cctype>
#include <cmath>

#include "base/check.h"
#include "store/formats/format.h"

namespace tessera::store {
namespace {

/// Whoever adds a format adds it here.
std::vector<const Format*> all_formats() {
  return {
      &npy_format(),     &npz_format(),        &raw_format(),           &hdf5_format(),
      &csv_format(),     &triples_format(),    &matrix_market_format(), &svmlight_format(),
      &extreme_format(), &postgresql_format(),
  };
}

std::string lower(std::string text) {
  for (char& letter : text)
    letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return text;
}

}  // namespace

const Format& find_format(const std::string& file, const std::string& name) {
  const Format* found = nullptr;
  std::size_t length = 0;
  std::string known;
  const std::string path = lower(file), wanted = lower(name);
  for (const Format* format : all_formats()) {
    known += fmt::format("{}{} ({})", known.empty() ? "" : ", ", format->info.name,
                         fmt::join(format->info.endings, " "));
    if (format->info.name == wanted) return *format;
    for (const std::string& ending : format->info.endings)
      if (ending.size() > length &&
          (format->has_files ? path.ends_with(ending) : path.starts_with(ending))) {
        found = format;
        length = ending.size();
      }
  }
  TESSERA_REQUIRE(TypeError, name.empty(), "unknown format \"{}\"; supported: {}", name, known);
  TESSERA_REQUIRE(TypeError, found != nullptr,
                  "cannot tell the format of {} from its name; set format= to one of: {}", file,
                  known);
  return *found;
}

void check_limits(const FormatOptions& options) {
  constexpr int most_threads = 4096;
  TESSERA_REQUIRE(TypeError, options.threads >= 0 && options.threads <= most_threads,
                  "threads={}: it must be 1 to {}, or 0 for all cores", options.threads,
                  most_threads);
  TESSERA_REQUIRE(TypeError, options.memory >= 0,
                  "memory={}: it must be a number of bytes, at least 0", options.memory);
}

File open_to_write(const OutputFile& to) {
  File file = File::open_to_write(to.path);
  file.call(to.name);
  file.truncate(0);
  return file;
}

void check_options(const FormatOptions& options, const std::string& format,
                   std::initializer_list<std::string_view> used) {
  const std::pair<std::string_view, bool> all[] = {
      {"tile", options.tile.has_value()},
      {"dtype", options.dtype.has_value()},
      {"shape", options.shape.has_value()},
      {"member", !options.member.empty()},
      {"column_major", options.column_major},
      {"delimiter", options.delimiter != '\0'},
      {"header", options.header.has_value()},
      {"missing", options.missing.has_value()},
      {"index_base", options.index_base.has_value()},
      {"query", !options.query.empty()},
      {"tile_a_row", options.tile_a_row},
      {"external_files", options.external_files},
  };
  for (const auto& [name, is_set] : all)
    TESSERA_REQUIRE(TypeError, !is_set || std::find(used.begin(), used.end(), name) != used.end(),
                    "format {} does not support the option {} here; supported: {}", format, name,
                    used.size() == 0 ? "none" : fmt::format("{}", fmt::join(used, ", ")));
}

std::optional<Shape> requested_tile(const FormatOptions& options, int rank) {
  if (options.tile || options.tile_extent == 0) return options.tile;
  return Shape(rank, options.tile_extent);
}

Shape chosen_tile(DType dtype, const Shape& shape) {
  constexpr double bytes = 8e6;
  const int rank = shape.rank();
  std::vector<int> ascending;
  bool empty = false;
  for (int d = 0; d < rank; ++d) {
    ascending.push_back(d);
    empty = empty || shape[d] == 0;
  }
  std::sort(ascending.begin(), ascending.end(), [&](int a, int b) { return shape[a] < shape[b]; });
  Shape tile(rank, 1);
  double left = bytes / static_cast<double>(size_of(dtype));  // elements
  for (int i = 0; i < rank; ++i) {
    const std::int64_t extent = std::max<std::int64_t>(1, shape[ascending[i]]);
    const auto side = static_cast<std::int64_t>(
        std::max(1.0, std::floor(std::pow(left, 1.0 / (rank - i)) + 1e-6)));
    // Tiles of equal extents, instead of whole ones and a small rest. Without elements, one tile.
    const std::int64_t pieces = empty ? 1 : (extent - 1) / side + 1;
    tile[ascending[i]] = (extent - 1) / pieces + 1;
    left /= static_cast<double>(tile[ascending[i]]);
  }
  return tile;
}

}  // namespace tessera::store

namespace tessera {

std::vector<FormatInfo> formats() {
  std::vector<FormatInfo> infos;
  for (const store::Format* format : store::all_formats()) infos.push_back(format->info);
  return infos;
}

}  // namespace tessera
