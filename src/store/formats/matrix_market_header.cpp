#include "store/formats/matrix_market_header.h"

#include <algorithm>
#include <cctype>

#include "base/check.h"
#include "store/formats/coordinate_lines.h"
#include "store/formats/numbers.h"

namespace tessera::store {
namespace {

std::string next_word(LineCursor& line) {
  line.skip();
  std::string word(line.word());
  for (char& c : word) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return word;
}

/// The next word, which must be one of a few; which of them.
template <class Meaning>
Meaning one_of(LineCursor& line, const char* what,
               std::initializer_list<std::pair<const char*, Meaning>> known) {
  const std::string word = next_word(line);
  std::string list;
  for (const auto& [name, meaning] : known) {
    if (word == name) {
      line.at += word.size();
      return meaning;
    }
    list += fmt::format("{}{}", list.empty() ? "" : ", ", name);
  }
  line.fail(fmt::format("{} is not a supported {}; supported: {}", shown(word), what, list));
}

void read_banner(LineCursor& line, MatrixMarketHeader& header) {
  if (next_word(line) != "%%matrixmarket")
    line.fail(fmt::format("a Matrix Market file must begin with '%%MatrixMarket', not with {}",
                          shown(line.word())));
  line.at += line.word().size();
  one_of<bool>(line, "object", {{"matrix", true}});
  header.coordinates = one_of<bool>(line, "kind of file", {{"coordinate", true}, {"array", false}});
  header.field = one_of<Field>(line, "type of numbers",
                               {{"real", Field::real},
                                {"double", Field::real},
                                {"integer", Field::integer},
                                {"unsigned-integer", Field::integer},
                                {"pattern", Field::pattern}});
  header.symmetry = one_of<Symmetry>(line, "symmetry",
                                     {{"general", Symmetry::general},
                                      {"symmetric", Symmetry::symmetric},
                                      {"skew-symmetric", Symmetry::skew}});
  line.skip();
  if (!line.done()) line.fail(fmt::format("unexpected {} after the header", shown(line.word())));
  if (header.field == Field::pattern && !header.coordinates)
    line.fail("a pattern matrix must have the format coordinate, not array");
  if (header.field == Field::pattern && header.symmetry == Symmetry::skew)
    line.fail("a pattern matrix cannot be skew-symmetric");
}

void read_sizes(LineCursor& line, MatrixMarketHeader& header) {
  header.rows = line.size("rows");
  header.columns = line.size("columns");
  if (header.symmetry != Symmetry::general && header.rows != header.columns)
    line.fail(fmt::format("a matrix with {} rows and {} columns cannot be symmetric", header.rows,
                          header.columns));
  const double elements = static_cast<double>(header.rows) * static_cast<double>(header.columns);
  if (!(elements < 0x1p62))
    line.fail("the matrix has more than 2^62 elements, which is not supported");
  if (header.coordinates) {
    header.entries = line.size("entries");
  } else {
    const std::int64_t n = header.rows;
    header.entries = header.symmetry == Symmetry::general     ? n * header.columns
                     : header.symmetry == Symmetry::symmetric ? n * (n + 1) / 2
                     : n == 0                                 ? 0
                                                              : n * (n - 1) / 2;
  }
  line.skip();
  if (!line.done()) line.fail(fmt::format("unexpected {} after the sizes", shown(line.word())));
}

}  // namespace

MatrixMarketHeader read_header(const TextFile& file) {
  std::vector<char> buffer;
  for (std::int64_t bytes = 1 << 16;; bytes *= 4) {
    const TextBlock head = file.head(bytes, buffer);
    MatrixMarketHeader header;
    bool found = false;
    for_each_line(head, [&](std::string_view text, std::int64_t number) {
      if (found) return;
      LineCursor line(file.path(), text, number);
      if (number == 1) {
        read_banner(line, header);
        return;
      }
      line.skip();
      if (line.done() || *line.at == '%') return;
      read_sizes(line, header);
      const char* behind = std::find(line.end, head.text.data() + head.text.size(), '\n');
      const std::int64_t mark = head.bytes - static_cast<std::int64_t>(head.text.size());
      header.offset = std::min(behind - head.text.data() + 1 + mark, file.size());
      header.line = number + 1;
      found = true;
    });
    if (found) return header;
    if (head.bytes == file.size())
      fail_at(file.path(), 1, 0,
              file.size() == 0 ? "the file is empty; a Matrix Market file begins with "
                                 "'%%MatrixMarket'"
                               : "the line with the sizes of the matrix is missing");
  }
}

}  // namespace tessera::store
