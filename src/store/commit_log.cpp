#include "store/commit_log.h"

#include <sys/stat.h>
#include <xxhash.h>

#include <cerrno>
#include <cstring>

#include "base/check.h"
#include "store/head_check.h"

namespace tessera::store {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t log_version = 3;  // versions 1 and 2 were files of SQLite

struct FileHead {
  char magic[8] = {'T', 'S', 'R', 'A', 'C', 'A', 'T', '\0'};
  std::uint32_t version = log_version;
  std::uint32_t byte_order = 0x01020304;
  std::int64_t generation = 0;
  std::uint64_t check = 0;  // of the head, this being zero
  char reserved[32] = {};

  bool is_well() const {
    return check == right_check(*this) && std::memcmp(magic, FileHead{}.magic, sizeof magic) == 0;
  }
};
static_assert(sizeof(FileHead) == 64);

struct EntryHead {
  std::uint32_t magic = 0x59544E45;  // "ENTY"
  CommitLog::Kind kind = CommitLog::Kind::image;
  std::int64_t number = 0;
  std::int64_t bytes = 0;      // of what follows
  std::uint64_t content = 0;   // the checksum of that
  std::uint64_t previous = 0;  // the checksum of the entry before, or the generation
  std::uint64_t check = 0;     // of the head, this being zero

  std::int64_t end(std::int64_t offset) const {
    return offset + static_cast<std::int64_t>(sizeof(EntryHead)) + (bytes + 7) / 8 * 8;
  }
};
static_assert(sizeof(EntryHead) == 48);

/// An entry on its way to a file.
std::string entry_of(CommitLog::Kind kind, std::int64_t number, std::uint64_t previous,
                     std::string_view bytes) {
  EntryHead head;
  head.kind = kind;
  head.number = number;
  head.bytes = static_cast<std::int64_t>(bytes.size());
  head.content = XXH3_64bits(bytes.data(), bytes.size());
  head.previous = previous;
  head.check = right_check(head);
  std::string entry(reinterpret_cast<const char*>(&head), sizeof head);
  entry += bytes;
  entry.resize(static_cast<std::size_t>(head.end(0)));
  return entry;
}

EntryHead head_of(const std::string& entry) {
  EntryHead head;
  std::memcpy(&head, entry.data(), sizeof head);
  return head;
}

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

template <class Head>
bool read_head(const File& file, std::int64_t offset, Head& into) {
  return file.read_some(offset, std::as_writable_bytes(std::span(&into, 1))) == sizeof into;
}

std::optional<FileHead> file_head(const File& file) {
  FileHead head;
  if (!read_head(file, 0, head)) return std::nullopt;
  TESSERA_REQUIRE(IoError, head.byte_order != 0x04030201,
                  "{} was written on a machine with another byte order", file.path().string());
  if (!head.is_well()) return std::nullopt;
  TESSERA_REQUIRE(IoError, head.version <= log_version,
                  "{} has format version {}; this program knows versions up to {}: use a newer one",
                  file.path().string(), head.version, log_version);
  return head;
}

/// The head of the entry at a place, if it is one that was written there after this one.
std::optional<EntryHead> entry_head(const File& file, std::int64_t offset, std::uint64_t previous) {
  EntryHead head;
  if (!read_head(file, offset, head)) return std::nullopt;
  const bool well = head.magic == EntryHead{}.magic && head.check == right_check(head) &&
                    head.previous == previous && head.bytes >= 0;
  return well ? std::optional(head) : std::nullopt;
}

bool read_content(const File& file, std::int64_t offset, const EntryHead& head,
                  std::string& bytes) {
  bytes.resize(static_cast<std::size_t>(head.bytes));
  const std::int64_t at = offset + static_cast<std::int64_t>(sizeof head);
  return file.read_some(at, std::as_writable_bytes(std::span(bytes))) == bytes.size() &&
         XXH3_64bits(bytes.data(), bytes.size()) == head.content;
}

std::optional<File> opened(const fs::path& path) {
  std::error_code error;
  if (!fs::exists(path, error) && !error) return std::nullopt;
  return File::open_own(path);
}

/// Room on the disk beyond the end, so that a full disk does not stop anybody from dropping things.
constexpr std::int64_t reserve = 64 << 10;

constexpr const char* names[] = {"catalog.1", "catalog.2"};
constexpr const char* unfinished = ".new";

}  // namespace

struct CommitLog::Found {
  EntryHead head;
  std::string bytes;
};

CommitLog::CommitLog(fs::path folder, Sync sync) : folder_(std::move(folder)), sync_(sync) {}

fs::path CommitLog::path(int file) const { return folder_ / names[file - 1]; }

bool CommitLog::is_there(const fs::path& folder) {
  std::error_code error;
  const bool there = fs::exists(folder / names[1], error);
  TESSERA_REQUIRE(IoError, !error, "cannot read {}: {}", folder.string(), error.message());
  if (there) return true;
  const std::optional<File> first = opened(folder / names[0]);
  if (!first || is_new(*first)) return false;
  // Somebody may have made it meanwhile, and gone on.
  TESSERA_REQUIRE(IoError, fs::exists(folder / names[1], error),
                  "{0} is missing; replace it with a copy of {1} (whose last commit may be one "
                  "that was reported as failed), or restore the database from a copy",
                  (folder / names[1]).string(), (folder / names[0]).string());
  return true;
}

/// Whether a first file is all that `create` had made when it was killed. It is written out before
/// it has its name, and nothing is added to it before the second has one.
bool CommitLog::is_new(const File& first) {
  if (first.size() < static_cast<std::int64_t>(sizeof(FileHead))) return true;
  const std::optional<FileHead> head = file_head(first);
  if (!head || head->generation != 1) return false;
  const std::optional<EntryHead> image = entry_head(first, sizeof(FileHead), 1);
  return image && image->number == 0 && first.size() <= image->end(sizeof(FileHead));
}

/// The first file gets its name before the second: alone it is no catalogue.
bool CommitLog::is_unfinished(std::string_view file_name) {
  return file_name == names[0] || file_name == std::string(names[0]) + unfinished ||
         file_name == std::string(names[1]) + unfinished;
}

void CommitLog::create(const fs::path& folder, std::string_view image, Sync sync) {
  write_new(folder, 1, 0, image, sync);
}

void CommitLog::write_new(const fs::path& folder, std::int64_t generation, std::int64_t number,
                          std::string_view image, Sync sync) {
  FileHead head;
  head.generation = generation;
  head.check = right_check(head);
  const std::string entry =
      entry_of(Kind::image, number, static_cast<std::uint64_t>(generation), image);
  try {
    for (const char* name : names) {
      const fs::path path = folder / (std::string(name) + unfinished);
      remove_file(path);
      File file = File::create(path);
      file.write(0, std::as_bytes(std::span(&head, 1)));
      file.write(sizeof head, bytes_of(entry));
      file.reserve(sizeof head, static_cast<std::int64_t>(entry.size()) + reserve);
      if (sync == Sync::always) file.sync();
    }
  } catch (...) {
    // On a full disk they would take the room that somebody has just given back.
    std::error_code ignored;
    for (const char* name : names) fs::remove(folder / (std::string(name) + unfinished), ignored);
    throw;
  }
  for (const char* name : names)
    rename_file(folder / (std::string(name) + unfinished), folder / name);
  if (sync == Sync::always) sync_folder(folder);
}

/// Whether the second file is the one that is open: it was not written anew.
bool CommitLog::second_is_in_place() const {
  struct stat named {
  }, known{};
  return second_ && ::stat(path(2).c_str(), &named) == 0 &&
         ::fstat(second_->descriptor(), &known) == 0 && named.st_ino == known.st_ino &&
         named.st_dev == known.st_dev;
}

/// Whether what was read still counts: a commit that fails in its very end may have been seen
/// before it was taken back.
bool CommitLog::is_as_known() const {
  if (!second_is_in_place() || second_->size() < known_.end) return false;
  EntryHead last;
  return read_head(*second_, known_.last, last) && last.check == known_.chain;
}

void CommitLog::open_anew() {
  second_ = File::open_own(path(2));
  std::optional<FileHead> head = file_head(*second_);
  known_ = {};
  if (!head) {
    known_.damaged = true;
    const std::optional<File> first = opened(path(1));
    if (first) head = file_head(*first);
  }
  TESSERA_REQUIRE(IoError, head,
                  "{} is not a Tessera catalogue, or its header is damaged; restore it from a copy",
                  path(2).string());
  known_.generation = head->generation;
  known_.end = sizeof(FileHead);
  known_.chain = static_cast<std::uint64_t>(known_.generation);
}

std::optional<File> CommitLog::first_of_same_generation() const {
  std::optional<File> first = opened(path(1));
  if (!first) return std::nullopt;
  const std::optional<FileHead> head = file_head(*first);
  // If its head is damaged, the entries tell: each has the checksum of the one before.
  if (head && head->generation != known_.generation) return std::nullopt;
  return first;
}

/// The entry after what is known, in a file of this length; none if there is none that is complete.
std::optional<CommitLog::Found> CommitLog::next(std::int64_t length) {
  Found found;
  std::optional<File> first;
  std::optional<EntryHead> head = entry_head(*second_, known_.end, known_.chain);
  const bool whole = length - known_.end >= static_cast<std::int64_t>(sizeof(EntryHead));
  if (!head && !whole) return std::nullopt;
  if (!head) {
    first = first_of_same_generation();
    if (first) head = entry_head(*first, known_.end, known_.chain);
  }
  if (head && head->end(known_.end) > length) return std::nullopt;
  bool well = head && !first && read_content(*second_, known_.end, *head, found.bytes);
  known_.last_damaged = !well;
  if (head && !well) {
    if (!first) first = first_of_same_generation();
    well = first && read_content(*first, known_.end, *head, found.bytes);
    known_.damaged = true;
  }
  TESSERA_REQUIRE(IoError, well,
                  "the catalogue is damaged: the checksum of commit {} is wrong in both {} and {}, "
                  "at byte {}; restore the database from a copy",
                  known_.number + 1, path(1).string(), path(2).string(), known_.end);
  found.head = *head;
  return found;
}

/// The complete entries that a file has from a place on, two at most.
int CommitLog::commits_in(const File& file, std::int64_t at, std::uint64_t chain) {
  int count = 0;
  std::string bytes;
  while (count < 2) {
    const std::optional<EntryHead> head = entry_head(file, at, chain);
    if (!head || head->end(at) > file.size() || !read_content(file, at, *head, bytes)) break;
    ++count;
    at = head->end(at);
    chain = head->check;
  }
  return count;
}

int CommitLog::commits_ahead() const {
  const std::optional<File> first = first_of_same_generation();
  return first ? commits_in(*first, known_.end, known_.chain) : 0;
}

/// Whether the first file was rewritten and has commits since. The second one is written anew
/// before there are any.
bool CommitLog::first_has_newer_commits() const {
  const std::optional<File> first = opened(path(1));
  const std::optional<FileHead> head = first ? file_head(*first) : std::nullopt;
  if (!head || head->generation <= known_.generation) return false;
  const auto chain = static_cast<std::uint64_t>(head->generation);
  const std::optional<EntryHead> image = entry_head(*first, sizeof(FileHead), chain);
  return image &&
         (image->number > known_.number || commits_in(*first, sizeof(FileHead), chain) > 1);
}

/// The second file was this long when it was read. Whoever commits writes to the first one first:
/// so if it is as long still, they were never more than one entry apart meanwhile, and an entry of
/// which the second has a part is complete in the first. That the second one lacks it follows from
/// its length, which is only believed if what stands before is as it was written.
void CommitLog::refuse_if_cut_off(std::int64_t length) {
  const auto is_as_it_was = [&] { return second_is_in_place() && second_->size() == length; };
  const auto refuse = [&](const std::string& message) {
    second_.reset();  // whoever reads next looks again
    throw IoError(message);
  };
  if ((commits_ahead() == 2 || first_has_newer_commits()) && is_as_it_was())
    refuse(
        fmt::format("{0} is truncated or an old copy: it lacks commits that {1} has; replace it "
                    "with a copy of {1} (whose last commit may be one that was reported as "
                    "failed), or restore the database from a copy",
                    path(2).string(), path(1).string()));
  if (known_.last_damaged && commits_ahead() == 1 && is_as_it_was())
    refuse(fmt::format(
        "{0} is damaged at its end, and {1} has one commit more, which may or may not have "
        "succeeded; to keep that commit, replace {0} with a copy of {1}; to discard it, cut both "
        "files to {2} bytes (truncate -s {2}); or restore the database from a copy",
        path(2).string(), path(1).string(), known_.end));
  if (length > known_.end && commits_ahead() == 0 && is_as_it_was() && commits_ahead() == 0)
    refuse(
        fmt::format("the catalogue is damaged: {1} has a part of commit {2}, and {0} does not have "
                    "that commit; restore the database from a copy, or cut both files to {3} bytes "
                    "(truncate -s {3}) to discard the commit",
                    path(1).string(), path(2).string(), known_.number + 1, known_.end));
}

void CommitLog::read(const Take& take) {
  const bool is_new = !is_as_known();
  if (is_new) open_anew();
  const std::int64_t length = second_->size();
  while (known_.end < length) {
    const std::optional<Found> found = next(length);
    if (!found) break;
    take({found->head.kind, found->head.number, found->bytes});
    known_.last = known_.end;
    known_.end = found->head.end(known_.end);
    known_.number = found->head.number;
    known_.chain = found->head.check;
  }
  if (is_new || known_.end < length) refuse_if_cut_off(length);
}

bool CommitLog::is_being_rewritten() const {
  const std::optional<File> first = opened(path(1));
  const std::optional<FileHead> head = first ? file_head(*first) : std::nullopt;
  return !is_as_known() || (head && head->generation > known_.generation);
}

bool CommitLog::needs_rewriting() const {
  if (known_.damaged) return true;
  const std::optional<File> first = first_of_same_generation();
  EntryHead last;
  return !first || !file_head(*first) || first->size() < known_.end ||
         !read_head(*first, known_.last, last) || last.check != known_.chain;
}

void CommitLog::rewrite(std::string_view image) {
  write_new(folder_, known_.generation + 1, known_.number, image, sync_);
  read([](const Entry&) {});
}

void CommitLog::append(std::string_view changes) {
  if (second_->size() != known_.end) settle();  // or both files might end within an entry
  const std::string entry = entry_of(Kind::changes, known_.number + 1, known_.chain, changes);
  const std::int64_t end = known_.end + static_cast<std::int64_t>(entry.size());
  const auto add_to = [&](File& file) {
    // What somebody has left there never happened.
    if (file.size() != known_.end) file.truncate(known_.end);
    file.write(known_.end, bytes_of(entry));
    // Half of the reserve is there at any time.
    if (end % (reserve / 2) < static_cast<std::int64_t>(entry.size())) file.reserve(end, reserve);
    if (sync_ == Sync::always) file.sync();
  };
  File first = File::open_own_to_append(path(1)), second = File::open_own_to_append(path(2));
  add_to(first);  // what fails here has left nothing that counts
  try {
    add_to(second);
  } catch (const IoError& failure) {
    try {
      second.truncate(known_.end);
      if (sync_ == Sync::always) second.sync();
    } catch (const IoError&) {
      throw CommitInDoubt(
          fmt::format("{}; it is not known whether the statement was committed: check when the "
                      "disk works again",
                      failure.what()));
    }
    throw;
  }
  known_.last = known_.end;
  known_.end = end;
  known_.number += 1;
  known_.chain = head_of(entry).check;
}

void CommitLog::settle() {
  File second = File::open_own_to_append(path(2));
  if (second.size() != known_.end) second.truncate(known_.end);
  if (sync_ == Sync::always) second.sync();
}

std::vector<std::string> CommitLog::damage() const {
  std::vector<std::string> found;
  for (const int file : {1, 2}) {
    const std::string name = path(file).string();
    const std::optional<File> own = opened(path(file));
    if (!own) {
      found.push_back(fmt::format("{} is missing", name));
      continue;
    }
    const std::optional<FileHead> head = file_head(*own);
    if (!head) found.push_back(fmt::format("the header of {} is damaged (wrong checksum)", name));
    if (head && head->generation != known_.generation) {
      found.push_back(fmt::format("{} is older or newer than the file beside it", name));
      continue;
    }
    std::int64_t at = sizeof(FileHead);
    auto chain = static_cast<std::uint64_t>(known_.generation);
    std::string bytes;
    while (at < known_.end) {
      const std::optional<EntryHead> entry = entry_head(*own, at, chain);
      if (!entry || !read_content(*own, at, *entry, bytes)) {
        found.push_back(fmt::format("{} is damaged at byte {} (wrong checksum)", name, at));
        break;
      }
      at = entry->end(at);
      chain = entry->check;
    }
    if (at >= known_.end && chain != known_.chain)
      found.push_back(fmt::format("{} belongs to another database", name));
  }
  for (std::string& text : found)
    text += "; the other catalogue file is complete, and VACUUM rewrites both";
  return found;
}

}  // namespace tessera::store
