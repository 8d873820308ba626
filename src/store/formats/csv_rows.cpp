#include <cmath>
#include <cstring>

#include "base/check.h"
#include "base/stop.h"
#include "store/formats/csv_lines.h"
#include "store/formats/text_place.h"

// Numbers are read where they stand; only a field that is none is looked at as a text.

namespace tessera::store {
namespace {

bool equals(std::string_view field, std::string_view lower_word) {
  if (field.size() != lower_word.size()) return false;
  for (std::size_t i = 0; i < field.size(); ++i)
    if ((field[i] | 0x20) != lower_word[i]) return false;
  return true;
}

bool is_missing(std::string_view field) {
  return field.empty() || equals(field, "na") || equals(field, "nan") || equals(field, "null");
}

/// What must not be in a field because of the dtype that was asked for.
void check_kind(std::string_view field, std::int64_t line, std::int64_t column,
                const FieldRules& rules, const Numbers& numbers) {
  const bool fits = rules.most == NumberKind::boolean
                        ? !numbers.are_real() && (numbers.integer(numbers.size() - 1) | 1) == 1
                        : numbers.kind() <= rules.most;
  if (!fits)
    fail_at(rules.file, line, column,
            fmt::format("{} is not of type {}, the dtype that is requested", shown(field),
                        to_string(dtype_of_kind(rules.most))));
}

void add_missing(std::int64_t line, std::int64_t column, const FieldRules& rules, Numbers& into) {
  const double value = rules.missing.value_or(std::nan(""));
  if (value == std::floor(value) && std::fabs(value) < 0x1p53)
    into.add_integer(static_cast<std::int64_t>(value));
  else if (rules.most < NumberKind::real)
    fail_at(rules.file, line, column,
            fmt::format("a value is missing, and {} has no value for that; give a value for "
                        "missing entries (missing=)",
                        to_string(dtype_of_kind(rules.most))));
  else
    into.add_real(value);
}

/// The end of a field that begins at `at`: before a delimiter, or the end of the line.
const char* end_of_field(const char* at, const char* end, char delimiter) {
  if (at != end && *at == '"') {
    for (++at; at != end && *at != '\n'; ++at)
      if (*at == '"' && (at + 1 == end || *++at != '"')) break;
  }
  while (at != end && *at != delimiter && *at != '\n' && !(delimiter == ' ' && is_blank(*at))) ++at;
  return at;
}

class RowReader {
 public:
  RowReader(const TextBlock& block, const CsvDialect& dialect, const FieldRules& rules,
            Numbers& into)
      : at_(block.text.data()),
        end_(at_ + block.text.size()),
        line_(block.first_line),
        dialect_(dialect),
        rules_(rules),
        into_(into),
        by_blanks_(dialect.delimiter == ' ') {}

  std::int64_t run() {
    std::int64_t rows = 0;
    for (; at_ != end_; ++line_) {
      begin_ = at_;
      skip_padding();
      if (at_line_end() || *at_ == '#' || line_ == dialect_.header_line) {
        const void* newline = std::memchr(at_, '\n', static_cast<std::size_t>(end_ - at_));
        at_ = newline == nullptr ? end_ : static_cast<const char*>(newline) + 1;
        continue;
      }
      read_row();
      ++rows;
    }
    return rows;
  }

 private:
  void skip_padding() {
    while (at_ != end_ && is_blank(*at_) && (by_blanks_ || *at_ != dialect_.delimiter)) ++at_;
  }
  bool at_line_end() const {
    return at_ == end_ || *at_ == '\n' || (*at_ == '\r' && (at_ + 1 == end_ || at_[1] == '\n'));
  }
  bool at_delimiter() const {
    return at_ != end_ && (*at_ == dialect_.delimiter || (by_blanks_ && is_blank(*at_)));
  }

  void read_row() {
    for (std::int64_t column = 0;;) {
      poll_.passed(16);
      read_value();
      ++column;
      if (by_blanks_) skip_padding();
      if (at_line_end()) {
        if (column != dialect_.columns) wrong_count(column);
        break;
      }
      if (column == dialect_.columns) wrong_count(column + 1);
      if (!by_blanks_) ++at_;
    }
    if (at_ != end_ && *at_ == '\r') ++at_;
    if (at_ != end_) ++at_;
  }

  void read_value() {
    skip_padding();
    const char* field = at_;
    const bool is_nan = at_ != end_ && (*at_ | 0x20) == 'n';  // which may stand for another value
    if (rules_.most == NumberKind::real && !is_nan && read_number(at_, end_, into_)) {
      if (!by_blanks_) skip_padding();
      if (at_delimiter() || at_line_end()) return;
      into_.remove_last();
    }
    at_ = end_of_field(field, end_, dialect_.delimiter);
    std::string_view text(field, static_cast<std::size_t>(at_ - field));
    if (!text.empty() && text.back() == '\r') text.remove_suffix(1);
    read_field(text, line_, field - begin_ + 1, rules_, into_);
  }

  [[noreturn]] void wrong_count(std::int64_t at_least) {
    const void* newline = std::memchr(begin_, '\n', static_cast<std::size_t>(end_ - begin_));
    const char* end = newline == nullptr ? end_ : static_cast<const char*>(newline);
    const auto fields = split_fields({begin_, static_cast<std::size_t>(end - begin_)},
                                     dialect_.delimiter, rules_.file, line_);
    fail_at(rules_.file, line_, 0,
            fmt::format("{} fields, but the first line has {}",
                        std::max<std::int64_t>(at_least, static_cast<std::int64_t>(fields.size())),
                        dialect_.columns));
  }

  const char* at_;
  const char* const end_;
  const char* begin_ = nullptr;  // of the line
  std::int64_t line_;
  const CsvDialect& dialect_;
  const FieldRules& rules_;
  Numbers& into_;
  const bool by_blanks_;
  StopPoll poll_{"rows were read"};
};

}  // namespace

void read_field(std::string_view field, std::int64_t line, std::int64_t column,
                const FieldRules& rules, Numbers& into) {
  const std::string_view whole = field;
  const auto strip = [&] {
    while (!field.empty() && is_blank(field.front())) field.remove_prefix(1);
    while (!field.empty() && is_blank(field.back())) field.remove_suffix(1);
  };
  strip();
  if (field.size() >= 2 && field.front() == '"' && field.back() == '"') {
    field = field.substr(1, field.size() - 2);
    strip();
  } else if (!field.empty() && field.front() == '"') {
    fail_at(rules.file, line, column,
            fmt::format("the quoted field {} does not end on this line", shown(whole)));
  }
  if (is_missing(field)) {
    add_missing(line, column, rules, into);
  } else if (equals(field, "true") || equals(field, "false")) {
    into.add_boolean(equals(field, "true"));
  } else {
    const char* at = field.data();
    const char* end = at + field.size();
    if (!read_number(at, end, into) || at != end)
      fail_at(rules.file, line, column, fmt::format("{} is not a number", shown(whole)));
  }
  if (rules.most != NumberKind::real) check_kind(whole, line, column, rules, into);
}

std::int64_t read_rows(const TextBlock& block, const CsvDialect& dialect, const FieldRules& rules,
                       Numbers& into) {
  return RowReader(block, dialect, rules, into).run();
}

}  // namespace tessera::store
