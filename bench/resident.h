#pragma once

#include <cstdint>
#include <fstream>
#include <string>

namespace tessera::bench {

/// The most memory that the process has had at once.
inline std::int64_t peak_resident() {
  std::ifstream status("/proc/self/status");
  for (std::string text; std::getline(status, text);)
    if (text.starts_with("VmHWM:")) return std::stoll(text.substr(6)) * 1024;
  return 0;
}

}  // namespace tessera::bench
