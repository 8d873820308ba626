#include "store/formats/postgresql.h"

#include "base/check.h"
#include "store/formats/copy_rows.h"
#include "store/formats/dense_rows.h"
#include "store/formats/stored_entries.h"
#include "tile/dispatch.h"

namespace tessera::store {
namespace {

const char* sql_type(DType dtype) {
  switch (dtype) {
    case DType::f32: return "real";
    case DType::f64: return "double precision";
    case DType::i64: return "bigint";
    case DType::boolean: return "boolean";
  }
  TESSERA_INVARIANT(false, "dtype {}", static_cast<int>(dtype));
}

/// The numbers of PostgreSQL's types in its catalogue.
std::int32_t type_number(DType dtype) {
  switch (dtype) {
    case DType::f32: return 700;
    case DType::f64: return 701;
    case DType::i64: return 20;
    case DType::boolean: return 16;
  }
  TESSERA_INVARIANT(false, "dtype {}", static_cast<int>(dtype));
}

/// A table's name as the server wants it: table, or schema.table.
std::string table_name(const PostgresConnection& connection, const std::string& name) {
  const std::size_t dot = name.find('.');
  if (dot == std::string::npos) return connection.quoted(name);
  return connection.quoted(name.substr(0, dot)) + "." + connection.quoted(name.substr(dot + 1));
}

void put_element(CopyFields& out, const Tile& tile, std::int64_t position) {
  visit_dtype(tile.dtype(), [&]<class T>() {
    if constexpr (std::is_same_v<T, bool>)
      out.put(tile.is_sparse() || tile.data<bool>()[position]);
    else
      out.put(tile.data<T>()[position]);
  });
}

void write_entries(TensorReader& tensor, PostgresConnection& connection, const std::string& table,
                   const FormatOptions& options) {
  const int rank = tensor_shape(tensor, "a table of entries").rank();
  const std::int64_t base = index_base(options, 0);
  std::string columns;
  for (int d = 0; d < rank; ++d) columns += fmt::format("i{} bigint NOT NULL, ", d);
  connection.execute(fmt::format("CREATE TABLE {} ({}value {} NOT NULL)", table, columns,
                                 sql_type(tensor.type().columns[0].type.dtype)));
  CopyOutput out(connection, table);
  for_each_entry_tile(tensor, [&](const Tile& tile, const Index& corner) {
    std::int64_t sent = 0;
    for_each_entry(tile, corner, [&](const Index& at, std::int64_t entry) {
      CopyFields& row = out.begin_row(rank + 1);
      for (int d = 0; d < rank; ++d) row.put(at[d] + base);
      put_element(row, tile, entry);
      sent += out.end_row();
    });
    tensor.advance(sent, tile.stored());
  });
  out.finish();
}

std::string array_of(const Tile& tile) {
  CopyFields array;
  put_big_endian(array.bytes, static_cast<std::int32_t>(tile.elements() == 0 ? 0 : tile.rank()));
  put_big_endian(array.bytes, std::int32_t{0});  // no NULLs
  put_big_endian(array.bytes, type_number(tile.dtype()));
  if (tile.elements() > 0)
    for (const std::int64_t extent : tile.shape()) {
      put_big_endian(array.bytes, static_cast<std::int32_t>(extent));
      put_big_endian(array.bytes, std::int32_t{1});
    }
  for (std::int64_t i = 0; i < tile.elements(); ++i) put_element(array, tile, i);
  return std::move(array.bytes);
}

void write_tiles(TensorReader& tensor, PostgresConnection& connection, const std::string& table) {
  const RelationType& type = tensor.type();
  TESSERA_REQUIRE(TypeError, type.columns.size() == 1 && type.columns[0].type.shape.rank() <= 6,
                  "\"{}\" is {}, but PostgreSQL arrays have at most 6 dimensions", tensor.name(),
                  to_string(type));
  const int arity = type.arity();
  std::string columns;
  for (int d = 0; d < arity; ++d) columns += fmt::format("k{} bigint NOT NULL, ", d);
  connection.execute(fmt::format("CREATE TABLE {} ({}tile {}[] NOT NULL)", table, columns,
                                 sql_type(type.columns[0].type.dtype)));
  CopyOutput out(connection, table);
  for (const Key& key : tensor.keys()) {
    const Tile tile = tensor.read(key).contiguous();
    // PostgreSQL's rows are below 1 GB, and its arrays below 2^27 elements.
    TESSERA_REQUIRE(
        TypeError, tile.elements() < (1 << 26),
        "the tile of \"{}\" at {} has {} elements, too many for one row of a PostgreSQL table",
        tensor.name(), to_string(key), tile.elements());
    CopyFields& row = out.begin_row(arity + 1);
    for (const std::int64_t component : key) row.put(component);
    row.put(std::string_view(array_of(tile)));
    tensor.advance(out.end_row(), 1);
  }
  out.finish();
}

}  // namespace

void write_postgresql(const std::vector<TensorReader*>& tensors, const OutputFile& to,
                      const FormatOptions& options) {
  check_options(options, "postgresql", {"member", "index_base", "tile_a_row"});
  TensorReader& tensor = only_tensor(tensors, "a table");
  TESSERA_REQUIRE(TypeError, !options.member.empty(),
                  "the format postgresql needs the name of the table to create (member=)");
  PostgresConnection connection(to.name, [&tensor] { tensor.advance(0, 0); });
  connection.execute("BEGIN");
  const std::string table = table_name(connection, options.member);
  if (options.tile_a_row)
    write_tiles(tensor, connection, table);
  else
    write_entries(tensor, connection, table, options);
  tensor.finish();
  connection.commit();
}

const Format& postgresql_format() {
  static const Format format{{"postgresql",
                              "rows of a query: coordinates and a value, or a key and an array",
                              {"postgresql://", "postgres://"}},
                             read_postgresql,
                             write_postgresql,
                             false};
  return format;
}

}  // namespace tessera::store
