#include <algorithm>
#include <filesystem>

#include "shell/completion.h"

namespace tessera::shell {

std::vector<std::string> files_that_begin(const std::string& name) {
  const std::size_t slash = name.rfind('/');
  const std::string folder = slash == std::string::npos ? "" : name.substr(0, slash + 1);
  const std::string beginning = name.substr(folder.size());
  std::vector<std::string> found;
  std::error_code error;  // a folder that cannot be read has nothing to offer
  for (std::filesystem::directory_iterator file(folder.empty() ? "." : folder, error), end;
       !error && file != end; file.increment(error)) {
    const std::string called = file->path().filename().string();
    const bool hidden = called.starts_with('.') && beginning.empty();
    if (hidden || !called.starts_with(beginning)) continue;
    std::error_code unknown;
    found.push_back(folder + called + (file->is_directory(unknown) ? "/" : ""));
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace tessera::shell
