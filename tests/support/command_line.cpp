#include "support/command_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace tessera {
namespace {

bool store(std::string_view text, std::string* into) {
  *into = text;
  return true;
}

template <class Number>
bool store(std::string_view text, Number* into) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *into);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

bool read_command_line(int count, char** arguments, const std::vector<ProgramOption>& options) {
  const auto refused = [&](const std::string& why) {
    std::string usage = arguments[0];
    for (const auto& [name, into] : options)
      usage += fmt::format(" [--{} {}]", name,
                           std::holds_alternative<std::string*>(into) ? "TEXT" : "NUMBER");
    fmt::print("{}\n{}\n", why, usage);
    return false;
  };
  for (int i = 1; i < count; i += 2) {
    const std::string_view written = arguments[i];
    const auto known = std::find_if(options.begin(), options.end(), [&](const auto& option) {
      return written.starts_with("--") && written.substr(2) == option.first;
    });
    if (known == options.end()) return refused(fmt::format("there is no option {}", written));
    if (i + 1 == count) return refused(fmt::format("{} wants a value", written));
    const std::string_view value = arguments[i + 1];
    if (!std::visit([&](auto* into) { return store(value, into); }, known->second))
      return refused(fmt::format("{} is no value for {}", value, written));
  }
  return true;
}

}  // namespace tessera
