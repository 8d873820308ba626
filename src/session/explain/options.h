#pragma once

#include <optional>

#include "lang/sql/ast.h"

namespace tessera::session {

/// How EXPLAIN is asked to tell it.
struct ExplainOptions {
  enum class Format { text, json, dot } format = Format::text;
  std::optional<int> sites = {};
  bool verbose = false;
};
ExplainOptions explain_options(const sql::Options& written);

}  // namespace tessera::session
