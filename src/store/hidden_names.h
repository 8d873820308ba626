#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tessera::store {

// Relations that somebody keeps in a database besides those that users name: versions of tables,
// what jobs have computed. Their names have a room and begin with a character that no user's name
// may have, so that whatever users choose, it is not one of these.

inline constexpr char hidden_mark = '\x1f';

inline std::string hidden_name(std::string_view room, std::string_view name) {
  std::string hidden(1, hidden_mark);
  hidden += room;
  hidden += hidden_mark;
  hidden += name;
  return hidden;
}

inline bool is_hidden(std::string_view name) {
  return !name.empty() && name.front() == hidden_mark;
}

/// The name in a room; none if it is not one of that room.
inline std::optional<std::string> name_in(std::string_view room, std::string_view name) {
  const std::string prefix = hidden_name(room, "");
  if (!name.starts_with(prefix)) return std::nullopt;
  return std::string(name.substr(prefix.size()));
}

/// As messages show it.
inline std::string shown_name(const std::string& name) {
  if (!is_hidden(name)) return name;
  const std::size_t end = name.find(hidden_mark, 1);
  return end == std::string::npos ? name.substr(1) : name.substr(end + 1);
}

}  // namespace tessera::store
