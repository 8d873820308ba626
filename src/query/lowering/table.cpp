#include "query/lowering/table.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "base/check.h"
#include "base/memory_account.h"
#include "base/stop.h"
#include "query/lowering/null_marks.h"
#include "tessera/run.h"
#include "tile/tile_hash.h"
#include "tra/plan_node.h"

namespace tessera::query {
namespace {

constexpr const char* making_a_table = "converting rows to a table; nothing was stored";

/// Products of extents are far from where they do not fit 63 bits any more.
constexpr double largest_box = 1e18;

/// Which columns make up the key.
std::vector<int> key_columns(const Rows& rows, const std::vector<int>& wanted) {
  const bool has_tensors = std::any_of(rows.schema.begin(), rows.schema.end(),
                                       [](const Column& column) { return is_tensor(column.type); });
  std::vector<int> keys;
  double box = static_cast<double>(rows.rows.size()) + 1;
  for (int c = 0; std::cmp_less(c, rows.schema.size()); ++c) {
    const bool asked = std::find(wanted.begin(), wanted.end(), c) != wanted.end();
    if (!is_integer(rows.schema[c].type) || !(has_tensors || asked)) continue;
    std::int64_t most = 0;
    bool fits = true;
    for (const Row& row : rows.rows) {
      refuse_if_stopped(making_a_table);
      const std::int64_t value = row[c].integer();
      fits = fits && value >= 0 && value < largest_component;
      most = std::max(most, value);
    }
    const double extent = static_cast<double>(most) + 1;
    if (!fits || box * extent > largest_box || keys.size() + 1 >= 8) continue;
    box *= extent;
    keys.push_back(c);
  }
  return keys;
}

Tile tile_of(const Cell& cell, const Type& type,
             const std::unordered_map<std::string, std::int64_t>& codes) {
  if (cell.is_text()) return Tile::scalar(codes.at(cell.text()));
  const Tile tile = cell.tile();
  const DType dtype = tile_type(type).dtype;
  return tile.dtype() == dtype ? tile : tile.cast(dtype);
}

std::unordered_map<std::string, std::int64_t> codes_of(const Rows& rows, Dictionary& dictionary) {
  std::set<std::string> texts;
  for (const Row& row : rows.rows) {
    refuse_if_stopped(making_a_table);
    for (const Cell& cell : row)
      if (cell.is_text()) texts.insert(cell.text());
  }
  const std::vector<std::string> list(texts.begin(), texts.end());
  const std::vector<std::int64_t> codes =
      list.empty() ? std::vector<std::int64_t>{} : dictionary.codes(list);
  std::unordered_map<std::string, std::int64_t> result;
  for (std::size_t i = 0; i < list.size(); ++i) {
    refuse_if_stopped(making_a_table);
    result[list[i]] = codes[i];
  }
  return result;
}

TileType type_in_table(const Cell& cell, const Type& type) {
  if (const StoredTile* stored = cell.stored()) return stored->type;
  if (cell.is_text()) return tile_type(type);
  TileType known = cell.type();
  known.dtype = tile_type(type).dtype;
  return known;
}

}  // namespace

std::vector<Tile> tiles_of(const Rows& rows, int column, Dictionary& dictionary) {
  const auto codes = codes_of(rows, dictionary);
  std::vector<Tile> tiles;
  for (const Row& row : rows.rows) {
    refuse_if_stopped(making_a_table);
    tiles.push_back(tile_of(row[column], rows.schema[column].type, codes));
  }
  return tiles;
}

Table table_of(const Rows& rows, Dictionary& dictionary, const RunOptions& run,
               const std::vector<int>& wanted) {
  TESSERA_REQUIRE(TypeError, columns_with_null(rows).empty(),
                  "tables cannot store NULL; use coalesce");
  const std::vector<int> keys = key_columns(rows, wanted);
  std::vector<int> payload;
  Table table{rows.schema, {}, Plan::input(RelationType{{{"", {}}}, {}})};
  for (int c = 0; std::cmp_less(c, rows.schema.size()); ++c) {
    const auto key_at = std::find(keys.begin(), keys.end(), c);
    if (key_at != keys.end()) {
      table.origins.emplace_back(key(static_cast<int>(key_at - keys.begin())));
    } else {
      table.origins.emplace_back(static_cast<int>(payload.size()));
      payload.push_back(c);
    }
  }

  // Rows that have the same key get a number of their own as well.
  struct KeyedRow {
    Key key;
    const Row* row;
  };
  std::vector<KeyedRow> placed;
  std::unordered_map<Key, std::int64_t, KeyHash> seen;
  bool repeated = keys.empty();
  for (const Row& row : rows.rows) {
    refuse_if_stopped(making_a_table);
    Key at;
    for (int c : keys) at.push_back(row[c].integer());
    const std::int64_t before = seen[at]++;
    repeated = repeated || before > 0;
    at.push_back(before);
    placed.push_back({std::move(at), &row});
  }
  if (!repeated)
    for (KeyedRow& one : placed) one.key = Key(one.key.begin(), one.key.end() - 1);
  StopPoll poll(making_a_table);
  std::sort(placed.begin(), placed.end(), [&](const KeyedRow& a, const KeyedRow& b) {
    poll.passed(8);
    return a.key < b.key;
  });

  const auto codes = codes_of(rows, dictionary);
  auto listing = std::make_shared<TupleSet<TileType>>();
  const std::size_t arity = keys.size() + (repeated ? 1 : 0);
  listing->type.frontier = Key(arity, 0);
  auto cells = std::make_shared<std::unordered_map<Key, std::vector<Cell>, KeyHash>>();
  for (int c : payload)
    listing->type.columns.push_back({rows.schema[c].name, tile_type(rows.schema[c].type)});
  for (const KeyedRow& one : placed) {
    refuse_if_stopped(making_a_table);
    BasicTuple<TileType> tuple{one.key, {}};
    std::vector<Cell>& values = (*cells)[one.key];
    for (int c : payload) {
      const Cell& cell = (*one.row)[c];
      tuple.tiles.push_back(type_in_table(cell, rows.schema[c].type));
      values.push_back(cell.stored() != nullptr ? cell
                                                : Cell(tile_of(cell, rows.schema[c].type, codes)));
    }
    if (payload.empty()) tuple.tiles.push_back({DType::boolean, {}});
    for (std::size_t d = 0; d < arity; ++d)
      listing->type.frontier[d] = std::max(listing->type.frontier[d], one.key[d] + 1);
    listing->tuples.push_back(std::move(tuple));
  }
  // A relation has a payload, even where a table has none.
  if (payload.empty()) listing->type.columns.push_back({"", {DType::boolean, {}}});
  for (std::size_t c = 0; c < listing->type.columns.size(); ++c) {
    Shape& bound = listing->type.columns[c].type.shape;
    for (const auto& tuple : listing->tuples)
      for (int d = 0; d < bound.rank(); ++d)
        bound[d] = &tuple == &listing->tuples.front() ? tuple.tiles[c].shape[d]
                                                      : std::max(bound[d], tuple.tiles[c].shape[d]);
  }
  listing->type.presence = first_hole(listing->tuples, listing->type.frontier)
                               ? Presence::partial
                               : Presence::continuous;
  const bool no_payload = payload.empty();
  TileSource source = [cells, no_payload](const Key& at) {
    if (no_payload) return std::vector<Tile>{Tile::scalar(true)};
    std::vector<Tile> tiles;
    for (const Cell& cell : cells->at(at)) tiles.push_back(cell.tile());
    return tiles;
  };
  // Rows that processes have made each for itself are compared as a whole.
  SourceFacts facts;
  if (cluster_info(run).size > 1)
    for (const auto& tuple : listing->tuples)
      for (const Cell& cell : (*cells)[tuple.key])
        if (cell.stored() == nullptr)
          facts.version = facts.version * 1099511628211u + hash_of(cell.tile());
  table.plan = Plan::input(listing, std::move(source),
                           rows.schema.empty() ? "" : rows.schema[0].table, facts);
  return table;
}

Rows rows_of(const Table& table, Dictionary& dictionary, const std::stop_token& stop) {
  const auto* input = std::get_if<op::Input>(&operator_of(table.plan));
  TESSERA_INVARIANT(input != nullptr && (input->relation || input->source),
                    "a table that has not been computed");
  auto source = std::make_shared<const TileSource>(
      input->relation ? TileSource([relation = *input->relation](const Key& at) {
        return relation.find(at)->tiles;
      })
                      : input->source);
  bool has_scalars = false;
  for (std::size_t c = 0; c < table.origins.size(); ++c)
    has_scalars = has_scalars || (std::holds_alternative<int>(table.origins[c]) &&
                                  !is_tensor(table.schema[c].type));
  Rows result{table.schema, {}};
  std::vector<std::int64_t> codes;
  const auto add = [&](const Key& at, const std::vector<TileType>& types) {
    refuse_if_stopped(stop, "reading rows");
    look_at_memory("the rows of a table");
    std::vector<Tile> tiles;
    if (has_scalars) tiles = (*source)(at);
    Row row;
    for (std::size_t c = 0; c < table.origins.size(); ++c) {
      if (const auto* expression = std::get_if<KeyExpr>(&table.origins[c])) {
        row.push_back(Cell::of(expression->evaluate(at)));
        continue;
      }
      const int column = std::get<int>(table.origins[c]);
      if (is_tensor(table.schema[c].type))
        row.push_back(StoredTile{source, at, column, types[column]});
      else
        row.push_back(tiles[column]);
      if (is_text(table.schema[c].type)) codes.push_back(tiles[column].at<std::int64_t>({}));
    }
    result.rows.push_back(std::move(row));
  };
  if (input->relation)
    for (const Tuple& tuple : input->relation->tuples()) {
      std::vector<TileType> types;
      for (const Tile& tile : tuple.tiles) types.push_back(tile.type());
      add(tuple.key, types);
    }
  else
    for_each_tuple(*input, [&](const BasicTuple<TileType>& tuple) { add(tuple.key, tuple.tiles); });

  if (codes.empty()) return result;
  const std::vector<std::string> texts = dictionary.texts(codes);
  std::size_t next = 0;
  for (Row& row : result.rows) {
    refuse_if_stopped(stop, "reading rows");
    for (std::size_t c = 0; c < table.schema.size(); ++c)
      if (is_text(table.schema[c].type)) row[c] = Cell(texts[next++]);
  }
  return result;
}

}  // namespace tessera::query
