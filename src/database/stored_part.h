#pragma once

#include <map>

#include "database/relation_writer.h"

namespace tessera {

/// What one process of a cluster has stored of a relation.
struct StoredPart {
  std::vector<store::Address> directories = {};        // none if it had no tuples
  std::map<std::int64_t, std::int64_t> segments = {};  // it has written to, and their lengths
  std::int64_t bytes = 0;                              // of tiles
  std::vector<std::int64_t> statistics = {};
  std::int64_t mark = 0;  // of the run it is a result of
};
/// All tuples are added: their directory is appended.
StoredPart finish_part(RelationWriter& writer, Appender& appender);

// As a text that travels.
std::string to_text(const StoredPart& part);
StoredPart part_of(const std::string& text);

/// Brings the parts of a relation together, all but its name.
store::Definition whole_of(const std::vector<StoredPart>& parts, const RelationType& type,
                           const std::optional<store::Edges>& edges);

}  // namespace tessera
