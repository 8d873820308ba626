#pragma once

#include <map>
#include <string>

#include "query/versions/instances.h"

namespace tessera::query {

/// Bound queries, each kept for all versions of its rule that read tables of the same types.
class Templates {
 public:
  /// A query, and what tells the types of all that it reads.
  using Reads = std::vector<std::intptr_t>;

  const Template* find(const Reads& reads) const;  // null if there is none
  const Template* add(const NodePtr& root);
  void keep(Reads reads, const Template* bound) { known_[std::move(reads)] = bound; }

  /// All that were made, in this order.
  std::vector<std::shared_ptr<const Template>> take() { return std::move(made_); }

 private:
  std::vector<std::shared_ptr<const Template>> made_;
  std::map<Reads, const Template*> known_;
  std::map<std::string, int> types_;  // numbers of lists of columns
};

}  // namespace tessera::query
