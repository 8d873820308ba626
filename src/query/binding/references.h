#pragma once

#include "lang/sql/ast.h"

namespace tessera::query {

/// The tables that a query reads in its FROM clauses, subqueries included, in the order in which
/// the binder meets them; those that it defines itself by WITH are none of them.
std::vector<const sql::TableReference*> references_in(const sql::Query& query);

}  // namespace tessera::query
