#include "session/file_options.h"

#include <algorithm>
#include <functional>

#include "base/names_text.h"
#include "query/binding/binder.h"
#include "query/rows/text_value.h"

namespace tessera::session {
namespace {

using lang::fail_type;
using query::Cell;

/// The value of an option; a word that is no constant stands for itself: format = csv.
Cell value_of(const sql::Expression& written) {
  const auto* word = std::get_if<sql::Name>(&written.node);
  if (word != nullptr && word->table.empty()) return Cell(word->column);
  return query::evaluate(*query::bind_constant(written, {}), {}, {});
}

bool is_scalar(const Cell& value, DType dtype) {
  return !value.is_null() && !value.is_text() && value.type() == TileType{dtype, {}};
}

bool set_text(const Cell& value, std::string& into) {
  if (!value.is_text()) return false;
  into = value.text();
  return true;
}

bool set_truth(const Cell& value, bool& into) {
  const auto is = [&](std::string_view word) {
    return value.is_text() && query::same_name(value.text(), word);
  };
  if (is("on") || is("off")) {
    into = is("on");
    return true;
  }
  if (!is_scalar(value, DType::boolean)) return false;
  into = value.truth();
  return true;
}

bool set_shape(const Cell& value, std::optional<Shape>& into) {
  if (value.is_null() || value.is_text()) return false;
  const Tile list = value.tile().contiguous();
  if (list.rank() != 1 || list.dtype() != DType::i64 || list.elements() > max_rank) return false;
  into = Shape(list.data<std::int64_t>(), list.data<std::int64_t>() + list.elements());
  return std::all_of(into->begin(), into->end(), [](std::int64_t extent) { return extent >= 0; });
}

bool set_dtype(const Cell& value, std::optional<DType>& into) {
  if (!value.is_text()) return false;
  const std::pair<const char*, DType> names[] = {
      {"float", DType::f32},   {"real", DType::f32}, {"f32", DType::f32},
      {"double", DType::f64},  {"f64", DType::f64},  {"int", DType::i64},
      {"bigint", DType::i64},  {"i64", DType::i64},  {"boolean", DType::boolean},
      {"bool", DType::boolean}};
  for (const auto& [name, dtype] : names)
    if (query::same_name(value.text(), name)) into = dtype;
  return into.has_value();
}

struct FileOption {
  const char* name;
  const char* values;
  bool (*set)(FormatOptions&, const Cell&);
};

const FileOption all_options[] = {
    {"format", "a format name, such as csv",
     [](FormatOptions& o, const Cell& v) { return set_text(v, o.format); }},
    {"member", "the name of an array in the archive, as a text",
     [](FormatOptions& o, const Cell& v) { return set_text(v, o.member); }},
    {"query", "a PostgreSQL query, as a text",
     [](FormatOptions& o, const Cell& v) { return set_text(v, o.query); }},
    {"header", "true or false",
     [](FormatOptions& o, const Cell& v) {
       bool truth = false;
       if (!set_truth(v, truth)) return false;
       o.header = truth;
       return true;
     }},
    {"column_major", "true or false",
     [](FormatOptions& o, const Cell& v) { return set_truth(v, o.column_major); }},
    {"tile_a_row", "true or false",
     [](FormatOptions& o, const Cell& v) { return set_truth(v, o.tile_a_row); }},
    {"external_files", "true or false",
     [](FormatOptions& o, const Cell& v) { return set_truth(v, o.external_files); }},
    {"delimiter", "a single character",
     [](FormatOptions& o, const Cell& v) {
       if (!v.is_text() || v.text().size() != 1) return false;
       o.delimiter = v.text()[0];
       return true;
     }},
    {"dtype", "FLOAT, DOUBLE, BIGINT or BOOLEAN",
     [](FormatOptions& o, const Cell& v) { return set_dtype(v, o.dtype); }},
    {"shape", "a list of sizes, such as [1000, 20]",
     [](FormatOptions& o, const Cell& v) { return set_shape(v, o.shape); }},
    {"missing", "a number",
     [](FormatOptions& o, const Cell& v) {
       if (!is_scalar(v, DType::i64) && !is_scalar(v, DType::f64)) return false;
       o.missing = v.number();
       return true;
     }},
    {"index_base", "0 or 1",
     [](FormatOptions& o, const Cell& v) {
       if (!is_scalar(v, DType::i64) || (v.integer() != 0 && v.integer() != 1)) return false;
       o.index_base = static_cast<int>(v.integer());
       return true;
     }},
};

}  // namespace

FormatOptions file_options(const sql::Options& written, const SessionOptions& session) {
  const RunOptions& run = session.run;
  FormatOptions options;
  options.external_access = session.external_access;
  options.threads = run.threads;
  options.stop = run.stop;
  options.progress_seconds = run.progress_seconds;
  if (run.progress)
    options.progress = [report = run.progress](const FileProgress& file) {
      // A file's progress in the words of a run: parts of a thousand instead of tasks.
      Progress progress;
      progress.tasks = 1000;
      progress.tasks_done = static_cast<std::int64_t>(file.fraction * 1000);
      progress.bytes_read = file.bytes_done;
      progress.seconds = file.seconds;
      if (file.fraction > 0)
        progress.seconds_left = file.seconds * (1 - file.fraction) / file.fraction;
      report(progress);
    };
  for (const auto& [name, value] : written) {
    const auto* known = std::find_if(std::begin(all_options), std::end(all_options),
                                     [&](const FileOption& o) { return name == o.name; });
    if (known == std::end(all_options)) {
      std::vector<std::string> names;
      for (const FileOption& option : all_options) names.emplace_back(option.name);
      fail_type(value->location, "file option \"{}\" not found; {}", name, instead_of(name, names));
    }
    const Cell given = value_of(*value);
    if (!known->set(options, given))
      fail_type(value->location, "invalid value '{}' for option \"{}\"; expected {}",
                query::text_of(given), name, known->values);
  }
  return options;
}

}  // namespace tessera::session
