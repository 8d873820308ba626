#pragma once

#include <optional>
#include <stop_token>

#include "base/file.h"

namespace tessera {

/// The descriptor of this process that a path stands for, as /dev/stdout does for 1.
std::optional<int> descriptor_of(std::filesystem::path path);

/// Writes all of a file to what takes no other's place: a pipe, whose reader it waits for, a
/// device, or the file that one of our descriptors has open, from where that stands. Interrupted if
/// it is to stop.
void write_through(const File& file, const std::filesystem::path& to, const std::stop_token& stop);

}  // namespace tessera
