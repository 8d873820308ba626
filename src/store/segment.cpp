#include "store/segment.h"

#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/check.h"
#include "store/head_check.h"

namespace tessera::store {
namespace {

struct SegmentHead {
  char magic[8] = {'T', 'S', 'R', 'A', 'S', 'E', 'G', '\0'};
  std::uint32_t version = 1;
  std::uint32_t byte_order = 0x01020304;
  std::uint64_t check = 0;  // of the head, this being zero
  char reserved[40] = {};
};
static_assert(sizeof(SegmentHead) == segment_head_bytes);

SegmentHead head_of(const File& file) {
  SegmentHead head;
  const std::size_t there = file.read_some(0, std::as_writable_bytes(std::span(&head, 1)));
  return there == sizeof head ? head : SegmentHead{.magic = {}};
}

bool is_well(const SegmentHead& head) {
  return head.check == right_check(head) && std::memcmp(head.magic, SegmentHead{}.magic, 8) == 0;
}

/// A new segment is begun when the last one is as long as this: what is dropped is reclaimed by the
/// segment.
constexpr std::int64_t full_from = std::int64_t{256} << 20;
/// How much is written before the system is told to begin with the disk.
constexpr std::int64_t flush_step = std::int64_t{8} << 20;

}  // namespace

std::filesystem::path segment_path(const std::filesystem::path& database, std::int64_t segment) {
  return database / "segments" / fmt::format("{:08}.seg", segment);
}

File open_segment(const std::filesystem::path& database, std::int64_t segment) {
  File file = File::open_own(segment_path(database, segment));
  // Who punches holes has it for a moment.
  while (::flock(file.descriptor(), LOCK_SH) != 0 && errno == EINTR) {
  }
  const SegmentHead head = head_of(file);
  TESSERA_REQUIRE(IoError, head.byte_order != 0x04030201,
                  "{} was written on a machine with another byte order", file.path().string());
  TESSERA_REQUIRE(IoError, !is_well(head) || head.version <= SegmentHead{}.version,
                  "{} has format version {}; this program knows versions up to {}: use a newer one",
                  file.path().string(), head.version, SegmentHead{}.version);
  return file;
}

void punch_holes(const std::filesystem::path& database, std::int64_t segment,
                 const std::vector<FileRange>& used) {
  constexpr std::int64_t block = 4096;
  File file = File::open_own_to_append(segment_path(database, segment));
  if (::flock(file.descriptor(), LOCK_EX | LOCK_NB) != 0) return;
  std::vector<FileRange> ranges = used;
  std::sort(ranges.begin(), ranges.end(),
            [](const FileRange& a, const FileRange& b) { return a.offset < b.offset; });
  std::int64_t from = segment_head_bytes;
  const auto give_back = [&](std::int64_t to) {
    const std::int64_t begin = (from + block - 1) / block * block, end = to / block * block;
    if (begin < end) file.discard(begin, end - begin);
  };
  for (const FileRange& range : ranges) {
    give_back(range.offset);
    from = std::max(from, range.offset + range.bytes);
  }
  give_back(file.size());
}

std::string damage_of_segment(const File& file, std::int64_t bytes) {
  if (!is_well(head_of(file)))
    return fmt::format("the header of {} has a wrong checksum", file.path().string());
  if (file.size() < bytes)
    return fmt::format("{} ends after {} bytes of {}: it is truncated", file.path().string(),
                       file.size(), bytes);
  return "";
}

SegmentWriter::SegmentWriter(std::filesystem::path database, std::int64_t last, std::int64_t end,
                             std::int64_t next, std::int64_t stride)
    : database_(std::move(database)), last_(last), last_end_(end), stride_(stride), next_(next) {}

SegmentWriter::~SegmentWriter() {
  if (!kept_) take_back();
}

/// The lock is held.
SegmentWriter::Open& SegmentWriter::with_room(std::int64_t bytes) {
  if (!open_.empty() && open_.back().end + bytes <= full_from) return open_.back();
  if (open_.empty() && last_ > 0 && last_end_ + bytes <= full_from && go_on_with_last())
    return open_.back();
  const std::int64_t number = next_;
  next_ += stride_;
  auto file = std::make_shared<File>(File::create(segment_path(database_, number)));
  open_.push_back({number, 0, sizeof(SegmentHead), 0, file});
  SegmentHead head;
  head.check = right_check(head);
  file->write(0, std::as_bytes(std::span(&head, 1)));
  return open_.back();
}

/// Whether the last segment is as it was left: nothing is added to one that is damaged.
bool SegmentWriter::go_on_with_last() {
  std::error_code error;
  const std::filesystem::path path = segment_path(database_, last_);
  if (!std::filesystem::exists(path, error)) return false;
  auto file = std::make_shared<File>(File::open_own_to_append(path));
  if (!damage_of_segment(*file, last_end_).empty()) return false;
  open_.push_back({last_, last_end_, last_end_, last_end_, std::move(file)});
  return true;
}

Address SegmentWriter::append(const Record& record) {
  std::int64_t number = 0, offset = 0, flush_from = 0, flush_bytes = 0;
  std::shared_ptr<File> file;
  {
    const std::lock_guard lock(mutex_);
    Open& open = with_room(record.bytes);
    number = open.number;
    file = open.file;
    offset = open.end;
    open.end += (record.bytes + 7) / 8 * 8;
    if (offset - open.flushed >= flush_step) {
      flush_from = open.flushed;
      flush_bytes = offset - open.flushed;
      open.flushed = offset;
    }
  }
  const FileRange range = write(*file, offset, record);
  if (flush_bytes > 0) file->start_writing(flush_from, flush_bytes);
  return {number, range};
}

void SegmentWriter::sync(Sync sync) {
  bool created = false;
  for (Open& open : open_) {
    open.file->truncate(open.end);  // a last record may end before the next would begin
    if (sync == Sync::never) continue;
    open.file->sync();
    created = created || open.before == 0;
  }
  if (created) sync_folder(database_ / "segments");
}

void SegmentWriter::take_back() noexcept {
  for (Open& open : open_) {
    try {
      if (open.before > 0)
        open.file->truncate(open.before);
      else
        remove_file(open.file->path());
    } catch (const std::exception&) {
      // Nobody knows these bytes: the next statement removes them.
    }
  }
}

std::map<std::int64_t, std::int64_t> SegmentWriter::lengths() const {
  const std::lock_guard lock(mutex_);
  std::map<std::int64_t, std::int64_t> lengths;
  for (const Open& open : open_) lengths[open.number] = open.end;
  return lengths;
}

}  // namespace tessera::store
