#include "shell/file_options.h"

#include <fmt/format.h>

#include <charconv>
#include <iostream>

#include "shell/interrupt.h"
#include "shell/progress_line.h"

namespace tessera::shell {
namespace {

template <class Number>
Number number_of(const std::string& text, const char* option) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size())
    throw TypeError(fmt::format("--{} must be a number, not '{}'", option, text));
  return number;
}

/// "1000x500"
Shape extents_of(const std::string& text, const char* option) {
  Shape extents;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('x', at), text.size());
    if (extents.rank() == max_rank)
      throw TypeError(fmt::format("--{} cannot have more than {} sizes", option, max_rank));
    extents.push_back(number_of<std::int64_t>(text.substr(at, end - at), option));
    at = end + 1;
  }
  return extents;
}

}  // namespace

void FileOptions::add_common_to(CLI::App& command) {
  command.add_option("--format", format, "The file format, if the file name does not tell it");
  command.add_option("--member", member, "The array in the archive, or the dataset");
  command.add_flag("--column-major", column_major, "The file is in column-major order");
  command.add_option("--delimiter", delimiter, "The separator between fields");
  command.add_option("--header", header, "yes or no: the first line has column names");
  command.add_option("--index-base", index_base, "The first coordinate: 0 or 1");
  command.add_flag("--tile-a-row", tile_a_row, "PostgreSQL: each row is a key and an array");
  command.add_option("--threads", threads, "The number of threads; 0: all cores");
  command.add_option("--memory", memory,
                     "The memory limit in megabytes, not counting a tile or two");
}

void FileOptions::add_import_to(CLI::App& command) {
  command.add_option("--tile", tile, "The tile shape, such as 1000x1000");
  command.add_option("--dtype", dtype, "The element type: f32, f64, i64 or bool");
  command.add_option("--shape", shape,
                     "The shape, if the file does not contain it, such as 5000x300");
  command.add_option("--missing", missing, "The value of an empty field");
  command.add_option("--query", query, "The query for a PostgreSQL server");
  command.add_flag("--external-files", external_files,
                   "HDF5: also read external files that the file refers to");
}

FormatOptions FileOptions::parsed() const {
  FormatOptions options;
  options.format = format;
  if (tile) options.tile = extents_of(*tile, "tile");
  if (!dtype.empty()) options.dtype = parse_dtype(dtype);
  if (shape) options.shape = extents_of(*shape, "shape");
  options.member = member;
  options.column_major = column_major;
  const std::string separator = delimiter == "\\t" ? "\t" : delimiter;
  if (separator.size() > 1)
    throw TypeError(fmt::format("--delimiter must be a single character, not '{}'", delimiter));
  if (!separator.empty()) options.delimiter = separator[0];
  if (!header.empty() && header != "yes" && header != "no")
    throw TypeError(fmt::format("--header must be yes or no, not '{}'", header));
  if (!header.empty()) options.header = header == "yes";
  if (!missing.empty()) options.missing = number_of<double>(missing, "missing");
  if (!index_base.empty()) options.index_base = number_of<int>(index_base, "index-base");
  options.query = query;
  options.tile_a_row = tile_a_row;
  options.external_files = external_files;
  options.threads = threads;
  constexpr double most = 1e12;  // megabytes
  if (!(memory >= 0 && memory <= most))
    throw TypeError(
        fmt::format("--memory must be a number of megabytes from 0 on, not {}", memory));
  options.memory = static_cast<std::int64_t>(memory * 1e6);
  return options;
}

int run_on_file(const FileOptions& options, std::ostream& told,
                const std::function<FileReport(const FormatOptions&)>& work) {
  FormatOptions parsed = options.parsed();
  const Interrupt interrupt;
  parsed.stop = interrupt.token();
  FileReport report;
  {
    ProgressLine line;
    parsed.progress = line.listener();
    report = work(parsed);
  }
  told << fmt::format("{}: {} rows, {} bytes, {:.2f} s ({:.0f} MB/s)\n",
                      fmt::join(report.names, ", "), report.rows, report.bytes, report.seconds,
                      static_cast<double>(report.bytes) / 1e6 / std::max(report.seconds, 1e-9));
  return 0;
}

}  // namespace tessera::shell
