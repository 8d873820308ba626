#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/formats/numbers.h"
#include "store/formats/text_blocks.h"

namespace tessera::store {

/// How the lines of a file are to be read.
struct CsvDialect {
  char delimiter = ',';          // ' ': any blanks, and as many as there are
  std::int64_t header_line = 0;  // 0: there is none
  std::int64_t columns = 0;      // of the first line with data; 0: there is none
};

/// A line that is empty, or a comment as NumPy's savetxt writes it.
bool is_skipped(std::string_view line);

/// The fields of a line, without quotes and the blanks around them. IoError if a quoted one does
/// not end.
std::vector<std::string> split_fields(std::string_view line, char delimiter,
                                      const std::string& file, std::int64_t number);

/// Looks at the first lines. What the options say is not looked for.
CsvDialect csv_dialect(const TextBlock& head, const std::string& file,
                       const FormatOptions& options);

/// What is to be made of fields.
struct FieldRules {
  std::string file;
  NumberKind most = NumberKind::real;  // numbers of a later kind are errors
  std::optional<double> missing = {};
};

/// Reads one field from its begin to its end, which is before a delimiter or the end of the line.
void read_field(std::string_view field, std::int64_t line, std::int64_t column,
                const FieldRules& rules, Numbers& into);

/// Reads the rows of a block; the number of them. IoError with the line if it is not as it should.
std::int64_t read_rows(const TextBlock& block, const CsvDialect& dialect, const FieldRules& rules,
                       Numbers& into);

}  // namespace tessera::store
