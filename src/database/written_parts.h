#pragma once

#include <deque>
#include <map>

#include "database/relation_writer.h"

namespace tessera {

/// What one process has written of a relation.
struct StoredPart {
  std::vector<store::Address> directories = {};  // none if it had no tuples
  std::int64_t bytes = 0;                        // of tiles
  std::vector<std::int64_t> statistics = {};
  std::vector<std::int64_t> codes = {};  // of strings that its tuples hold
};

/// What one process has written of all that a statement stores.
struct Written {
  std::vector<StoredPart> parts = {};                  // one a relation
  std::map<std::int64_t, std::int64_t> segments = {};  // it has written to, and their lengths
  std::int64_t mark = 0;                               // of the run they are results of
};
/// All tuples are added: their directories are appended.
Written finish(std::deque<RelationWriter>& writers, Appender& appender);

// As a text that travels.
std::string to_text(const Written& written);
Written written_of(const std::string& text);

/// Brings the parts of a relation together, all but its name.
store::Definition whole_of(const std::vector<StoredPart>& parts, const RelationType& type,
                           const store::Extents& extents);

}  // namespace tessera
