#pragma once

#include <optional>

#include "kernel/form/term.h"

namespace tessera::query {

/// A position that is first + step times an index; without an index, first alone.
struct Place {
  std::int64_t first = 0, step = 1;
  int index = -1;
  friend bool operator==(const Place&, const Place&) = default;
};
/// Nothing if a position is something else.
std::optional<Place> place_of(const Term& at);

}  // namespace tessera::query
