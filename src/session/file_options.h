#pragma once

#include "lang/sql/ast.h"
#include "tessera/formats.h"
#include "tessera/run.h"

namespace tessera::session {

/// What WITH (...) says of a file, and how the session runs statements. ErrorAt for an option that
/// is not known, or a value that is none for it.
FormatOptions file_options(const sql::Options& written, const RunOptions& run);

}  // namespace tessera::session
