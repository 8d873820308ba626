#include "query/versions/templates.h"

#include "lang/sql/printer.h"

namespace tessera::query {

const Template* Templates::find(const Reads& reads) const {
  const auto found = known_.find(reads);
  return found == known_.end() ? nullptr : found->second;
}

const Template* Templates::add(const NodePtr& root) {
  auto made = std::make_shared<Template>();
  made->root = root;
  std::string columns;
  for (const Column& column : root->schema)
    columns += column.name + " " + sql::to_string(column.type) + "\n";
  made->types = types_.emplace(columns, static_cast<int>(types_.size()) + 1).first->second;
  const auto visit = [&](const auto& self, const NodePtr& node) -> void {
    if (std::holds_alternative<Scan>(node->op) || made->number.contains(node.get())) return;
    for (const NodePtr& input : inputs_of(*node)) self(self, input);
    const int number = static_cast<int>(made->operators.size());
    made->number[node.get()] = number;
    made->operators.push_back(node);
  };
  visit(visit, root);
  made_.push_back(made);
  return made.get();
}

}  // namespace tessera::query
