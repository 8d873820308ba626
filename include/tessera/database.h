#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tessera/formats.h"
#include "tessera/run.h"
#include "tessera/workload.h"

namespace tessera {

struct DatabaseOptions {
  bool create = true;        // the folder is made if it is not there
  bool read_only = false;    // nothing is ever written, and every statement that would is refused
  double lock_seconds = 10;  // how long a statement that writes waits for another process that does
  bool compress = false;     // new tiles are compressed (zstd) where that makes them smaller
};

/// What is known of a stored relation without reading its tiles.
struct StoredInfo {
  std::string name;
  RelationType type;
  std::optional<Shape> shape = {};  // of the tensor that it is, if it is one cut into tiles
  Statistics statistics = {};
  std::int64_t bytes = 0;   // that its tiles take on disk
  std::string damage = {};  // why nothing but the name is known, if the catalogue is damaged there
};

/// Something in a database that is not as it was written.
struct Damage {
  std::string name;        // of the stored relation; empty: of the database itself
  std::optional<Key> key;  // of the tuple; none: all of it, or the catalogue
  std::string reason;
};

/// What an import or an export has done.
struct FileReport {
  std::vector<std::string> names;  // of the tensors
  std::int64_t rows = 0;
  std::int64_t bytes = 0;  // of the file
  double seconds = 0;
};

/// What one statement changes, in this order: all of it, or nothing.
struct Changes {
  std::vector<std::string> dropped = {};
  std::vector<std::pair<std::string, std::string>> renamed = {};  // from, to
  /// The results of plans, stored under new names. One run computes all of them, so that what they
  /// share is computed once. They may read what is dropped here: a name that is dropped and stored
  /// again is replaced.
  std::vector<std::pair<std::string, Plan>> results = {};
  /// Tuples that are added to a stored relation, or are a new one if there is none of that name.
  /// Their keys must be new there, and their columns must fit. A sparse relation stays sparse; any
  /// other one is continuous as long as no key below its frontier is missing, and else partial.
  std::vector<std::pair<std::string, Relation>> appended = {};
  /// Texts that whoever uses the database keeps there: set, or removed.
  std::map<std::string, std::optional<std::string>> texts = {};
};

/// Relations that stay: a folder with a catalogue and the segments that hold the tiles.
///
/// A statement is atomic: its tiles are on disk before the catalogue names them, and a crash at any
/// moment leaves what was committed and nothing else. Many processes may read beside one that
/// writes; what a plan reads is the state when its input was made, whatever is written or dropped
/// later. Handles are cheap, for any thread. The processes of a cluster make what writes together.
class Database {
 public:
  static Database open(const std::filesystem::path& folder, const DatabaseOptions& options = {});
  /// A database for a while: in a new folder under what TMPDIR says, or else /var/tmp, which goes
  /// with its last handle. A crash or a loss of power may leave it in any state. The processes of a
  /// cluster share one. What those have left that were killed is removed.
  static Database temporary();

  std::vector<StoredInfo> list() const;            // in order of their names
  StoredInfo info(const std::string& name) const;  // TypeError if there is none
  /// An input of plans, whose tiles are read when they are needed.
  Plan plan(const std::string& name) const;
  Relation read(const std::string& name) const;  // all of it, into memory

  /// Stores a relation, or the result of a plan, under a new name. The result is written as it is
  /// computed, and need not fit into memory.
  void store(const std::string& name, const Relation& relation, const RunOptions& options = {});
  void store(const std::string& name, const Plan& plan, const RunOptions& options = {},
             RunReport* report = nullptr);
  void drop(const std::string& name);
  void rename(const std::string& from, const std::string& to);
  /// Many of these at once.
  void change(const Changes& changes, const RunOptions& options = {}, RunReport* report = nullptr);

  /// While somebody keeps what this returns, a look at the catalogue costs less: SQLite makes its
  /// log for the first who has it open, and removes it after the last. For many statements in a
  /// row.
  std::shared_ptr<const void> kept_open() const;

  std::optional<std::string> text(const std::string& name) const;
  std::map<std::string, std::string> texts(const std::string& prefix = "") const;

  /// Numbers for strings, the same for the same string as long as the database lives: so a column
  /// of integers is one of strings. What has none yet gets one, which is on disk before this
  /// returns.
  std::vector<std::int64_t> codes(const std::vector<std::string>& strings);
  /// The strings of such numbers. IoError if there is one that is no string's.
  std::vector<std::string> strings(const std::vector<std::int64_t>& codes) const;

  /// Stores what is in a file, under a new name; where it has several tensors, under that name with
  /// an ending for each. All of it, or, after any error or a stop, nothing.
  FileReport import_file(const std::string& name, const std::string& from,
                         const FormatOptions& options = {});
  /// Writes tensors to a file, which takes the place of one that is there when it is complete.
  FileReport export_file(const std::vector<std::string>& names, const std::string& to,
                         const FormatOptions& options = {}) const;

  /// Makes the files as small as they can be: what was dropped is reclaimed. Returns the bytes that
  /// were given back.
  std::int64_t vacuum();
  /// Gives back what can be without writing tiles again: segments of which nothing is used, and the
  /// log of the catalogue.
  void checkpoint();
  /// Reads everything and compares it with its checksums.
  std::vector<Damage> check() const;

  /// The plans whose results were stored, the latest first, and what their kernels took in all.
  std::vector<PastRun> history() const;
  std::vector<KernelRate> kernel_rates() const;

  const std::filesystem::path& folder() const;

 private:
  struct State;
  explicit Database(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

}  // namespace tessera
