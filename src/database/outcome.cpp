#include "database/outcome.h"

#include <nlohmann/json.hpp>

#include "base/check.h"

namespace tessera {

using nlohmann::json;

Outcome failure_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const ParseError& known) {
    return {known.kind(), known.what(), known.line, known.column};
  } catch (const Error& known) {
    return {known.kind(), known.what()};
  } catch (const std::bad_alloc&) {
    return {"OutOfMemory", "out of memory"};
  } catch (const std::exception& other) {
    return {"ClusterError", other.what()};
  } catch (...) {
    return {"ClusterError", "unknown error"};
  }
}

std::string to_text(const Outcome& outcome) {
  // A message may quote what is no UTF-8.
  return json{outcome.kind, outcome.message, outcome.line, outcome.column, outcome.result}.dump(
      -1, ' ', false, json::error_handler_t::replace);
}

Outcome outcome_of(const std::string& text) {
  const json said = json::parse(text);
  return {said.at(0), said.at(1), said.at(2), said.at(3), said.at(4)};
}

void rethrow(const Outcome& outcome) {
  const auto& [kind, message, line, column, result] = outcome;
  if (kind == "ParseError") throw ParseError(message, line, column);
  if (kind == "TypeError") throw TypeError(message);
  if (kind == "PlanError") throw PlanError(message);
  if (kind == "ValueError") throw ValueError(message);
  if (kind == "IoError") throw IoError(message);
  if (kind == "OutOfMemory") throw OutOfMemory(message);
  if (kind == "Interrupted") throw Interrupted(message);
  if (kind == "InternalError") throw InternalError(message);
  throw ClusterError(message);
}

}  // namespace tessera
