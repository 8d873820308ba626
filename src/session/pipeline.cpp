#include "session/pipeline.h"

#include "exec/prepare.h"
#include "optimizer/passes.h"

namespace tessera::session {

std::vector<PassInfo> pipeline() {
  std::vector<PassInfo> all = {unroll_pass, frame_pass, lower_pass};
  for (const optimizer::Pass& pass : optimizer::passes()) all.push_back(pass.info);
  all.push_back(exec::tasks_pass());
  return all;
}

}  // namespace tessera::session
