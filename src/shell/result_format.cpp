#include "shell/result_format.h"

#include "lang/sql/words.h"

namespace tessera::shell {
namespace {

constexpr std::string_view names[] = {"table", "csv", "json", "line"};

}  // namespace

std::span<const std::string_view> mode_names() { return names; }

std::optional<Mode> mode_named(std::string_view name) {
  for (std::size_t i = 0; i < std::size(names); ++i)
    if (sql::same_word(names[i], name)) return static_cast<Mode>(i);
  return std::nullopt;
}

std::string_view name_of(Mode mode) { return names[static_cast<std::size_t>(mode)]; }

bool is_for_people(Mode mode) { return mode == Mode::table || mode == Mode::line; }

void write_rows(std::ostream& out, Mode mode, const ResultTable& rows, const View& view) {
  switch (mode) {
    case Mode::table: return display::write_table(out, rows, view);
    case Mode::csv: return write_csv(out, rows, view);
    case Mode::json: return write_json(out, rows, view);
    case Mode::line: return write_lines(out, rows, view);
  }
}

}  // namespace tessera::shell
