#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace tessera {

/// Which files and servers statements may read from and write to, besides the files of the database
/// itself: all of them, none, or files in some folders and no servers.
class ExternalAccess {
 public:
  ExternalAccess() = default;  // on
  static ExternalAccess on() { return {}; }
  static ExternalAccess off();
  /// The files in these folders, and in those below them. IoError if one is no folder.
  static ExternalAccess only(const std::vector<std::filesystem::path>& folders);
  /// "on", "off", or folders with a colon between them.
  static ExternalAccess parse(std::string_view text);
  /// What both allow.
  ExternalAccess and_only(const ExternalAccess& other) const;

  bool is_on() const { return limits_.empty(); }
  /// Whether a file may be opened, by a path in which there are no links and no dots.
  bool allows(const std::filesystem::path& real) const;
  std::string to_string() const;  // as it is parsed
  friend bool operator==(const ExternalAccess&, const ExternalAccess&) = default;

 private:
  /// A file must lie in one of the folders of each of these: with none all may be opened, with one
  /// of no folders nothing.
  std::vector<std::vector<std::filesystem::path>> limits_;
};

}  // namespace tessera
