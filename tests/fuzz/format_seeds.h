#pragma once

#include <string>
#include <vector>

#include "tessera/formats.h"

namespace tessera {

/// A file that a format reads, to be mutated.
struct FormatSeed {
  std::string format;
  std::string content;
  FormatOptions options = {};
};
std::vector<FormatSeed> binary_seeds();
std::vector<FormatSeed> text_seeds();

}  // namespace tessera
