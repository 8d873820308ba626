#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/definition.h"
#include "tessera/workload.h"

namespace tessera::store {

/// What a database says of itself after some commit: a value, which others may hold while the
/// database goes on. Whoever writes changes a copy; `changes` is then what the commit says, and
/// every other process makes the same of it.
class Catalog {
 public:
  std::int64_t commit() const { return commit_; }  // its number

  std::vector<Definition> all() const;
  /// IoError if what is said of the relation makes no sense.
  std::optional<Definition> find(const std::string& name) const;
  bool has(const std::string& name) const { return relations_.contains(name); }
  std::vector<std::string> names() const;  // in order
  /// Whether everything that a relation of another state is made of still belongs to the relation
  /// of that name: it may have grown, and nothing else.
  bool still_has(const Definition& definition) const;
  // Whether they are as in another state, or are in neither.
  bool same_relation(const Catalog& other, const std::string& name) const;
  bool same_text(const Catalog& other, const std::string& name) const;

  void add(const Definition& definition);
  void remove(const std::string& name);
  void rename(const std::string& from, const std::string& to);
  /// A relation that has changed, all but its name.
  void update(const Definition& definition);

  /// The segments and how much of them counts.
  const std::map<std::int64_t, std::int64_t>& segments() const { return segments_; }
  void set_segments(const std::map<std::int64_t, std::int64_t>& lengths);
  void forget_segment(std::int64_t segment);
  /// The least number that no segment ever had.
  std::int64_t next_segment() const { return next_segment_; }
  void set_next_segment(std::int64_t number);

  // What was computed here: for those who look, and for who plans.
  void record(const PastRun& run);
  void record(const KernelRate& rate);
  std::vector<PastRun> history() const;  // the latest first
  std::vector<KernelRate> kernel_rates() const;

  // Texts by name.
  std::optional<std::string> text(const std::string& name) const;
  std::map<std::string, std::string> texts(const std::string& prefix) const;
  void set_text(const std::string& name, const std::optional<std::string>& value);

  // Texts that had codes in databases of version 2, whose columns may hold these still.
  const std::map<std::int64_t, std::string>& old_strings() const { return old_strings_; }
  void set_old_string(std::int64_t code, const std::string& value);

  // As the log of commits has it.
  std::string image() const;  // all of it
  const std::string& changes() const { return changes_; }
  static Catalog from_image(std::string_view bytes, std::int64_t commit);
  /// IoError if the bytes are no changes.
  void apply(std::string_view changes, std::int64_t commit);

 private:
  struct Row {  // of a relation
    std::string type, statistics;
    std::int64_t bytes = 0;
    std::vector<Address> directories, strings;
    friend bool operator==(const Row&, const Row&) = default;
  };
  enum class Change : std::uint8_t;
  friend struct CatalogChanges;
  void put(std::string change);
  static Row row_of(const Definition& definition);
  Definition definition_of(const std::string& name, const Row& row) const;

  std::int64_t commit_ = 0;
  std::map<std::string, std::shared_ptr<const Row>> relations_;
  std::map<std::string, std::shared_ptr<const std::string>> texts_;
  std::map<std::int64_t, std::int64_t> segments_;
  std::int64_t next_segment_ = 1;
  std::deque<std::shared_ptr<const PastRun>> history_;  // the oldest first
  std::map<std::string, KernelRate> rates_;
  std::map<std::int64_t, std::string> old_strings_;
  std::string changes_;
};

}  // namespace tessera::store
