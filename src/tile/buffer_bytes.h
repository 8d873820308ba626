#pragma once

#include <cstddef>
#include <memory>

namespace tessera {

/// How large a buffer is that somebody owns, all of it, be it that a tile shows a part; 0 if the
/// owner is of another kind.
std::size_t buffer_bytes(const std::shared_ptr<const void>& owner);

}  // namespace tessera
