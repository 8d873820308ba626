#pragma once

#include <string>

#include "tessera/database.h"

namespace tessera::shell {

/// The statements that define what there is, or what is called so; of a tensor, whose elements no
/// statement holds, a comment. TypeError if there is none.
std::string schema_text(const Database& database, const std::string& name);

}  // namespace tessera::shell
