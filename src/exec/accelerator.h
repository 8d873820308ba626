#pragma once

#include <exception>
#include <functional>

#include "tessera/kernel.h"

namespace tessera::exec {

/// A device with memory of its own that runs the tasks of a site. A value of that site is resident:
/// its tiles are tiles whose memory is the device's. The host passes them on and looks at none of
/// their elements, until they are copied back. All of it may be called by several threads at once.
class Accelerator {
 public:
  virtual ~Accelerator() = default;
  /// Which implementations of kernels run on it.
  virtual Device device() const = 0;
  /// The same tile in memory of the device, and of the host.
  virtual Tile to_device(const Tile& tile) = 0;
  virtual Tile to_host(const Tile& tile) = 0;
  /// Calls `launch`, which runs the kernels of a task or sets them going, and throws what they
  /// throw. When all of that is complete, `done` is called with the error, if there was one: by any
  /// thread, now or later. This need not wait for it. If it throws itself, it has called neither.
  using Done = std::function<void(std::exception_ptr)>;
  virtual void run(std::function<void()> launch, Done done) = 0;
};

}  // namespace tessera::exec
