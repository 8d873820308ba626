#pragma once

#include "query/lowering/table.h"
#include "query/lowering/watcher.h"
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
  bool by_rows = false;        // every operator by definition: slow, and what the rest is held to
  Watcher* watcher = nullptr;  // or nobody
};

/// What an operator yields for its inputs. What can be a plan of the tensor relational algebra
/// becomes one, over the plans of its inputs, and is computed by whoever wants to look at it. Where
/// rows have to be looked at, plans of inputs are run for it, and stay computed; the watcher is
/// told.
Value evaluate(const Node& node, const std::vector<Value*>& inputs, Parameters parameters,
               Dictionary& dictionary, const Settings& settings);

/// The value as rows; a plan is run for it.
const Rows& as_rows(Value& value, Dictionary& dictionary, const Settings& settings);

/// Whether a plan's tuples can be read without computing anything.
bool is_at_hand(const Plan& plan);
/// The table computed: its plan is an input, whose tuples are at hand.
Table computed(const Table& table, const Settings& settings);

}  // namespace tessera::query
