#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <variant>

#include "tessera/error.h"

namespace tessera::store {

/// An integer of JSON within bounds. The library turns anything that is a number into one, though
/// it does not fit.
inline std::int64_t integer_of(const nlohmann::json& value, std::int64_t least = INT64_MIN,
                               std::int64_t most = INT64_MAX) {
  const bool fits = value.is_number_unsigned()
                        ? value.get<std::uint64_t>() <= static_cast<std::uint64_t>(INT64_MAX)
                        : value.is_number_integer();
  if (!fits || value.get<std::int64_t>() < least || value.get<std::int64_t>() > most)
    throw IoError("a number is missing or out of range");
  return value.get<std::int64_t>();
}

/// What `read` makes of a text that a database keeps, and anybody may have written: IoError that
/// says whose it is if it cannot be read, whatever is wrong with it.
template <class Read>
auto read_stored(const std::string& whose, const Read& read) {
  const auto unreadable = [&](const char* why) {
    return IoError(fmt::format(
        "cannot read the definition of {}: {}; restore it from a copy, or drop it", whose, why));
  };
  try {
    return read();
  } catch (const OutOfMemory&) {
    throw;
  } catch (const Interrupted&) {
    throw;
  } catch (const Error& error) {
    throw unreadable(error.what());
  } catch (const nlohmann::json::exception& error) {
    throw unreadable(error.what());
  } catch (const std::logic_error& error) {  // of numbers in a text
    throw unreadable(error.what());
  } catch (const std::bad_variant_access& error) {
    throw unreadable(error.what());
  }
}

}  // namespace tessera::store
