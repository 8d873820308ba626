#pragma once

#include "shell/completion.h"
#include "tessera/session.h"

namespace tessera::shell {

/// The names that a session knows now.
KnownNames known_names(Session& session);

}  // namespace tessera::shell
