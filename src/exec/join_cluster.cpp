#include <dlfcn.h>

#include <cstdlib>
#include <stdexcept>

#include "base/check.h"
#include "base/plug_in.h"
#include "exec/cluster.h"
#include "exec/context.h"
#include "tessera/cluster.h"

// How a process comes to belong to a cluster: the launcher leaves marks in its environment, and a
// plug-in is loaded that knows the launcher's library. Without the marks nothing is loaded, so that
// a program runs where no such library is installed.

namespace tessera::exec {
namespace {

constexpr const char* plug_in = "libtessera_mpi.so";

bool was_launched() {
  const char* engine = std::getenv("TESSERA_ENGINE");
  if (engine != nullptr && std::string(engine) == "local") return false;
  if (engine != nullptr && std::string(engine) == "mpi") return true;
  for (const char* mark : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK"})
    if (std::getenv(mark) != nullptr) return true;
  return false;
}

/// Seconds, of which the environment may say how many.
double default_cluster_timeout() {
  const char* said = std::getenv("TESSERA_CLUSTER_TIMEOUT");
  if (said == nullptr || *said == '\0') return 300;
  char* end = nullptr;
  const double seconds = std::strtod(said, &end);
  TESSERA_REQUIRE(ValueError, *end == '\0' && seconds > 0 && seconds < 1e9,
                  "TESSERA_CLUSTER_TIMEOUT must be a number of seconds, not '{}'", said);
  return seconds;
}

std::unique_ptr<Cluster> join() {
  if (!was_launched()) return nullptr;
  const PlugIn found = load_plug_in(plug_in, RTLD_NOW | RTLD_GLOBAL);
  TESSERA_REQUIRE(IoError, found.error.empty(), "{}", found.error);
  TESSERA_REQUIRE(IoError, found.library != nullptr,
                  "this process was started by mpirun, but {} was not found; looked in{}\nset "
                  "TESSERA_PLUGINS to its folder, or TESSERA_ENGINE=local to run each process by "
                  "itself",
                  plug_in, found.looked);
  const auto open = reinterpret_cast<OpenWire>(dlsym(found.library, open_wire_symbol));
  TESSERA_REQUIRE(IoError, open != nullptr, "{} is not a plug-in of this program", plug_in);
  try {
    const double timeout = default_cluster_timeout();
    return std::make_unique<Cluster>(std::unique_ptr<Wire>(open(timeout)), timeout);
  } catch (const Error&) {
    throw;
  } catch (const std::runtime_error& error) {
    throw ClusterError(error.what());
  }
}

}  // namespace

Cluster* cluster_of_process() {
  static const std::unique_ptr<Cluster> joined = join();
  return joined.get();
}

}  // namespace tessera::exec

namespace tessera {

void set_cluster_timeout(double seconds, const RunOptions& options) {
  TESSERA_REQUIRE(ValueError, seconds >= 0 && seconds < 1e9,
                  "cluster_timeout must be greater than 0, or 0 for the default, not {}", seconds);
  exec::engine_of(options)->set_timeout(seconds > 0 ? seconds : exec::default_cluster_timeout());
}

double cluster_timeout(const RunOptions& options) {
  const std::optional<double> seconds = exec::engine_of(options)->timeout();
  return seconds ? *seconds : exec::default_cluster_timeout();
}

}  // namespace tessera
