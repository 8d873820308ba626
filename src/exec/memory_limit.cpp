#include "exec/memory_limit.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

#include "base/bytes.h"
#include "base/check.h"

namespace tessera::exec {
namespace {

constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();

/// A file that holds a number, or a word where there is no limit.
std::int64_t limit_in(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::int64_t bytes = 0;
  return in >> bytes && bytes > 0 ? bytes : unlimited;
}

/// The least limit of the control groups this process is in, of both versions: each group is
/// bounded by those around it.
std::int64_t group_limit() {
  std::int64_t least = unlimited;
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const bool unified = controllers.empty();
    if (!unified && controllers.find("memory") == std::string::npos) continue;
    const std::filesystem::path root = unified ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory";
    const char* name = unified ? "memory.max" : "memory.limit_in_bytes";
    std::filesystem::path group = line.substr(second + 1);
    for (;; group = group.parent_path()) {
      least = std::min(least, limit_in(root / group.relative_path() / name));
      if (!group.has_relative_path()) break;
    }
  }
  return least;
}

std::int64_t limit_of(const char* said) {
  std::int64_t bytes = 0;
  try {
    bytes = parse_bytes(said);
  } catch (const TypeError& error) {
    throw TypeError(fmt::format("TESSERA_MEMORY_LIMIT in the environment: {}", error.what()));
  }
  TESSERA_REQUIRE(TypeError, bytes > 0,
                  "TESSERA_MEMORY_LIMIT in the environment is '{}', but must be greater than 0: "
                  "write 512MB or 2GiB, or unset it for 80% of the memory of the system",
                  said);
  return bytes;
}

}  // namespace

std::int64_t machine_memory() {
  static const std::int64_t bytes =
      std::min(static_cast<std::int64_t>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGE_SIZE),
               group_limit());
  return bytes;
}

std::int64_t default_memory_limit() {
  if (const char* said = std::getenv("TESSERA_MEMORY_LIMIT"); said != nullptr && *said != '\0')
    return limit_of(said);
  return machine_memory() / 10 * 8;
}

}  // namespace tessera::exec
