#include "base/plug_in.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

namespace tessera {
namespace {

std::vector<std::filesystem::path> places() {
  std::vector<std::filesystem::path> result;
  if (const char* folder = std::getenv("TESSERA_PLUGINS")) result.emplace_back(folder);
  Dl_info ours{};
  if (dladdr(reinterpret_cast<const void*>(&load_plug_in), &ours) != 0 &&
      ours.dli_fname != nullptr) {
    std::error_code ignored;
    const auto library = std::filesystem::weakly_canonical(ours.dli_fname, ignored).parent_path();
    result.push_back(library);
    result.push_back(library / "tessera");
  }
  return result;
}

}  // namespace

PlugIn load_plug_in(const std::string& file, int dlopen_flags) {
  PlugIn found;
  for (const auto& folder : places()) {
    const auto path = folder / file;
    found.looked += "\n  " + path.string();
    if (!std::filesystem::exists(path)) continue;
    found.library = dlopen(path.c_str(), dlopen_flags);
    if (found.library == nullptr) found.error = path.string() + " cannot be loaded: " + dlerror();
    return found;
  }
  found.library = dlopen(file.c_str(), dlopen_flags);
  return found;
}

}  // namespace tessera
