#include <fmt/format.h>

#include "lang/sql/printer.h"
#include "lang/sql/printing.h"

namespace tessera::sql {
namespace {

std::string_view spelling(ObjectKind kind) {
  switch (kind) {
    case ObjectKind::table: return "TABLE ";
    case ObjectKind::tensor: return "TENSOR ";
    case ObjectKind::view: break;
  }
  return "VIEW ";
}

std::string_view spelling(DType element) {
  switch (element) {
    case DType::f32: return "FLOAT";
    case DType::f64: return "DOUBLE";
    case DType::i64: return "BIGINT";
    case DType::boolean: break;
  }
  return "BOOLEAN";
}

}  // namespace

std::string to_string(const Statement& statement) {
  Printer printer;
  printer.print(statement);
  return printer.take();
}

void Printer::print(const Statement& statement) {
  std::visit([&](const auto& node) { form(node); }, statement.node);
}

void Printer::form(const QueryPtr& query) { print(*query); }

void Printer::form(const CreateTable& table) {
  add(table.or_replace ? "CREATE OR REPLACE TABLE " : "CREATE TABLE ");
  if (table.if_not_exists) add("IF NOT EXISTS ");
  add_name(table.name);
  print_indices(table.indices);
  if (!table.columns.empty() || !table.primary_key.empty()) {
    add(" (");
    add_list(table.columns, [&](const ColumnDefinition& column) {
      add_name(column.name);
      if (!column.type) return;
      add(" ");
      add(to_string(*column.type));
    });
    if (!table.primary_key.empty()) {
      add(table.columns.empty() ? "PRIMARY KEY " : ", PRIMARY KEY ");
      add_names(table.primary_key);
    }
    add(")");
  }
  if (table.query) {
    add(" AS ");
    print(*table.query);
  }
}

void Printer::form(const CreateTensor& tensor) {
  add(tensor.or_replace ? "CREATE OR REPLACE TENSOR " : "CREATE TENSOR ");
  if (tensor.if_not_exists) add("IF NOT EXISTS ");
  add_name(tensor.name);
  for (const std::string& other : tensor.others) {
    add(", ");
    add_name(other);
  }
  if (tensor.shape) {
    add(" ");
    print_sizes(*tensor.shape);
  }
  if (tensor.element) {
    add(" OF ");
    add(spelling(*tensor.element));
  }
  if (tensor.file) {
    add(" FROM ");
    add_string(*tensor.file);
  }
  if (!tensor.options.empty()) {
    add(" WITH ");
    print_options(tensor.options);
  }
  if (tensor.tile) {
    add(" TILE ");
    print_sizes(*tensor.tile);
  }
  if (tensor.partition_by) {
    add(" PARTITION BY (");
    add_list(*tensor.partition_by, [&](int dimension) { add(fmt::format("{}", dimension)); });
    add(")");
  }
  if (tensor.is_virtual) add(" VIRTUAL");
  if (tensor.expression) {
    add(" AS ");
    print(*tensor.expression);
  }
  if (tensor.program) {
    add(" AS ");
    print(tensor.program->steps);
  }
}

void Printer::form(const CreateView& view) {
  add("CREATE VIEW ");
  add_name(view.name);
  if (!view.columns.empty()) {
    add(" ");
    add_names(view.columns);
  }
  add(" AS ");
  print(*view.query);
}

void Printer::form(const Insert& insert) {
  add("INSERT INTO ");
  add_name(insert.table);
  add(" ");
  if (!insert.columns.empty()) {
    add_names(insert.columns);
    add(" ");
  }
  print(*insert.query);
}

void Printer::form(const Copy& copy) {
  add("COPY ");
  if (copy.query) {
    add("(");
    print(*copy.query);
    add(")");
  } else {
    add_name(copy.table);
  }
  add(copy.from ? " FROM " : " TO ");
  add_string(copy.file);
  if (copy.options.empty()) return;
  add(" WITH ");
  print_options(copy.options);
}

void Printer::form(const Drop& drop) {
  add("DROP ");
  add(spelling(drop.kind));
  if (drop.if_exists) add("IF EXISTS ");
  add_name(drop.name);
  print_indices(drop.indices);
}

void Printer::form(const Rename& rename) {
  add("ALTER ");
  add(spelling(rename.kind));
  add_name(rename.from);
  add(" RENAME TO ");
  add_name(rename.to);
}

void Printer::form(const Describe& describe) {
  add("DESCRIBE ");
  add_name(describe.name);
}

void Printer::form(const Show& show) {
  add("SHOW ");
  for (const char c : show.what) text_ += c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
}

void Printer::form(const DropJob& drop) {
  add("DROP JOB ");
  if (drop.if_exists) add("IF EXISTS ");
  add_name(drop.name);
}

void Printer::form(const Set& set) {
  add(set.value ? "SET " : "RESET ");
  add_name(set.name);
  if (!set.value) return;
  add(" = ");
  print(*set.value);
}

void Printer::form(const Checkpoint&) { add("CHECKPOINT"); }

void Printer::form(const Vacuum&) { add("VACUUM"); }

void Printer::form(const Materialize& materialize) {
  add("MATERIALIZE ");
  print(materialize.table);
}

void Printer::form(const Execute& execute) {
  add("EXECUTE ");
  print_items(execute.items);
}

void Printer::form(const std::shared_ptr<const Loop>& loop) {
  add("FOR ");
  add_name(loop->variable);
  add(" IN ");
  print(*loop->from);
  add("...");
  print(*loop->to);
  add(": ");
  if (loop->body.size() != 1) return print_items(loop->body);
  const std::size_t begin = text_.size();
  std::visit([&](const auto& item) { form(item); }, loop->body.front());
  if (text_[begin] != '(') return;  // after a colon these would be the loop's own
  text_.insert(begin, "(");
  add(")");
}

void Printer::print_items(const std::vector<ExecuteItem>& items) {
  add("(");
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) add("; ");
    std::visit([&](const auto& item) { form(item); }, items[i]);
  }
  add(")");
}

void Printer::form(const Explain& explain) {
  add(explain.analyze ? "EXPLAIN ANALYZE " : "EXPLAIN ");
  if (!explain.options.empty()) {
    print_options(explain.options);
    add(" ");
  }
  print(*explain.statement);
}

void Printer::print_options(const Options& options) {
  add("(");
  add_list(options, [&](const auto& option) {
    add_name(option.first);
    add(" = ");
    print(*option.second);
  });
  add(")");
}

void Printer::print_sizes(const Shape& shape) {
  for (const std::int64_t size : shape) add(fmt::format("[{}]", size));
}

}  // namespace tessera::sql
