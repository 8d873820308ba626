#pragma once

#include <string>
#include <vector>

namespace tessera {

/// A file that a format reads, to be mutated.
struct FormatSeed {
  std::string format;
  std::string content;
};
std::vector<FormatSeed> text_seeds();

}  // namespace tessera
