#pragma once

#include <fmt/format.h>

#include <utility>

#include "tessera/error.h"

namespace tessera {

/// A condition the user is responsible for. Fails with an error of the kind `E` whose message
/// prints the values involved; never compiled out.
template <class E, class... Args>
void require(bool condition, fmt::format_string<Args...> message, Args&&... args) {
  if (!condition) throw E(fmt::format(message, std::forward<Args>(args)...));
}

}  // namespace tessera

/// A condition we are responsible for: its failure is a bug in Tessera. Never compiled out.
#define TESSERA_INVARIANT(condition, ...)                                                    \
  do {                                                                                       \
    if (!(condition))                                                                        \
      throw ::tessera::InternalError(                                                        \
          fmt::format("{}:{}: {} does not hold: {}", __FILE__, __LINE__, #condition,         \
                      fmt::format(__VA_ARGS__)));                                            \
  } while (false)
