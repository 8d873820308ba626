#pragma once

#include <functional>

#include "database/statement.h"
#include "database/written_parts.h"
#include "exec/engine.h"

namespace tessera {

// How the processes of an engine write together: each its own part, to segments of its own. The
// first one has the lock and the catalogue. It commits when all parts are on disk; until then
// nothing of them counts.

/// Writes what this process has, and says what that is.
using Write = std::function<Written(Appender&)>;

/// What the first process does: it writes its part too, and then commits those of all.
void write_and_commit(exec::Engine& engine, WriteStatement& statement, const Write& write,
                      const std::function<void(const std::vector<Written>&)>& commit);

/// What the others do. What they have written stays where it is, even after an error: they do not
/// know who has the lock when the first one is gone. Who has it removes what the catalogue does not
/// name.
void write_part(exec::Engine& engine, Appender& appender, store::Sync sync, const Write& write);

}  // namespace tessera
