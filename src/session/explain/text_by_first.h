#pragma once

#include <functional>
#include <string>

#include "exec/engine.h"

namespace tessera::session {

/// A text that the first process of an engine makes for all of them, as part of this statement. An
/// error that ends it is thrown in all of them too, and keeps its place.
std::string text_by_first(exec::Engine& engine, const std::string& statement,
                          const std::function<std::string()>& make);

}  // namespace tessera::session
