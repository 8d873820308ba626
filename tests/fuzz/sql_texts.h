#pragma once

#include <string>
#include <vector>

#include "support/random_tiles.h"

namespace tessera::sql {

/// Texts for a parser and a session: random bytes, random tokens, and statements that are right or
/// were so before they were mutated.
class SqlTexts {
 public:
  /// `corpus`: statements about the tables that are there, beside those that are always tried.
  SqlTexts(Random& random, std::vector<std::string> corpus);

  std::string next();

 private:
  std::string statement();
  void mutate(std::string& text);

  Random& random_;
  std::vector<std::string> corpus_;
};

}  // namespace tessera::sql
