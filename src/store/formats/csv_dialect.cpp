#include <algorithm>

#include "base/check.h"
#include "base/stop.h"
#include "store/formats/csv_lines.h"
#include "store/formats/text_place.h"

namespace tessera::store {
namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

bool is_value(const std::string& field) {
  Numbers ignored;
  try {
    read_field(field, 0, 0, {}, ignored);
    return true;
  } catch (const IoError&) {
    return false;
  }
}

/// A value that is not missing.
bool is_number(const std::string& field) {
  return is_value(field) && field.find_first_of("0123456789") != field.npos;
}

constexpr const char* under_way = "a line was read";  // which may be as long as the file
constexpr std::int64_t steps_a_field = 64;

bool are_values(const std::vector<std::string>& fields) {
  StopPoll poll(under_way);
  return std::all_of(fields.begin(), fields.end(), [&](const std::string& field) {
    poll.passed(steps_a_field);
    return is_value(field);
  });
}

struct Line {
  std::string_view text;
  std::int64_t number = 0;
};

/// Whether a delimiter makes values of the lines after the first, and how many fields of it.
std::pair<bool, std::size_t> score_of(char delimiter, const std::vector<Line>& lines) {
  try {
    const std::size_t count = split_fields(lines[0].text, delimiter, "", lines[0].number).size();
    for (std::size_t i = lines.size() > 1 ? 1 : 0; i < lines.size(); ++i) {
      const auto fields = split_fields(lines[i].text, delimiter, "", lines[i].number);
      if (fields.size() != count || !are_values(fields)) return {false, count};
    }
    return {true, count};
  } catch (const IoError&) {
    return {false, 0};  // quotes that another delimiter may not break
  }
}

constexpr char delimiters[] = {',', '\t', ';', '|', ' '};

/// Whether a delimiter cuts a line into several numbers: then it is no header, whatever others do.
bool cuts_into_numbers(const Line& line, char delimiter) {
  try {
    const auto fields = split_fields(line.text, delimiter, "", line.number);
    return fields.size() > 1 && are_values(fields) &&
           std::any_of(fields.begin(), fields.end(), is_number);
  } catch (const IoError&) {
    return false;  // quotes that another delimiter may not break
  }
}

bool any_cuts_into_numbers(const Line& line) {
  return std::any_of(std::begin(delimiters), std::end(delimiters),
                     [&](char delimiter) { return cuts_into_numbers(line, delimiter); });
}

char likely_delimiter(const std::vector<Line>& lines) {
  char best = ',';
  std::pair<bool, std::size_t> best_score = {false, 1};
  const bool numbers = any_cuts_into_numbers(lines[0]);
  for (const char delimiter : delimiters) {
    if (numbers && !cuts_into_numbers(lines[0], delimiter)) continue;
    if (const auto score = score_of(delimiter, lines); score > best_score) {
      best = delimiter;
      best_score = score;
    }
  }
  return best;
}

/// A line of names. IoError if it has numbers too: it may be a row with an error.
bool is_header(const Line& line, const std::vector<std::string>& fields, const std::string& file) {
  if (are_values(fields)) return false;
  const bool numbers = std::any_of(fields.begin(), fields.end(), is_number);
  if (!numbers && !any_cuts_into_numbers(line)) return true;
  const auto wrong = std::find_if_not(fields.begin(), fields.end(), is_value);
  fail_at(file, line.number, 0,
          fmt::format("{} is not a number, but other fields of the line are; if the line names the "
                      "columns, set the option header",
                      shown(*wrong)));
}

}  // namespace

bool is_skipped(std::string_view line) {
  line = trimmed(line);
  return line.empty() || line.front() == '#';
}

std::vector<std::string> split_fields(std::string_view line, char delimiter,
                                      const std::string& file, std::int64_t number) {
  std::vector<std::string> fields;
  const char* at = line.data();
  const char* end = at + line.size();
  const bool by_blanks = delimiter == ' ';
  StopPoll poll(under_way);
  for (bool more = true; more;) {
    poll.passed(steps_a_field);
    while (at != end && is_blank(*at) && *at != delimiter) ++at;
    if (by_blanks) skip_blanks(at, end);
    if (by_blanks && at == end && !fields.empty()) break;
    std::string field;
    if (at != end && *at == '"') {
      const char* begin = at++;
      const auto is_quote = [&](const char* c) { return c != end && *c == '"'; };
      for (; at != end && (*at != '"' || is_quote(at + 1)); ++at) {
        if (*at == '"') ++at;  // doubled, it stands for one
        field += *at;
      }
      if (at == end)
        fail_at(file, number, begin - line.data() + 1,
                fmt::format("the quoted field {} does not end on this line",
                            shown({begin, static_cast<std::size_t>(end - begin)})));
      ++at;
    }
    const char* begin = at;
    while (at != end && *at != delimiter && !(by_blanks && is_blank(*at))) ++at;
    field += trimmed({begin, static_cast<std::size_t>(at - begin)});
    fields.push_back(std::move(field));
    more = at != end;
    if (more) ++at;
  }
  return fields;
}

CsvDialect csv_dialect(const TextBlock& head, const std::string& file,
                       const FormatOptions& options) {
  constexpr std::size_t looked_at = 20;
  std::vector<Line> lines;
  for_each_line(head, [&](std::string_view text, std::int64_t number) {
    if (lines.size() < looked_at && !is_skipped(text)) lines.push_back({text, number});
  });
  CsvDialect dialect;
  dialect.delimiter = options.delimiter;
  if (lines.empty()) {
    if (dialect.delimiter == '\0') dialect.delimiter = ',';
    return dialect;
  }
  if (dialect.delimiter == '\0') {
    const bool tabs = file.ends_with(".tsv") || file.ends_with(".TSV");
    dialect.delimiter = tabs ? '\t' : likely_delimiter(lines);
  }
  const auto first = split_fields(lines[0].text, dialect.delimiter, file, lines[0].number);
  const bool header = options.header ? *options.header : is_header(lines[0], first, file);
  if (header) {
    for (const char& c : lines[0].text)
      if (static_cast<unsigned char>(c) < 0x20 && c != '\t')
        fail_at(file, lines[0].number, &c - lines[0].text.data() + 1,
                fmt::format("{} is not text", shown(lines[0].text)));
    dialect.header_line = lines[0].number;
  }
  if (!header || lines.size() == 1) {
    dialect.columns = static_cast<std::int64_t>(first.size());
    return dialect;
  }
  const auto second = split_fields(lines[1].text, dialect.delimiter, file, lines[1].number);
  dialect.columns = static_cast<std::int64_t>(second.size());
  if (first.size() != second.size())
    fail_at(file, lines[1].number, 0,
            fmt::format("{} fields, but the header in line {} has {}", second.size(),
                        lines[0].number, first.size()));
  return dialect;
}

}  // namespace tessera::store
