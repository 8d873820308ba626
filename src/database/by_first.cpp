#include "database/by_first.h"

#include "base/check.h"
#include "database/outcome.h"

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

std::string by_first(exec::Engine& engine, const std::string& statement,
                     const std::function<std::string()>& work) {
  if (engine.processes() == 1) return work();
  if (engine.rank() != 0) {
    (void)engine.to_first(statement);
    const Outcome outcome = outcome_of(engine.from_first(""));
    if (outcome.failed()) rethrow(outcome);
    return outcome.result;
  }
  Outcome outcome;
  std::exception_ptr error;
  try {
    compare(engine.to_first(statement));
    outcome.result = work();
  } catch (...) {
    error = std::current_exception();
    outcome = failure_of(error);
  }
  (void)engine.from_first(to_text(outcome));
  if (error) std::rethrow_exception(error);
  return outcome.result;
}

}  // namespace tessera
