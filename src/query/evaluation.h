#pragma once

#include <map>

#include "query/table.h"
#include "tessera/run.h"

namespace tessera::query {

/// A table, in whichever form it is at hand: as a plan, as rows, or both.
struct Value {
  std::optional<Table> table = {};
  std::optional<Rows> rows = {};
};

/// How queries are evaluated.
struct Settings {
  RunOptions run = {};
  bool by_rows = false;  // every operator by definition: slow, and what the rest is held to
  /// Called with what is about to be computed, to be kept or thrown away.
  std::function<Relation(const Plan&)> compute = {};
};

/// The operators of a query over tables that are at hand. What can be a plan of the tensor
/// relational algebra becomes one, and is computed when rows have to be looked at, or in the end.
class Evaluation {
 public:
  Evaluation(std::vector<Value> inputs, Parameters parameters, Dictionary& dictionary,
             Settings settings)
      : inputs_(std::move(inputs)),
        parameters_(parameters.begin(), parameters.end()),
        dictionary_(dictionary),
        settings_(std::move(settings)) {}

  const Value& value(const NodePtr& node);
  /// As a plan; rows become an input of it.
  const Table& table(const NodePtr& node);
  /// As rows; plans are run for it.
  const Rows& rows(const NodePtr& node);

  /// Why operators were evaluated row by row.
  const std::map<const Node*, std::string>& reasons() const { return reasons_; }

 private:
  const Rows& as_rows(Value& value);
  const Table& as_table(Value& value, const std::vector<int>& keys = {});
  Value evaluated(const Node& node);

  std::vector<Value> inputs_;
  std::vector<std::int64_t> parameters_;
  Dictionary& dictionary_;
  Settings settings_;
  std::map<const Node*, Value> values_;
  std::map<const Node*, std::string> reasons_;
};

/// The table computed: its plan is an input, whose tuples are at hand.
Table computed(const Table& table, const Settings& settings);

}  // namespace tessera::query
