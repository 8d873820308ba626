#pragma once

#include "tessera/session.h"

namespace tessera::testing {

/// A text for each row of a result, its values told by `cell_text`.
template <class CellText>
std::vector<std::string> row_texts(const ResultTable& table, CellText&& cell_text) {
  std::vector<std::string> rows;
  for (std::int64_t r = 0; r < table.rows(); ++r) {
    std::string row;
    for (int c = 0; std::cmp_less(c, table.columns().size()); ++c)
      row += cell_text(table.at(r, c)) + " | ";
    rows.push_back(row);
  }
  return rows;
}

}  // namespace tessera::testing
