#include "lang/sql/program.h"
#include "support/random_sql_parts.h"

namespace tessera::sql {
namespace {

constexpr int depth = 3;

ExpressionPtr random_value(Random& random) { return random_expression(random, 1); }

Options random_options(Random& random) {
  Options options;
  for (const char* name : {"format", "sites", "order", "a b"})
    if (random.chance(0.3)) options.emplace_back(name, random_value(random));
  return options;
}

IndexPattern random_pattern(Random& random) {
  IndexPattern pattern;
  if (random.chance(0.5)) pattern.variable = random_name(random);
  pattern.from = random_value(random);
  if (random.chance(0.3))
    pattern.to = random_value(random);
  else
    pattern.unbounded = random.chance(0.5);
  return pattern;
}

CreateTable random_create_table(Random& random) {
  CreateTable table{random_name(random)};
  table.if_not_exists = random.chance(0.2);
  if (random.chance(0.5)) table.query = random_query(random, depth);
  table.indices = random_list(random, 0, 2, [&] { return random_pattern(random); });
  table.columns = random_list(random, table.query ? 0 : 1, 3, [&] {
    ColumnDefinition column{random_name(random)};
    if (!table.query || random.chance(0.5)) column.type = random_type(random);
    return column;
  });
  if (random.chance(0.3)) table.primary_key = random_names(random, 1, 2);
  table.or_replace = !table.if_not_exists && table.indices.empty() && random.chance(0.2);
  return table;
}

Steps random_steps(Random& random, int nesting);

decltype(Step::node) random_step(Random& random, int nesting) {
  switch (random.between(0, nesting > 0 ? 5 : 2)) {
    case 0: {
      Variable variable{random_name(random)};
      variable.extents =
          random_list(random, 0, 2, [&] { return random_expression(random, depth); });
      if (random.chance(0.3)) variable.element = static_cast<DType>(random.between(0, 3));
      if (random.chance(0.5) || variable.extents.empty())
        variable.value = random_expression(random, depth);
      return variable;
    }
    case 1: return Definition{random_name(random), random_expression(random, depth)};
    case 2: {
      static const std::vector<std::string> updates = {"",    "+",   "-",   "*", "/",
                                                       "min", "max", "and", "or"};
      return Assignment{random_name(random),
                        random_list(random, 0, 2, [&] { return random_expression(random, depth); }),
                        random.pick(updates), random_expression(random, depth)};
    }
    case 3:
      return ForLoop{random_name(random), random_expression(random, depth),
                     random_expression(random, depth),
                     random.chance(0.3) ? random_expression(random, depth) : nullptr,
                     random_steps(random, nesting - 1)};
    case 4: return WhileLoop{random_expression(random, depth), random_steps(random, nesting - 1)};
    default: break;
  }
  return Branch{random_expression(random, depth), random_steps(random, nesting - 1),
                random.chance(0.5) ? random_steps(random, nesting - 1) : Steps{}};
}

Steps random_steps(Random& random, int nesting) {
  return random_list(random, 1, 2, [&] {
    return std::make_shared<const Step>(Step{random_step(random, nesting), {}});
  });
}

CreateTensor random_create_tensor(Random& random) {
  CreateTensor tensor{random_name(random)};
  tensor.if_not_exists = random.chance(0.2);
  if (random.chance(0.3)) {
    tensor.others = random_names(random, 0, 2);
    tensor.program = std::make_shared<const Program>(Program{random_steps(random, 2)});
    if (random.chance(0.3)) tensor.tile = random_sizes(random, 1);
    return tensor;
  }
  const std::int64_t origin = random.between(0, 2);
  if (origin == 0) {
    tensor.file = "it's.npy";
    tensor.options = random_options(random);
  } else if (origin == 1) {
    tensor.expression = random_expression(random, depth);
  } else {
    tensor.is_virtual = true;
  }
  if (tensor.is_virtual || random.chance(0.3)) tensor.shape = random_sizes(random, 1);
  if (random.chance(0.3)) tensor.element = static_cast<DType>(random.between(0, 3));
  if (random.chance(0.3)) tensor.tile = random_sizes(random, 1);
  if (random.chance(0.3)) tensor.partition_by = std::vector<int>{0, 3};
  tensor.or_replace = !tensor.if_not_exists && !tensor.file && random.chance(0.2);
  return tensor;
}

Copy random_copy(Random& random) {
  Copy copy;
  copy.from = random.chance(0.5);
  if (!copy.from && random.chance(0.5))
    copy.query = random_query(random, depth);
  else
    copy.table = random_name(random);
  copy.file = "a file.csv";
  copy.options = random_options(random);
  return copy;
}

ExecuteItem random_execute_item(Random& random, int loops) {
  const std::int64_t kind = random.between(0, loops > 0 ? 2 : 1);
  if (kind == 0) return random_query(random, 2);
  if (kind == 1) return Materialize{random_version(random, 2, 0)};
  Loop loop{random_name(random), random_value(random), random_value(random), {}};
  loop.body = random_list(random, 1, 2, [&] { return random_execute_item(random, loops - 1); });
  return std::make_shared<const Loop>(std::move(loop));
}

ObjectKind random_kind(Random& random) { return static_cast<ObjectKind>(random.between(0, 2)); }

using Node = decltype(Statement::node);

Node random_node(Random& random, bool may_explain) {
  switch (random.between(0, may_explain ? 16 : 14)) {
    case 0: return random_create_table(random);
    case 1: return random_create_tensor(random);
    case 2:
      return CreateView{random_name(random), random_names(random, 0, 2),
                        random_query(random, depth)};
    case 3:
      return Insert{random_name(random), random_names(random, 0, 2), random_query(random, depth)};
    case 4: return random_copy(random);
    case 5: return Drop{random_kind(random), random_name(random), random.chance(0.5)};
    case 6: return Rename{random_kind(random), random_name(random), random_name(random)};
    case 7: return Describe{random_name(random)};
    case 8: return Show{random.chance(0.5) ? "tables" : "history"};
    case 9: return Set{random.chance(0.5) ? "threads" : "order", random_value(random)};
    case 10: return Set{"a b", nullptr};
    case 11:
      if (random.chance(0.3)) return DropJob{random_name(random), random.chance(0.5)};
      return random.chance(0.5) ? Node(Checkpoint{}) : Node(Vacuum{});
    case 12: return Materialize{random_version(random, depth, 0)};
    case 13:
      return Execute{random_list(random, 1, 2, [&] { return random_execute_item(random, 2); })};
    case 14: return random_query(random, depth + 1);
    default: break;
  }
  Explain explain{random.chance(0.5), random_options(random), nullptr};
  explain.statement =
      std::make_shared<const Statement>(Statement{random_node(random, false), {}, {}});
  return explain;
}

}  // namespace

StatementPtr random_statement(Random& random) {
  return std::make_shared<const Statement>(Statement{random_node(random, true), {}, {}});
}

}  // namespace tessera::sql
