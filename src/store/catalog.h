#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "store/definition.h"
#include "store/sqlite.h"
#include "tessera/workload.h"

namespace tessera::store {

inline constexpr const char* unfinished_catalogue = "catalog.sqlite.new";

/// How many rows a table has, and the sum of the lower halves of their checksums.
struct RowTotals {
  std::int64_t rows = 0, checksums = 0;
  friend bool operator==(const RowTotals&, const RowTotals&) = default;
};

/// A row of the dictionary of strings, and whether it is as it was written.
struct CodedString {
  std::int64_t code;
  std::string value;
  std::int64_t checksum;
  bool well;
};

/// The catalogue of a database: one file of SQLite, whose transactions are those of the database.
/// Readers see the state that the last commit before them has left, whoever writes meanwhile.
class Catalog {
 public:
  enum class Mode { read, write };
  /// Makes the catalogue in a folder that has none. A crash meanwhile leaves files whose names
  /// begin with `unfinished_catalogue`.
  static void create(const std::filesystem::path& database, Sync sync = Sync::always);
  /// IoError if there is none, it is none of ours, or of a newer version.
  Catalog(const std::filesystem::path& database, Mode mode, Sync sync = Sync::always);

  /// Whether it is of an older version: it can be read, but not written to before an upgrade.
  bool is_old() const;
  void upgrade();

  std::vector<Definition> all();
  /// IoError if what it says of the relation is damaged.
  std::optional<Definition> find(const std::string& name);
  bool has(const std::string& name);  // damaged or not
  std::vector<std::string> names();   // in order

  // For the one who writes, inside a write transaction.
  void add(const Definition& definition);
  void remove(const std::string& name);
  void rename(const std::string& from, const std::string& to);
  /// A relation that has changed, all but its name.
  void update(const Definition& definition);
  /// The same relation in other places, where it takes so many bytes.
  void move(const std::string& name, const std::vector<Address>& directories, std::int64_t bytes);

  /// The segments and how much of them counts. IoError if that is damaged: nothing can be written
  /// then, lest a segment be taken for a leftover.
  std::map<std::int64_t, std::int64_t> segments();
  void set_segments(const std::map<std::int64_t, std::int64_t>& lengths);
  void forget_segment(std::int64_t segment);
  /// The least number that no segment ever had.
  std::int64_t next_segment();

  // What was computed here (workload.cpp): for those who look, and for who plans.
  void record(const PastRun& run, const std::vector<KernelRate>& kernels);
  std::vector<PastRun> history();  // the latest first
  std::vector<KernelRate> kernel_rates();

  // Texts by name (texts.cpp). IoError if one is damaged.
  std::optional<std::string> text(const std::string& name);
  std::map<std::string, std::string> texts(const std::string& prefix);
  void set_text(const std::string& name, const std::optional<std::string>& value);
  std::vector<std::string> damage_of_texts();

  // Strings that have codes (dictionary.cpp).
  std::vector<CodedString> strings_after(std::int64_t code);  // in order of their codes
  RowTotals totals_of_strings();                              // as they should be
  void add_string(const std::string& value);                  // which gets the next code

  Transaction reading() { return {sqlite_, Transaction::Kind::read}; }
  Transaction writing() { return {sqlite_, Transaction::Kind::write}; }
  void checkpoint();  // moves what was committed from SQLite's log to its file
  void compact();     // makes SQLite's file smaller, if much of it is free
  /// Ends the uncertainty about a commit that has failed or was killed. It may lie in SQLite's log
  /// as a whole without anybody seeing it, while others have the log open, and be found by the
  /// first to open it later. A transaction that changes nothing takes its place in the log: from
  /// then on it has never happened, and what it would have named may go.
  void settle();
  std::string self_check();  // SQLite's own, "ok" if all is well

 private:
  void place(const std::string& name, const std::vector<Address>& directories, std::int64_t bytes);
  void seal(const std::string& name);          // brings the checksum up to date
  bool is_complete(const std::string& table);  // no row has vanished

  Sqlite sqlite_;
  std::int64_t version_;
};

}  // namespace tessera::store
