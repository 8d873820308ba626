#pragma once

#include <iosfwd>
#include <optional>
#include <span>
#include <stop_token>
#include <string_view>

#include "tessera/session.h"

// How the rows of a query are written, a file each.

namespace tessera::shell {

enum class Mode { table, csv, json, line };
std::span<const std::string_view> mode_names();  // in the order of the modes
std::optional<Mode> mode_named(std::string_view name);
std::string_view name_of(Mode mode);

/// Modes for people have messages and counts beside the rows; those for programs have rows alone.
bool is_for_people(Mode mode);

struct View {
  int width = 0;              // columns of the terminal; 0: whatever the rows take
  std::int64_t max_rows = 0;  // 0: all of them
  bool colour = false;
  std::stop_token stop = {};  // Interrupted between two rows
};

void write_rows(std::ostream& out, Mode mode, const ResultTable& rows, const View& view);

void write_table(std::ostream& out, const ResultTable& rows, const View& view);
void write_csv(std::ostream& out, const ResultTable& rows, const View& view);
void write_json(std::ostream& out, const ResultTable& rows, const View& view);
void write_lines(std::ostream& out, const ResultTable& rows, const View& view);

/// For the loops of the above.
void stop_if_asked(const View& view);

}  // namespace tessera::shell
