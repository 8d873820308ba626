#pragma once

#include <stop_token>

#include "base/file.h"

namespace tessera {

/// Writes all of a file to what is no file: a pipe, whose reader it waits for, or a device.
/// Interrupted if it is to stop.
void write_through(const File& file, const std::filesystem::path& to, const std::stop_token& stop);

}  // namespace tessera
