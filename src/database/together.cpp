#include "database/together.h"

#include "base/check.h"
#include "database/outcome.h"
#include "exec/cluster.h"

namespace tessera {
namespace {

void compare(const std::vector<std::string>& statements) {
  for (std::size_t rank = 1; rank < statements.size(); ++rank)
    TESSERA_REQUIRE(IoError, statements[rank] == statements[0],
                    "ranks 0 and {} execute different statements: {}, and {}; all processes must "
                    "execute the same plans and statements in the same order",
                    rank, statements[0], statements[rank]);
}

}  // namespace

std::string by_first(const std::string& statement, const std::function<std::string()>& work) {
  exec::Cluster* cluster = exec::cluster();
  if (cluster == nullptr) return work();
  if (cluster->rank() != 0) {
    (void)cluster->to_first(statement);
    const Outcome outcome = outcome_of(cluster->from_first(""));
    if (outcome.failed()) rethrow(outcome);
    return outcome.result;
  }
  Outcome outcome;
  std::exception_ptr error;
  try {
    compare(cluster->to_first(statement));
    outcome.result = work();
  } catch (...) {
    error = std::current_exception();
    outcome = failure_of(error);
  }
  (void)cluster->from_first(to_text(outcome));
  if (error) std::rethrow_exception(error);
  return outcome.result;
}

}  // namespace tessera
