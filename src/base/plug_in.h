#pragma once

#include <string>

namespace tessera {

/// A library that is loaded when a program first needs what it does, so that programs run where
/// the libraries are missing that it needs itself. It stays loaded.
struct PlugIn {
  void* library = nullptr;  // as of dlopen; null if it was not found or cannot be loaded
  std::string looked;       // the paths that were tried, a line each
  std::string error;        // why one that exists cannot be loaded
};

/// Looks where the user says (TESSERA_PLUGINS), beside the library that we are in, where a build
/// leaves it, in the library's own folder there, where it is installed, and where the system looks.
PlugIn load_plug_in(const std::string& file, int dlopen_flags);

}  // namespace tessera
