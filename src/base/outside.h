#pragma once

#include <memory>
#include <string>

#include "base/file.h"
#include "tessera/external_access.h"

namespace tessera {

// The one seam through which statements come to files and servers that are not the database's own.
// What they may not reach is an IoError that says so.

/// A file that is read. Where not everything may be, it was found once and stays the same: whoever
/// puts another one, or a link, in the place of its name meanwhile does not change what is read.
struct InputFile {
  std::string name;                         // as it was given, for errors
  std::string path;                         // that is opened, as often as one likes
  std::shared_ptr<const void> pinned = {};  // keeps the path what it is
};
/// A pipe or a device is refused: several threads read a file, at several places, some of them
/// twice.
InputFile input_file(const std::string& name, const ExternalAccess& access);
File open_to_read(const InputFile& input);

/// The folder that a file is written into, which stays the same in the same way.
struct OutputFolder {
  std::filesystem::path real;               // without links
  std::filesystem::path path;               // that is used
  std::shared_ptr<const void> pinned = {};  // keeps the path what it is
};
OutputFolder output_folder(const std::filesystem::path& folder, const std::string& file,
                           const ExternalAccess& access);
/// Refuses a file that lies elsewhere, before anybody looks at it.
void require_output(const std::string& file, const ExternalAccess& access);
/// Refuses what is no file, as a pipe, a device or an open descriptor, unless everything is
/// allowed.
void require_all_outputs(const std::string& file, const ExternalAccess& access);

/// Refuses servers unless everything is allowed.
void require_servers(const ExternalAccess& access);

}  // namespace tessera
