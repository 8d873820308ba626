#pragma once

#include <functional>
#include <string>

#include "exec/engine.h"

namespace tessera {

/// A statement that all processes of an engine make and the first one carries out, which holds the
/// lock and the catalogue: all of them return what it has returned, or throw what it has thrown.
/// IoError if they do not make the same one: `statement` says which it is. In a process that is
/// alone the work is just done.
std::string by_first(exec::Engine& engine, const std::string& statement,
                     const std::function<std::string()>& work);

}  // namespace tessera
