#include <bit>
#include <cmath>
#include <unordered_set>

#include "base/check.h"
#include "store/formats/copy_rows.h"
#include "store/formats/entry_spool.h"
#include "store/formats/postgresql.h"
#include "store/formats/sparse_tiles.h"
#include "store/formats/stored_entries.h"

namespace tessera::store {
namespace {

/// A type that the last column may have: what the server is asked to make of it, and we.
struct SqlType {
  unsigned number;
  const char* sent_as;
  DType dtype;
};
constexpr SqlType values[] = {
    {16, "boolean", DType::boolean}, {21, "int8", DType::i64},    {23, "int8", DType::i64},
    {20, "int8", DType::i64},        {700, "float8", DType::f32}, {701, "float8", DType::f64},
    {1700, "float8", DType::f64},
};
constexpr SqlType arrays[] = {
    {1000, "boolean[]", DType::boolean}, {1005, "int8[]", DType::i64},
    {1007, "int8[]", DType::i64},        {1016, "int8[]", DType::i64},
    {1021, "float8[]", DType::f32},      {1022, "float8[]", DType::f64},
    {1231, "float8[]", DType::f64},
};

template <std::size_t count>
const SqlType* find(const SqlType (&types)[count], unsigned number) {
  for (const SqlType& type : types)
    if (type.number == number) return &type;
  return nullptr;
}

bool is_integer(unsigned type) { return type == 20 || type == 21 || type == 23; }

/// What stands before the last column, and that.
struct QueryShape {
  int keys = 0;
  std::vector<std::string> names;
  SqlType value{};
  DType dtype = DType::f64;
  std::string select;  // the query, its columns as we want them sent
};

QueryShape shape_of_query(PostgresConnection& connection, const FormatOptions& options) {
  std::string query = options.query;
  while (!query.empty() &&
         (query.back() == ';' || std::isspace(static_cast<unsigned char>(query.back()))))
    query.pop_back();
  const std::vector<SqlColumn> columns = connection.describe(query);
  QueryShape shape;
  shape.keys = static_cast<int>(columns.size()) - 1;
  if (shape.keys < 1 || shape.keys > max_rank)
    connection.fail(
        fmt::format("the query has {} columns; it must have 1 to {} integer columns, and then {}",
                    columns.size(), max_rank,
                    options.tile_a_row ? "a column of arrays" : "a column of numbers"));
  std::string list, names;
  for (int i = 0; i < shape.keys; ++i) {
    shape.names.push_back(columns[i].name);
    if (!is_integer(columns[i].type))
      connection.fail(
          fmt::format("column \"{}\" of the query must be an integer, because it is not the last "
                      "one; cast it (::bigint)",
                      columns[i].name));
    list += fmt::format("q.c{}::int8, ", i);
    names += fmt::format("c{}, ", i);
  }
  const SqlColumn& last = columns.back();
  const SqlType* type = options.tile_a_row ? find(arrays, last.type) : find(values, last.type);
  if (type == nullptr)
    connection.fail(
        fmt::format("the last column of the query, \"{}\", must have {}; cast it (::{})", last.name,
                    options.tile_a_row ? "arrays of numbers or booleans" : "numbers or booleans",
                    options.tile_a_row ? "float8[]" : "float8"));
  shape.names.push_back(last.name);
  shape.value = *type;
  shape.dtype = options.dtype.value_or(type->dtype);
  TESSERA_REQUIRE(TypeError, !(shape.dtype == DType::i64 && type->sent_as[0] == 'f'),
                  "column \"{}\" has floating-point numbers, which do not fit into i64", last.name);
  shape.select =
      fmt::format("SELECT {}q.v::{} FROM (\n{}\n) AS q({}v)", list, type->sent_as, query, names);
  return shape;
}

/// The numbers of a row that tell where its value belongs.
std::int64_t read_coordinate(const PostgresConnection& connection, CopyBytes& row,
                             std::int64_t number, const std::string& name, std::int64_t base) {
  const auto field = row.field();
  if (!field || field->size() != 8)
    connection.fail(fmt::format("row {} of the query: \"{}\" is NULL", number, name));
  const auto value = from_big_endian<std::int64_t>(field->data());
  if (value < base || value >= (std::int64_t{1} << 62))
    connection.fail(
        fmt::format("row {} of the query: \"{}\" is {}, but coordinates must be at least {}",
                    number, name, value, base));
  return value - base;
}

/// Adds a value of a field, or what NULL stands for.
void read_value(const PostgresConnection& connection, std::optional<std::string_view> field,
                std::int64_t number, const std::string& name, const FormatOptions& options,
                const QueryShape& shape, Numbers& into) {
  const bool real = shape.value.sent_as[0] == 'f';
  if (!field) {
    if (!options.missing)
      connection.fail(
          fmt::format("row {} of the query: \"{}\" is NULL; give a value for NULL (missing=), or "
                      "exclude such rows",
                      number, name));
    const double value = *options.missing;
    TESSERA_REQUIRE(TypeError, real || value == std::floor(value),
                    "missing={} is not an integer, but column \"{}\" is", value, name);
    if (real)
      into.add_real(value);
    else
      into.add_integer(static_cast<std::int64_t>(value));
    return;
  }
  if (field->size() == 1)
    into.add_boolean(field->front() != 0);
  else if (field->size() != 8)
    connection.fail(
        fmt::format("row {} of the query: \"{}\" has {} bytes", number, name, field->size()));
  else if (real)
    into.add_real(std::bit_cast<double>(from_big_endian<std::int64_t>(field->data())));
  else
    into.add_integer(from_big_endian<std::int64_t>(field->data()));
}

void read_entries(PostgresConnection& connection, const QueryShape& shape,
                  const FormatOptions& options, Receiver& into) {
  const std::int64_t base = index_base(options, 0);
  EntrySpool spool(shape.keys, options.memory);
  constexpr std::int64_t chunk = 4096;
  Entries entries(shape.keys);
  std::int64_t number = 0;
  const auto flush = [&] {
    spool.add(entries);
    into.advance(entries.bytes(), entries.size());
    entries = Entries(shape.keys);
  };
  for (CopyRows rows(connection, shape.select); auto row = rows.next();) {
    ++number;
    for (int d = 0; d < shape.keys; ++d)
      entries.coordinates.push_back(
          read_coordinate(connection, *row, number, shape.names[d], base));
    read_value(connection, row->field(), number, shape.names.back(), options, shape,
               entries.values);
    if (entries.size() == chunk) flush();
  }
  flush();
  SparseTensor tensor;
  tensor.file = "the PostgreSQL query";
  tensor.shape = options.shape.value_or(spool.extents());
  TESSERA_REQUIRE(TypeError, tensor.shape.rank() == shape.keys,
                  "the query has {} coordinates, which does not fit shape {}", shape.keys,
                  to_string(tensor.shape));
  for (int d = 0; d < shape.keys; ++d)
    if (spool.extents()[d] > tensor.shape[d])
      connection.fail(
          fmt::format("column \"{}\" has the coordinate {}, which is out of range for shape {}",
                      shape.names[d], spool.extents()[d] - 1 + base, to_string(tensor.shape)));
  tensor.tile = options.tile;
  tensor.dtype = shape.dtype;
  tensor.entries = spool.size();
  tensor.duplicates = Duplicates::refuse;
  SparseTiles tiles(into, tensor, options);
  spool.replay([&](Entries& some) { tiles.add(some); });
  tiles.finish();
}

/// An array as the server sends it: dimensions, then elements row by row.
Tile read_array(const PostgresConnection& connection, std::string_view field, std::int64_t number,
                int rank, const QueryShape& shape, const FormatOptions& options) {
  CopyBytes bytes(connection, field);
  const auto dimensions = bytes.integer<std::int32_t>();
  (void)bytes.take(8);  // whether there are NULLs, and the type of the elements
  if (dimensions < 0 || dimensions > max_rank)
    connection.fail(
        fmt::format("row {} of the query: an array with {} dimensions, which is not supported",
                    number, dimensions));
  Shape extents;
  for (int d = 0; d < dimensions; ++d) {
    extents.push_back(bytes.integer<std::int32_t>());
    (void)bytes.integer<std::int32_t>();  // what its index begins with
  }
  if (dimensions == 0) extents = Shape(rank == 0 ? 1 : rank, 0);  // an empty array has no shape
  if (rank != 0 && extents.rank() != rank)
    connection.fail(
        fmt::format("row {} of the query: an array with {} dimensions, but the first row has {}",
                    number, extents.rank(), rank));
  Numbers numbers;
  const std::int64_t elements = extents.elements();
  for (std::int64_t i = 0; i < elements; ++i)
    read_value(connection, bytes.field(), number, shape.names.back(), options, shape, numbers);
  MutableTile tile = MutableTile::uninitialized(shape.dtype, extents);
  numbers.copy(0, numbers.size(), shape.dtype, tile.bytes_begin());
  return std::move(tile).publish();
}

void read_tiles(PostgresConnection& connection, const QueryShape& shape,
                const FormatOptions& options, Receiver& into) {
  TESSERA_REQUIRE(TypeError, !options.tile && !options.shape && !options.index_base,
                  "with tile_a_row, the rows say what the keys and tiles are: no tile, shape or "
                  "index_base");
  std::optional<int> tensor;
  std::unordered_set<Key, KeyHash> seen;
  int rank = 0;
  std::int64_t number = 0;
  for (CopyRows rows(connection, shape.select); auto row = rows.next();) {
    ++number;
    Key key;
    for (int d = 0; d < shape.keys; ++d)
      key.push_back(read_coordinate(connection, *row, number, shape.names[d], 0));
    if (!seen.insert(key).second)
      connection.fail(fmt::format("row {} of the query: duplicate key {}", number, to_string(key)));
    const auto field = row->field();
    if (!field)
      connection.fail(
          fmt::format("row {} of the query: \"{}\" is NULL", number, shape.names.back()));
    const Tile tile = read_array(connection, *field, number, rank, shape, options);
    if (!tensor) tensor = into.begin({"", tile.type(), Presence::partial});
    rank = tile.rank();
    into.add(*tensor, key, tile);
    into.advance(static_cast<std::int64_t>(field->size()), 1);
  }
  if (!tensor) connection.fail("the query returned no rows");
  into.end(*tensor, std::nullopt);
}

}  // namespace

void read_postgresql(const InputFile& from, const FormatOptions& options, Receiver& into) {
  check_options(options, "postgresql",
                {"query", "tile_a_row", "tile", "dtype", "shape", "missing", "index_base"});
  TESSERA_REQUIRE(TypeError, !options.query.empty(),
                  "the format postgresql needs a query (query=) that returns integer columns and "
                  "then a column of numbers or arrays");
  PostgresConnection connection(from.path, [&into] { into.advance(0, 0); });
  connection.execute("BEGIN TRANSACTION READ ONLY");
  const QueryShape shape = shape_of_query(connection, options);
  if (options.tile_a_row)
    read_tiles(connection, shape, options, into);
  else
    read_entries(connection, shape, options, into);
}

}  // namespace tessera::store
