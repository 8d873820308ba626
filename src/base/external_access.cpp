#include "tessera/external_access.h"

#include <algorithm>

#include "base/check.h"

namespace tessera {
namespace {

namespace fs = std::filesystem;

bool is_in(const fs::path& file, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), file.begin(), file.end()).first ==
         folder.end();
}

}  // namespace

ExternalAccess ExternalAccess::off() { return only({}); }

ExternalAccess ExternalAccess::only(const std::vector<fs::path>& folders) {
  std::vector<fs::path> real;
  for (const fs::path& folder : folders) {
    std::error_code error;
    fs::path found = fs::canonical(folder, error);
    TESSERA_REQUIRE(IoError, !error && fs::is_directory(found, error),
                    "external_access: {} is not an existing folder", folder.string());
    real.push_back(std::move(found));
  }
  ExternalAccess access;
  access.limits_.push_back(std::move(real));
  return access;
}

ExternalAccess ExternalAccess::parse(std::string_view text) {
  if (text == "on") return on();
  if (text == "off") return off();
  std::vector<fs::path> folders;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(':', at), text.size());
    TESSERA_REQUIRE(
        TypeError, end > at,
        "external_access must be on, off, or a list of folders separated by colons, not '{}'",
        text);
    folders.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return only(folders);
}

ExternalAccess ExternalAccess::and_only(const ExternalAccess& other) const {
  ExternalAccess both = *this;
  if (*this == other) return both;
  both.limits_.insert(both.limits_.end(), other.limits_.begin(), other.limits_.end());
  return both;
}

bool ExternalAccess::allows(const fs::path& real) const {
  return std::all_of(limits_.begin(), limits_.end(), [&](const std::vector<fs::path>& folders) {
    return std::any_of(folders.begin(), folders.end(),
                       [&](const fs::path& folder) { return is_in(real, folder); });
  });
}

std::string ExternalAccess::to_string() const {
  if (is_on()) return "on";
  // Of several limits those folders count that lie in a folder of each of the others.
  std::vector<std::string> folders;
  for (const auto& limit : limits_)
    for (const fs::path& folder : limit)
      if (allows(folder) && std::find(folders.begin(), folders.end(), folder) == folders.end())
        folders.push_back(folder.string());
  return folders.empty() ? "off" : fmt::format("{}", fmt::join(folders, ":"));
}

}  // namespace tessera
