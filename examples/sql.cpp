// SQL from C++: tables whose columns hold tensors, values for each `?`, rows, and an error.

#include <iostream>

#include "tessera/tessera.h"

using namespace tessera;

int main() {
  Session session(Database::temporary());
  session.execute("CREATE TABLE A (i INT, j INT, tile MATRIX[2][2])");
  for (std::int64_t i = 0; i < 3; ++i)
    for (std::int64_t j = 0; j < 2; ++j)
      session.execute("INSERT INTO A VALUES (?, ?, ?)",
                      {i, j, Tile::full(DType::f64, {2, 2}, static_cast<double>(i + j))});

  const ResultTable rows = session.query(
      "SELECT a.i, SUM(matmul(a.tile, b.tile)) AS product FROM A AS a, A AS b "
      "WHERE a.j = b.i AND b.j = 0 AND a.i < ? GROUP BY a.i ORDER BY a.i",
      {std::int64_t{2}});
  for (std::int64_t row = 0; row < rows.rows(); ++row)
    std::cout << std::get<std::int64_t>(rows.at(row, 0)) << ":\n"
              << std::get<Tile>(rows.at(row, 1)) << "\n";

  try {
    session.execute("SELECT nothing FROM A");
  } catch (const StatementError& error) {
    std::cout << "line " << error.line << ", column " << error.column << ": " << error.kind()
              << ": " << error.what() << "\n";
  }
  return 0;
}
