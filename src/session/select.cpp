#include "session/computation.h"
#include "session/state.h"

namespace tessera {

StatementResult Session::State::query(const sql::QueryPtr& query) {
  session::StoredDefinitions catalogue(*snapshot);
  session::Computation computation = computation_of({{{query}}}, catalogue, true);
  session::Outcome outcome = outcome_of(computation, catalogue);
  query::Value& value = outcome.values.front();
  (void)query::as_rows(value, *texts, settings());
  StatementResult result{"SELECT", session::result_of(*std::exchange(value.rows, std::nullopt))};
  if (outcome.changes_something()) commit(outcome);
  return result;
}

}  // namespace tessera
