#pragma once

#include <optional>
#include <string>
#include <vector>

#include "store/absent_types.h"
#include "store/hidden_names.h"

namespace tessera::store {

/// What the catalogue says of a stored relation.
struct Definition {
  std::string name;
  RelationType type;
  Extents extents = {};
  Statistics statistics = {};
  std::int64_t bytes = 0;                 // of its tiles on disk
  std::vector<Address> directories = {};  // the parts it is made of
  std::vector<Address> strings = {};      // the texts whose codes its columns hold

  std::string shown() const { return shown_name(name); }  // in messages
};

// As texts, which the catalogue holds.
std::string type_text(const Definition& definition);
std::string statistics_text(const Definition& definition);
/// IoError if the texts are not such ones.
void read_texts(const std::string& type, const std::string& statistics, Definition& into);

}  // namespace tessera::store
