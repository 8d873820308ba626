#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tessera/database.h"

namespace tessera {

/// A value of a result, or one that is given to a statement: NULL, a number, a truth value, a text
/// or a tensor.
using SqlValue = std::variant<std::monostate, bool, std::int64_t, double, std::string, Tile>;

struct ResultColumn {
  std::string name;
  std::string type;  // "BIGINT", "MATRIX[2][3]"
};

/// A whole tensor in a result. It is read tile by tile, and need not fit into memory.
struct ResultTensor {
  TileType type;                              // as one tile
  Shape tile;                                 // the extents of its tiles
  std::optional<std::int64_t> nonzeros = {};  // of a sparse one
  /// The tile at a key, zeros if none is stored there.
  std::function<Tile(const Key& key)> read = {};
};

/// The rows of a query. Tensors are read when they are asked for.
class ResultTable {
 public:
  const std::vector<ResultColumn>& columns() const;
  std::int64_t rows() const;
  SqlValue at(std::int64_t row, int column) const;
  /// The type of a tensor without reading it; that of a scalar is of rank 0.
  TileType tile_type(std::int64_t row, int column) const;
  std::string text(std::int64_t row, int column) const;  // as CAST to TEXT gives it; "NULL"
  /// The tensor of a SELECT of whole tensors, which has one row; null for any other value.
  const ResultTensor* tensor(int column) const;

  struct Data;
  explicit ResultTable(std::shared_ptr<const Data> data) : data_(std::move(data)) {}

 private:
  std::shared_ptr<const Data> data_;
};

/// What a statement has done.
struct StatementResult {
  std::string command;                    // "SELECT", "CREATE TABLE"
  std::optional<ResultTable> table = {};  // of those that have rows
  std::string message = {};               // of the others: "3 rows inserted"
  double seconds = 0;
  std::string document = {};  // "json", "dot": the lines of the table are one, of this format
};

/// An error in a statement: of any kind, with the place in the text.
class StatementError : public Error {
 public:
  StatementError(const char* kind, const std::string& message, int at_line, int at_column)
      : Error(kind, message), line(at_line), column(at_column) {}
  int line, column;  // counted from 1
};

struct SessionOptions {
  RunOptions run = {};
  bool by_rows = false;  // every operator row by row, by definition: slow, for comparison
  /// Operators that are planned and run as one; a larger plan is cut into frames. 0: 2500, and 100
  /// on several sites, where the search for a plan takes longer.
  int frame_size = 0;
  /// The extent along every dimension of the tiles of tensors that are created without saying it.
  /// 0: chosen.
  int tile_size = 0;
  /// How long a statement that writes waits for another process that does. None: as the database
  /// was opened.
  std::optional<double> lock_seconds = {};
  /// Files and servers that statements may read and write, of those that the database allows. No
  /// statement changes it.
  ExternalAccess external_access = {};
};

/// Statements of SQL, one after the other, over a database. RunOptions::engine says who makes them,
/// or else that of the database: its processes have to make the same ones.
class Session {
 public:
  explicit Session(Database database, const SessionOptions& options = {});
  ~Session();
  Session(Session&&) noexcept;

  /// Runs all statements of a text, and hands over what each has done. Each `?` in it stands for
  /// the next of `values`. StatementError; those before the one that fails stay done.
  void execute(std::string_view text, const std::function<void(const StatementResult&)>& receive,
               const std::vector<SqlValue>& values = {});
  std::vector<StatementResult> execute(std::string_view text,
                                       const std::vector<SqlValue>& values = {});
  /// The rows of the one query that the text is.
  ResultTable query(std::string_view text, const std::vector<SqlValue>& values = {});

  Database& database();
  const SessionOptions& options() const;          // as they are now
  const ExternalAccess& external_access() const;  // what both allow
  RunOptions& run_options();                      // for those who watch or stop what runs

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tessera
