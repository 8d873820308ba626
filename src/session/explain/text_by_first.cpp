#include "session/explain/text_by_first.h"

#include "database/by_first.h"
#include "database/outcome.h"
#include "lang/location.h"

namespace tessera::session {

std::string text_by_first(exec::Engine& engine, const std::string& statement,
                          const std::function<std::string()>& make) {
  if (engine.processes() == 1) return make();
  // What travels with an error as its column is, here, how far it is from the text's beginning.
  const tessera::Outcome made = tessera::outcome_of(by_first(engine, statement, [&] {
    try {
      return tessera::to_text(tessera::Outcome{.result = make()});
    } catch (const lang::ErrorAt& error) {
      return tessera::to_text(tessera::Outcome{
          .kind = error.kind(), .message = error.what(), .column = error.location.offset});
    }
  }));
  if (made.failed()) lang::at_location(lang::Location{made.column}, [&] { rethrow(made); });
  return made.result;
}

}  // namespace tessera::session
