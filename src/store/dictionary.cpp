#include "store/dictionary.h"

#include <fmt/format.h>

#include "base/check.h"
#include "store/catalog_format.h"

namespace tessera::store {
namespace {

std::int64_t checksum_of_string(std::int64_t code, const std::string& value) {
  return checksum_of(fmt::format("{}\n{}", code, value));
}

}  // namespace

std::vector<CodedString> Catalog::strings_after(std::int64_t code) {
  std::vector<CodedString> found;
  if (version_ < 2) return found;
  Statement rows =
      sqlite_.prepare("SELECT code, value, checksum FROM strings WHERE code > ? ORDER BY code");
  rows.bind(code);
  while (rows.step())
    found.push_back({rows.integer(0), rows.text(1), rows.integer(2),
                     rows.integer(2) == checksum_of_string(rows.integer(0), rows.text(1))});
  return found;
}

RowTotals Catalog::totals_of_strings() {
  if (version_ < 2) return {};
  Statement row = sqlite_.prepare("SELECT rows, checksums FROM totals WHERE name = 'strings'");
  return row.step() ? RowTotals{row.integer(0), row.integer(1)} : RowTotals{-1, 0};
}

void Catalog::add_string(const std::string& value) {
  // The checksum is of the code too, which the row has first to get.
  sqlite_.prepare("INSERT INTO strings(value, checksum) VALUES(?, 0)").bind(value).run();
  const std::int64_t code = sqlite_.last_row();
  sqlite_.prepare("UPDATE strings SET checksum = ? WHERE code = ?")
      .bind(checksum_of_string(code, value), code)
      .run();
}

void Dictionary::read_new(Catalog& catalog) {
  const Transaction one_state = catalog.reading();
  for (CodedString& row : catalog.strings_after(last_)) {
    ++read_.rows;
    read_.checksums += row.checksum & 0xffffffff;
    last_ = row.code;
    if (!row.well) {
      damaged_.insert(row.code);
      continue;
    }
    const auto& [at, is_new] = strings_.emplace(row.code, std::move(row.value));
    codes_.emplace(at->second, row.code);
  }
  complete_ = read_ == catalog.totals_of_strings();
}

std::optional<std::int64_t> Dictionary::code_of(const std::string& string) const {
  const auto found = codes_.find(string);
  return found != codes_.end() ? std::optional(found->second) : std::nullopt;
}

const std::string* Dictionary::string_of(std::int64_t code) const {
  const auto found = strings_.find(code);
  return found != strings_.end() ? &found->second : nullptr;
}

std::string Dictionary::damage() const {
  if (!damaged_.empty())
    return fmt::format("the string of code {} is damaged (checksum)", *damaged_.begin());
  return complete_ ? "" : "rows of strings are missing or damaged";
}

}  // namespace tessera::store
