#pragma once

#include <mutex>
#include <set>
#include <vector>

#include "database/appender.h"
#include "store/definition.h"
#include "tra/statistics.h"

namespace tessera {

/// Stores a relation, or a part of one, tuple by tuple. The tuples may come in any order; what is
/// held of them is where they are and what is known of them, not their tiles.
class RelationWriter {
 public:
  /// `string_columns`: those whose integers are codes of strings.
  explicit RelationWriter(Appender& appender, std::vector<int> string_columns = {})
      : appender_(appender), string_columns_(std::move(string_columns)) {}

  /// Any thread may call.
  void add(const Key& key, const std::vector<Tile>& tiles);

  /// What was added, in order of the keys. PlanError if a key came twice.
  const std::vector<store::Entry>& entries();

  /// Appends the directory, once all are there, and says where it is. PlanError if a key came
  /// twice.
  store::Address append_directory();
  std::int64_t bytes() const { return store::bytes_in(directory_); }
  const std::set<std::int64_t>& codes() const { return codes_; }  // of strings, that came
  const StatisticsBuilder& statistics() const { return statistics_; }

  /// The directory is appended, and what the catalogue is to say of the relation.
  store::Definition finish(const std::string& name, const RelationType& type,
                           const store::Extents& extents);

 private:
  Appender& appender_;
  const std::vector<int> string_columns_;
  StatisticsBuilder statistics_;
  std::mutex mutex_;
  store::Directory directory_;
  std::set<std::int64_t> codes_;
};

}  // namespace tessera
