#include "base/bytes.h"

#include <charconv>
#include <cmath>
#include <limits>

#include "base/check.h"

namespace tessera {

namespace {

/// What a unit of bytes is worth; 0 if it is none.
double worth(const std::string& unit) {
  if (unit.empty() || unit == "b") return 1;
  constexpr std::string_view steps = "kmgtpe";
  const std::size_t power = steps.find(unit[0]);
  const std::string_view ending = std::string_view(unit).substr(1);
  if (power == std::string_view::npos || !(ending.empty() || ending == "b" || ending == "ib"))
    return 0;
  return std::pow(ending == "ib" ? 1024.0 : 1000.0, static_cast<double>(power + 1));
}

}  // namespace

std::int64_t parse_bytes(std::string_view text) {
  const char* const end = text.data() + text.size();
  double number = 0;
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  std::string unit;
  for (const char* at = rest; at != end; ++at)
    if (*at != ' ') unit += static_cast<char>(std::tolower(static_cast<unsigned char>(*at)));
  const double factor = worth(unit);
  TESSERA_REQUIRE(TypeError, error == std::errc() && number >= 0 && factor > 0,
                  "'{}' is not a number of bytes: write 512MB, 2GiB or 1000000", text);
  // A double has too few digits for some of the numbers that can be counted.
  std::int64_t whole = 0;
  const auto digits = std::from_chars(text.data(), end, whole);
  if (digits.ec == std::errc() && digits.ptr == rest && factor == 1) return whole;
  TESSERA_REQUIRE(TypeError, number * factor < 9.2e18,
                  "'{}' is too large: at most {} bytes are supported", text,
                  std::numeric_limits<std::int64_t>::max());
  return static_cast<std::int64_t>(number * factor);
}

std::int64_t parse_memory_limit(std::string_view text) {
  const std::int64_t bytes = parse_bytes(text);
  TESSERA_REQUIRE(TypeError, bytes > 0,
                  "'{}' is not a valid memory limit: it must be greater than 0, such as 512MB or "
                  "2GiB; the default is 80% of the memory of the system",
                  text);
  return bytes;
}

std::string bytes_text(std::int64_t bytes) {
  constexpr const char* units[] = {"bytes", "kB", "MB", "GB", "TB", "PB", "EB"};
  auto number = static_cast<double>(bytes);
  int unit = 0;
  for (; number >= 1000 && unit < 6; ++unit) number /= 1000;
  return unit == 0 ? fmt::format("{} byte{}", bytes, bytes == 1 ? "" : "s")
                   : fmt::format("{:.{}f} {}", number,
                                 number < 9.995   ? 2
                                 : number < 99.95 ? 1
                                                  : 0,
                                 units[unit]);
}

std::string hexadecimal(std::string_view bytes) {
  constexpr const char* digits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const char byte : bytes) {
    text += digits[static_cast<unsigned char>(byte) >> 4];
    text += digits[static_cast<unsigned char>(byte) & 15];
  }
  return text;
}

std::string from_hexadecimal(std::string_view text) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::string bytes;
  bytes.reserve(text.size() / 2);
  for (std::size_t i = 0; i + 1 < text.size(); i += 2)
    bytes += static_cast<char>(digit(text[i]) << 4 | digit(text[i + 1]));
  return bytes;
}

}  // namespace tessera
