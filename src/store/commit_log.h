#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "store/segment.h"
#include "tessera/error.h"

namespace tessera::store {

/// A commit that has failed, and may be found to have happened nevertheless.
struct CommitInDoubt : IoError {
  using IoError::IoError;
};

/// What a database has committed, one entry after the other, in two files of the same bytes.
///
/// Each entry has a checksum that covers the one before it. A commit is written and synchronised in
/// the first file and then in the second, and has happened when the second is long enough to hold
/// it. So the length of the second file, which no damage to bytes changes, says what was committed,
/// and each entry of it can be read from either file: whatever byte is damaged, nothing is lost,
/// and nothing is taken for half a commit that is a whole one. What the first file has beyond the
/// second never happened; it is one entry at most, so that a second file that lacks more was cut
/// off by somebody, and so were two files that both end within an entry.
///
/// Any number of processes read; only who has the database's lock writes.
class CommitLog {
 public:
  enum class Kind : std::uint32_t { image, changes };  // all there is, or what a commit changed
  struct Entry {
    Kind kind;
    std::int64_t number;  // of the commit
    std::string_view bytes;
  };
  using Take = std::function<void(const Entry&)>;

  /// Makes the files, with an image as the first entry. A crash meanwhile leaves files whose names
  /// `is_unfinished` knows.
  static void create(const std::filesystem::path& folder, std::string_view image, Sync sync);
  /// IoError if one may not look, or the second file is gone.
  static bool is_there(const std::filesystem::path& folder);
  static bool is_unfinished(std::string_view file_name);

  CommitLog(std::filesystem::path folder, Sync sync);

  /// Hands over the entries that are new since the last call, in order: from an image on the first
  /// time, and after the files were written anew. IoError, naming file and place, if an entry is
  /// damaged in both files.
  void read(const Take& take);

  // For who has the lock, after a `read`.

  /// One commit more. IoError: it has not happened; CommitInDoubt: that is not known.
  void append(std::string_view changes);
  /// Ends the doubt about a commit that has failed, or whose process was killed: what does not
  /// count now never will, whatever a loss of power brings back.
  void settle();
  /// Whether one of the two files lacks something or is damaged, as far as was noticed. Then they
  /// must be rewritten before an append.
  bool needs_rewriting() const;
  /// Writes both files anew, with an image of all there is. After an error nothing has changed.
  void rewrite(std::string_view image);

  std::int64_t bytes() const { return known_.end; }  // of each file, as far as it counts
  /// What is damaged in one of the files; all bytes of both are looked at.
  std::vector<std::string> damage() const;
  /// Whether somebody writes the files anew just now, or was killed while doing so: then they do
  /// not belong together.
  bool is_being_rewritten() const;

 private:
  /// A place between two entries.
  struct Position {
    std::int64_t generation = 0;  // how often the files were written anew
    std::int64_t end = 0;
    std::int64_t last = 0;      // where the entry before it begins
    std::int64_t number = 0;    // of that entry
    std::uint64_t chain = 0;    // the checksum of that entry
    bool damaged = false;       // something before it was read from the first file,
    bool last_damaged = false;  // the entry before it was
  };
  struct Found;
  static bool is_new(const File& first);
  std::filesystem::path path(int file) const;
  bool second_is_in_place() const;
  bool is_as_known() const;
  void open_anew();
  std::optional<Found> next(std::int64_t length);
  std::optional<File> first_of_same_generation() const;
  static int commits_in(const File& file, std::int64_t at, std::uint64_t chain);
  int commits_ahead() const;
  bool first_has_newer_commits() const;
  void refuse_if_cut_off(std::int64_t length);
  static void write_new(const std::filesystem::path& folder, std::int64_t generation,
                        std::int64_t number, std::string_view image, Sync sync);

  const std::filesystem::path folder_;
  const Sync sync_;
  std::optional<File> second_;  // which says what counts
  Position known_;              // what was read
};

}  // namespace tessera::store
