#include "base/bytes.h"

#include <charconv>
#include <cmath>

#include "base/check.h"

namespace tessera {

std::int64_t parse_bytes(std::string_view text) {
  double number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  std::string unit;
  for (const char* at = rest; at != text.data() + text.size(); ++at)
    if (*at != ' ') unit += static_cast<char>(std::tolower(static_cast<unsigned char>(*at)));
  constexpr std::string_view steps = "kmgtp";
  double factor = 1;
  bool known = error == std::errc() && number >= 0;
  if (known && !unit.empty() && unit != "b") {
    const std::size_t power = steps.find(unit[0]);
    const std::string_view ending = std::string_view(unit).substr(1);
    known = power != std::string_view::npos && (ending.empty() || ending == "b" || ending == "ib");
    factor = std::pow(ending == "ib" ? 1024.0 : 1000.0, static_cast<double>(power + 1));
  }
  TESSERA_REQUIRE(TypeError, known && number * factor < 9e18,
                  "'{}' is no number of bytes: write 512MB, 2GiB or 1000000", text);
  return static_cast<std::int64_t>(number * factor);
}

std::string bytes_text(std::int64_t bytes) {
  constexpr const char* units[] = {"bytes", "kB", "MB", "GB", "TB", "PB"};
  auto number = static_cast<double>(bytes);
  int unit = 0;
  for (; number >= 1000 && unit < 5; ++unit) number /= 1000;
  return unit == 0 ? fmt::format("{} bytes", bytes)
                   : fmt::format("{:.{}f} {}", number,
                                 number < 9.995   ? 2
                                 : number < 99.95 ? 1
                                                  : 0,
                                 units[unit]);
}

}  // namespace tessera
