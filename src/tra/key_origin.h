#pragma once

#include <functional>

#include "tessera/key.h"

namespace tessera {

/// From which key another one has come.
using KeyOrigin = std::function<Key(const Key&)>;

/// The origins of the keys that a function without collisions makes of all those below a frontier.
/// They are read off a function that passes on the components, whatever the frontier is. Else they
/// are listed: when somebody asks for the first of them, or at once if the function is opaque,
/// which may be called only while the plan is made.
KeyOrigin origin_of(const KeyFunction& function, const Key& frontier);

}  // namespace tessera
