#pragma once

#include "lang/sql/ast.h"
#include "tessera/session.h"

namespace tessera::session {

/// What WITH (...) says of a file, and how the session runs statements and what they may reach.
/// ErrorAt for an option that
/// is not known, or a value that is none for it.
FormatOptions file_options(const sql::Options& written, const SessionOptions& session);

}  // namespace tessera::session
