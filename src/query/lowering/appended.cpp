#include <algorithm>
#include <unordered_map>

#include "base/stop.h"
#include "query/lowering/table.h"

namespace tessera::query {

std::optional<Relation> appended(const Table& table, const Rows& rows, Dictionary& dictionary) {
  const int arity = table.plan.type().arity();
  std::vector<int> key_columns(static_cast<std::size_t>(arity), -1);
  std::vector<std::vector<Tile>> payload(table.plan.type().columns.size());
  for (int c = 0; std::cmp_less(c, table.origins.size()); ++c) {
    const auto* of_key = std::get_if<KeyExpr>(&table.origins[c]);
    if (of_key == nullptr) {
      payload[std::get<int>(table.origins[c])] = tiles_of(rows, c, dictionary);
      continue;
    }
    for (int d = 0; d < arity; ++d)
      if (equal(*of_key, key(d))) key_columns[d] = c;
  }
  // Components that no column shows: none, or the last one, which counts rows that look the same.
  const bool counts = arity > 0 && key_columns[arity - 1] < 0;
  const int shown = counts ? arity - 1 : arity;
  if (std::any_of(key_columns.begin(), key_columns.begin() + shown, [](int c) { return c < 0; }))
    return std::nullopt;
  for (const std::vector<Tile>& column : payload)
    if (column.size() != rows.rows.size()) return std::nullopt;

  std::unordered_map<Key, std::int64_t, KeyHash> next;
  const auto& input = std::get<op::Input>(operator_of(table.plan));
  if (!input.listing) return std::nullopt;
  for (const auto& tuple : input.listing->tuples) {
    refuse_if_stopped("appending rows; nothing was stored");
    std::int64_t& after = next[Key(tuple.key.begin(), tuple.key.begin() + shown)];
    after = std::max(after, counts ? tuple.key[shown] + 1 : 1);
  }
  std::vector<Tuple> tuples;
  for (std::size_t r = 0; r < rows.rows.size(); ++r) {
    refuse_if_stopped("appending rows; nothing was stored");
    Tuple tuple;
    for (int d = 0; d < shown; ++d) {
      const std::int64_t value = rows.rows[r][key_columns[d]].integer();
      if (value < 0 || value >= largest_component) return std::nullopt;
      tuple.key.push_back(value);
    }
    const std::int64_t before = next[tuple.key]++;
    if (!counts && before > 0) return std::nullopt;
    if (counts) tuple.key.push_back(before);
    for (const std::vector<Tile>& column : payload) tuple.tiles.push_back(column[r]);
    tuples.push_back(std::move(tuple));
  }
  return Relation::of(std::move(tuples), Presence::partial);
}

}  // namespace tessera::query
