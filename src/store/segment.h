#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "store/record.h"

namespace tessera::store {

/// Whether what is written must survive a crash. Nobody looks at a temporary database after one.
enum class Sync { always, never };

/// A record of a database: in which segment, and where.
struct Address {
  std::int64_t segment = 0;
  FileRange range = {};
  friend bool operator==(const Address&, const Address&) = default;
};

/// The segments of a database are files of records, numbered. What a committed statement has
/// written never changes: a file only grows, or goes as a whole, and who has it open still reads it
/// then.
std::filesystem::path segment_path(const std::filesystem::path& database, std::int64_t segment);

inline constexpr std::int64_t segment_head_bytes = 64;

/// Opens a segment to read. While it is open, nobody gives back the room of records in it. IoError
/// if it is not there, or of a version that we do not know. One whose own head is damaged can be
/// read: each record has its own checksum.
File open_segment(const std::filesystem::path& database, std::int64_t segment);
/// Gives back the room that a segment takes besides what is used of it, in place: its length stays,
/// and what is used stays where it is. Nothing happens while somebody has it open.
void punch_holes(const std::filesystem::path& database, std::int64_t segment,
                 const std::vector<FileRange>& used);
/// What is wrong with a segment as a whole, of which so many bytes count; empty if nothing is.
std::string damage_of_segment(const File& file, std::int64_t bytes);

/// What one statement appends. Several threads may append at once. Until `sync` has returned and
/// the catalogue names what was written, nothing of it counts; unless it is kept, it goes with the
/// writer.
class SegmentWriter {
 public:
  /// Goes on at `end` of the segment `last`, or makes new ones, whose numbers are `next`,
  /// `next` + `stride` and so on.
  SegmentWriter(std::filesystem::path database, std::int64_t last, std::int64_t end,
                std::int64_t next, std::int64_t stride = 1);
  ~SegmentWriter();
  SegmentWriter(const SegmentWriter&) = delete;
  SegmentWriter& operator=(const SegmentWriter&) = delete;

  Address append(const Record& record);
  /// Everything appended so far is in its file and, if wanted, survives a crash.
  void sync(Sync sync = Sync::always);
  /// Whether the catalogue may name it: then it is not taken back.
  void keep(bool kept) { kept_ = kept; }

  /// The segments that were written to and how long they are now.
  std::map<std::int64_t, std::int64_t> lengths() const;

 private:
  struct Open {
    std::int64_t number = 0;
    std::int64_t before = 0;  // how long it was; 0: it is new
    std::int64_t end = 0;
    std::int64_t flushed = 0;
    std::shared_ptr<File> file;
  };
  Open& with_room(std::int64_t bytes);
  bool go_on_with_last();
  void take_back() noexcept;

  const std::filesystem::path database_;
  const std::int64_t last_, last_end_, stride_;
  std::int64_t next_;
  mutable std::mutex mutex_;
  std::vector<Open> open_;
  bool kept_ = false;
};

}  // namespace tessera::store
