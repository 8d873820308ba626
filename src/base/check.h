#pragma once

#include <fmt/format.h>

#include "tessera/error.h"

// Two kinds of checks. Both print the values involved, neither is ever compiled out, and both are
// macros because the values must not be turned into text unless the check fails.

/// A condition the user is responsible for: fails with an error of the given kind.
#define TESSERA_REQUIRE(Kind, condition, ...)               \
  do {                                                      \
    if (!(condition)) throw Kind(fmt::format(__VA_ARGS__)); \
  } while (false)

/// A condition we are responsible for: its failure is a bug in Tessera.
#define TESSERA_INVARIANT(condition, ...)                                                          \
  do {                                                                                             \
    if (!(condition))                                                                              \
      throw ::tessera::InternalError(fmt::format("{}:{}: {} does not hold: {}", __FILE__,          \
                                                 __LINE__, #condition, fmt::format(__VA_ARGS__))); \
  } while (false)
