#pragma once

#include "tessera/run.h"

namespace tessera {

/// Seconds without a sign of life from another process of the cluster after which it is given up,
/// with a ClusterError, in all who wait for it, that names it and its machine. A process that
/// computes gives one each second; one that is stopped gives none. At first, and again with 0, it
/// is what TESSERA_CLUSTER_TIMEOUT in the environment says, or else 300. It belongs to the cluster
/// that the options name, or else this process is in, so that it holds for whatever waits; without
/// one it changes nothing.
void set_cluster_timeout(double seconds, const RunOptions& options = {});
double cluster_timeout(const RunOptions& options = {});

}  // namespace tessera
