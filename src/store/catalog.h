#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "store/directory.h"
#include "store/sqlite.h"

namespace tessera::store {

/// What the catalogue says of a stored relation.
struct Definition {
  std::string name;
  RelationType type;
  std::optional<Edges> edges = {};  // of a tensor cut into tiles
  Statistics statistics = {};
  std::int64_t bytes = 0;                 // of its tiles on disk
  std::vector<Address> directories = {};  // the parts it is made of
};

/// The catalogue of a database: one file of SQLite, whose transactions are those of the database.
/// Readers see the state that the last commit before them has left, whoever writes meanwhile.
class Catalog {
 public:
  enum class Mode { read, write };
  /// Makes the catalogue in an empty folder.
  static void create(const std::filesystem::path& database);
  /// IoError if there is none, it is none of ours, or of a newer version.
  Catalog(const std::filesystem::path& database, Mode mode);

  std::vector<Definition> all();
  std::optional<Definition> find(const std::string& name);

  // For the one who writes, inside a write transaction.
  void add(const Definition& definition);
  void remove(const std::string& name);
  void rename(const std::string& from, const std::string& to);
  /// The same relation in other places, where it takes so many bytes.
  void move(const std::string& name, const std::vector<Address>& directories, std::int64_t bytes);

  /// The segments and how much of them counts.
  std::map<std::int64_t, std::int64_t> segments();
  void set_segments(const std::map<std::int64_t, std::int64_t>& lengths);
  void forget_segment(std::int64_t segment);
  /// The least number that no segment ever had.
  std::int64_t next_segment();

  Transaction reading() { return {sqlite_, Transaction::Kind::read}; }
  Transaction writing() { return {sqlite_, Transaction::Kind::write}; }
  void checkpoint();         // moves what was committed from SQLite's log to its file
  std::string self_check();  // SQLite's own, "ok" if all is well

 private:
  Sqlite sqlite_;
};

}  // namespace tessera::store
