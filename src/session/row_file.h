#pragma once

#include <string>

#include "query/rows/cell.h"
#include "tessera/formats.h"

// Tables of rows as text (RFC 4180): a line a row, fields between delimiters, in quotes where they
// need them. A tensor is a field of nested brackets. The lines end with a newline alone; both ends
// are read.

namespace tessera::session {

/// The rows in a file, in the columns of a table. If the first line names columns, it says which is
/// which; otherwise they are in the table's order. IoError with the line of what is wrong.
query::Rows read_rows(const std::string& file, const query::Schema& schema,
                      const FormatOptions& options);

/// Writes rows, their names first unless `options.header` is false, to what an export would write
/// to: a file takes the place of one that is there when it is complete.
void write_rows(const std::string& file, const query::Rows& rows, const FormatOptions& options);

/// Whether a file is to hold rows as text: `options.format`, or the ending of its name. What a
/// descriptor has open, as /dev/stdout, has no ending, and holds rows.
bool is_row_format(const std::string& file, const FormatOptions& options);
/// TypeError unless it is, and the options are those of rows.
void require_row_format(const std::string& file, const FormatOptions& options);

}  // namespace tessera::session
