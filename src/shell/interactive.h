#pragma once

#include "shell/shell.h"

namespace tessera::shell {

/// Somebody types statements at a terminal, until they leave.
void run_interactively(Shell& shell);

}  // namespace tessera::shell
