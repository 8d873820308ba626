#pragma once

#include "exec/accelerator.h"
#include "exec/engine.h"

namespace tessera::exec {

/// All sites are in this process. Each lies on the host, or on an accelerator.
class LocalEngine final : public Engine {
 public:
  /// `accelerators`: by site; none, as of the sites after these: the host.
  explicit LocalEngine(std::vector<std::shared_ptr<Accelerator>> accelerators = {})
      : accelerators_(std::move(accelerators)) {}

  std::vector<std::vector<Tuple>> run(Prepared run, const TupleSink& sink,
                                      std::vector<RunObserver*> observers) override;

 private:
  std::vector<std::shared_ptr<Accelerator>> accelerators_;
};

}  // namespace tessera::exec
