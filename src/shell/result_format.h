#pragma once

#include <iosfwd>
#include <optional>
#include <span>
#include <string_view>

#include "display/table_format.h"

// How the rows of a query are written, a file each.

namespace tessera::shell {

enum class Mode { table, csv, json, line };
std::span<const std::string_view> mode_names();  // in the order of the modes
std::optional<Mode> mode_named(std::string_view name);
std::string_view name_of(Mode mode);

/// Modes for people have messages and counts beside the rows; those for programs have rows alone.
bool is_for_people(Mode mode);

using display::stop_if_asked;
using display::View;

void write_rows(std::ostream& out, Mode mode, const ResultTable& rows, const View& view);

void write_csv(std::ostream& out, const ResultTable& rows, const View& view);
void write_json(std::ostream& out, const ResultTable& rows, const View& view);
/// A document of another format, as the only field of an object.
void write_json_document(std::ostream& out, const std::string& format, const std::string& text);
void write_lines(std::ostream& out, const ResultTable& rows, const View& view);

}  // namespace tessera::shell
