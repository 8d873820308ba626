#pragma once

#include "session/stored_definitions.h"

namespace tessera::session {

// Texts of a database are read by `store::read_stored`, which says whose they are if they cannot
// be.

/// IoError if the columns of a table are not where its definition says, in tuples of this type.
void check_origins(const TableDefinition& definition, const RelationType& relation,
                   const std::string& whose);
/// IoError, with its name, if the text is none of a tensor without data.
VirtualTensor virtual_tensor_of(const std::string& text, const std::string& name);

}  // namespace tessera::session
