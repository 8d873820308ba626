#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tessera/error.h"
#include "tessera/formats.h"
#include "tessera/run.h"
#include "tessera/workload.h"

namespace tessera {

struct DatabaseOptions {
  bool create = true;        // the folder is made if it is not there
  bool read_only = false;    // nothing is ever written, and every statement that would is refused
  double lock_seconds = 10;  // how long a statement that writes waits for another process that does
  bool compress = false;     // new tiles are compressed (zstd) where that makes them smaller
  /// What imports, exports and statements of SQL may read and write besides the database.
  ExternalAccess external_access = {};
  /// Who makes the statements for which RunOptions name nobody. None: as there.
  std::shared_ptr<exec::Engine> engine = {};
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
  std::vector<std::string> names;         // of the tensors
  std::vector<StoredInfo> imported = {};  // what they are, after an import
  std::int64_t rows = 0;
  std::int64_t bytes = 0;  // of the file
  double seconds = 0;
};

/// Another statement has changed meanwhile what this one is about: nothing has happened, and it can
/// be tried again.
struct Outdated : IoError {
  using IoError::IoError;
};

class Database;

/// One state of a database, whatever is written or dropped later. Any thread may use it.
class Snapshot {
 public:
  struct State;
  std::int64_t commit() const;                     // the number of the last statement it has seen
  std::vector<StoredInfo> list() const;            // of what users have named, in order
  std::vector<std::string> names() const;          // of all there is, also what sessions keep
  StoredInfo info(const std::string& name) const;  // TypeError if there is none
  /// An input of plans, whose tiles are read when they are needed, whatever becomes of the
  /// database. Outdated if the relation is not there any more when this is called.
  Plan plan(const std::string& name) const;
  Relation read(const std::string& name) const;  // all of it, into memory
  bool is_outdated() const;                      // whether `plan` or `read` has found that

  std::optional<std::string> text(const std::string& name) const;
  std::map<std::string, std::string> texts(const std::string& prefix = "") const;
  /// The strings of codes that tuples hold, of relations of which `plan` was asked for before all
  /// others. IoError if there is a code that is no string's.
  std::vector<std::string> strings(const std::vector<std::int64_t>& codes) const;

  /// The plans whose results were stored, the latest first, and what their kernels took in all.
  std::vector<PastRun> history() const;
  std::vector<KernelRate> kernel_rates() const;

 private:
  friend class Database;
  explicit Snapshot(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  std::shared_ptr<const State> state_;
};

/// The number that stands for a string in a column of integers: the same in all databases.
std::int64_t code_of(std::string_view string);

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

  /// The columns of what is stored or appended, by relation, whose integers are codes of strings.
  /// The strings are kept with the relation; `strings_of` tells them.
  std::map<std::string, std::vector<int>> string_columns = {};
  std::function<std::vector<std::string>(const std::vector<std::int64_t>& codes)> strings_of = {};

  /// The state for which all this was thought of, and what must still be as it was then. Outdated
  /// if it is not.
  std::optional<Snapshot> since = {};
  std::vector<std::string> relations_as_then = {}, texts_as_then = {};
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
  static Database temporary(const ExternalAccess& external_access = {},
                            std::shared_ptr<exec::Engine> engine = {});

  /// Stores a relation, or the result of a plan, under a new name. The result is written as it is
  /// computed, and need not fit into memory.
  void store(const std::string& name, const Relation& relation, const RunOptions& options = {});
  void store(const std::string& name, const Plan& plan, const RunOptions& options = {},
             RunReport* report = nullptr);
  void drop(const std::string& name, const RunOptions& options = {});
  void rename(const std::string& from, const std::string& to, const RunOptions& options = {});
  /// Many of these at once. Returns the state that this has made.
  Snapshot change(const Changes& changes, const RunOptions& options = {},
                  RunReport* report = nullptr);

  /// The state after the last statement that has committed, of whatever process.
  Snapshot snapshot() const;
  /// The same for the processes of a cluster together: one state for all.
  Snapshot common_snapshot() const;

  // As the present snapshot says it.
  std::vector<StoredInfo> list() const;
  StoredInfo info(const std::string& name) const;
  Plan plan(const std::string& name) const;
  Relation read(const std::string& name) const;
  std::optional<std::string> text(const std::string& name) const;
  std::map<std::string, std::string> texts(const std::string& prefix = "") const;

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

  std::vector<PastRun> history() const;
  std::vector<KernelRate> kernel_rates() const;

  const std::filesystem::path& folder() const;
  const ExternalAccess& external_access() const;
  bool is_new() const;  // opening it has made it
  bool is_read_only() const;
  double lock_seconds() const;
  /// A handle on the same database whose statements wait so long for another process that writes.
  Database with_lock_seconds(double seconds) const;
  std::shared_ptr<exec::Engine> engine() const;  // never none
  /// A handle on the same database whose statements that one makes.
  Database with_engine(std::shared_ptr<exec::Engine> engine) const;

 private:
  friend class Snapshot;
  struct State;
  explicit Database(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

}  // namespace tessera
