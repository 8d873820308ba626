#include "base/quantities.h"

#include <fmt/format.h>

namespace tessera {

std::string sum_text(double value) {
  return value < 1e4 ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value);
}

std::string quantity_text(double value) { return value == 0 ? "-" : sum_text(value); }

std::string seconds_text(double seconds) {
  return seconds < 1e-3  ? fmt::format("{:.3g} us", seconds * 1e6)
         : seconds < 1.0 ? fmt::format("{:.3g} ms", seconds * 1e3)
                         : fmt::format("{:.3g} s", seconds);
}

}  // namespace tessera
