#include "session/pipeline.h"

#include "base/check.h"
#include "exec/prepare.h"
#include "optimizer/passes.h"

namespace tessera::session {

std::vector<PassInfo> pipeline() {
  std::vector<PassInfo> all = {unroll_pass, bind_pass, frame_pass, lower_pass};
  for (const optimizer::Pass& pass : optimizer::passes()) all.push_back(pass.info);
  all.push_back(exec::tasks_pass());
  return all;
}

std::vector<PassUse> as_in_pipeline(const std::vector<PassUse>& taken) {
  std::vector<PassUse> ordered;
  for (const PassInfo& pass : pipeline())
    for (const PassUse& use : taken)
      if (use.pass == pass.name) ordered.push_back(use);
  TESSERA_INVARIANT(ordered.size() == taken.size(), "{} passes were taken, and {} are known",
                    taken.size(), ordered.size());
  return ordered;
}

}  // namespace tessera::session
