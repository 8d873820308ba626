#include "support/random_sql_parts.h"

namespace tessera::sql {
namespace {

IndexRange random_range(Random& random, int depth) {
  IndexRange range;
  if (random.chance(0.3)) range.variable = random_name(random);
  range.from = random_expression(random, depth - 1);
  if (random.chance(0.6)) range.to = random_expression(random, depth - 1);
  return range;
}

TableReference random_table(Random& random, int depth) {
  TableReference table;
  switch (random.between(0, depth > 0 ? 2 : 1)) {
    case 0: table.source = random_version(random, depth, 0); break;
    case 1:
      table.source =
          UnionOfVersions{random_name(random),
                          random_list(random, 1, 2, [&] { return random_range(random, depth); })};
      break;
    default: table.source = Derived{random_query(random, depth - 1)};
  }
  if (random.chance(0.5)) {
    table.alias = random_name(random);
    table.column_aliases = random_names(random, 0, 2);
  }
  return table;
}

SelectItem random_select_item(Random& random, int depth) {
  SelectItem item;
  if (random.chance(0.2)) {
    const Star star{random.chance(0.5) ? random_name(random) : ""};
    item.expression = std::make_shared<const Expression>(Expression{star, {}});
    return item;
  }
  item.expression = random_expression(random, depth - 1);
  if (random.chance(0.5)) item.alias = random_name(random);
  return item;
}

Select random_select(Random& random, int depth) {
  Select select;
  select.distinct = random.chance(0.2);
  select.items = random_list(random, 1, 3, [&] { return random_select_item(random, depth); });
  select.from = random_list(random, 0, 3, [&] { return random_table(random, depth); });
  for (std::size_t i = 1; i < select.from.size(); ++i)
    if (random.chance(0.5)) select.from[i].on = random_expression(random, depth - 1);
  if (random.chance(0.3)) select.where = random_expression(random, depth - 1);
  if (random.chance(0.3))
    select.group_by =
        random_list(random, 1, 2, [&] { return random_expression(random, depth - 1); });
  if (random.chance(0.2)) select.having = random_expression(random, depth - 1);
  return select;
}

Values random_values(Random& random, int depth) {
  const int width = static_cast<int>(random.between(1, 3));
  return {random_list(random, 1, 3, [&] {
    return random_list(random, width, width, [&] { return random_expression(random, depth - 1); });
  })};
}

}  // namespace

TableName random_version(Random& random, int depth, int least_indices) {
  TableName table{random_name(random)};
  table.indices = random_list(random, least_indices, 2, [&] {
    IndexRange index;
    index.from = random_expression(random, depth - 1);
    return index;
  });
  return table;
}

QueryPtr random_query(Random& random, int depth) {
  Query query;
  if (random.chance(0.15))
    query.with = random_list(random, 1, 2, [&] {
      return CommonTable{random_name(random), random_names(random, 0, 2),
                         random_query(random, depth - 2)};
    });
  const std::int64_t kind = random.between(0, depth > 0 ? 5 : 3);
  if (kind < 3)
    query.body = random_select(random, depth);
  else if (kind == 3)
    query.body = random_values(random, depth);
  else
    query.body = UnionOf{random_query(random, depth - 1), random_query(random, depth - 1),
                         random.chance(0.5)};
  if (random.chance(0.15))
    query.order_by = random_list(random, 1, 2, [&] {
      return OrderItem{random_expression(random, depth - 1), random.chance(0.5)};
    });
  if (random.chance(0.15)) query.limit = random_expression(random, depth - 1);
  if (random.chance(0.15)) query.offset = random_expression(random, depth - 1);
  return std::make_shared<const Query>(std::move(query));
}

}  // namespace tessera::sql
