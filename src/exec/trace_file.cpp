#include "exec/trace_file.h"

#include <sys/file.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <thread>

#include "base/check.h"
#include "store/own_files.h"

namespace tessera::exec {
namespace {

constexpr std::string_view head = "{\"traceEvents\":[";
constexpr std::string_view tail = "\n]}\n";
constexpr std::int64_t copied_at_once = 1 << 20;  // bytes

/// Nanoseconds of a clock.
template <class Clock>
std::int64_t now() {
  return std::chrono::nanoseconds(Clock::now().time_since_epoch()).count();
}

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

/// Waits until no other process has a lock on the file; false if that takes longer than `seconds`.
bool take_lock(const File& file, int kind, double seconds) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  while (::flock(file.descriptor(), kind | LOCK_NB) != 0) {
    TESSERA_REQUIRE(IoError, errno == EWOULDBLOCK || errno == EINTR, "cannot lock {}: {}",
                    file.path().string(), std::strerror(errno));
    if (Clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

}  // namespace

TraceFile::TraceFile(const std::string& path, std::shared_ptr<Engine> engine, ExternalAccess access)
    : path_(path), engine_(std::move(engine)), rank_(engine_->rank()), access_(std::move(access)) {
  if (engine_->processes() > 1) {
    begin_together();
  } else {
    open();
    begin_ = now<std::chrono::steady_clock>();
  }
}

std::string TraceFile::part(int rank) const {
  return rank == 0 ? path_ : fmt::format("{}.rank{}", path_, rank);
}

void TraceFile::open() {
  store::require_foreign_output(part(rank_), access_);
  file_.emplace(File::open_to_write(part(rank_)));
  TESSERA_REQUIRE(IoError, take_lock(*file_, LOCK_EX, 0), "another process is writing to {}",
                  part(rank_));
  file_->truncate(0);
  file_->write(0, bytes_of(head));
  end_ = std::ssize(head);
  file_->write(end_, bytes_of(tail));
}

/// All have their files, which they keep locked, before anybody goes on. Times are counted from
/// when the first process has begun, by the clocks of the machines.
void TraceFile::begin_together() {
  std::string wrong;
  try {
    open();
  } catch (const Error& error) {
    wrong = error.what();
  }
  std::string begin;
  for (const std::string& said : engine_->to_first(wrong))
    if (!said.empty() && wrong.empty()) wrong = said;
  if (rank_ == 0) {
    for (int rank = 1; rank < engine_->processes() && wrong.empty(); ++rank)
      if (!std::filesystem::exists(part(rank)))
        wrong = fmt::format(
            "{} of rank {} does not exist for rank 0: a trace must be written to a folder that all "
            "processes share",
            part(rank), rank);
    begin = wrong.empty() ? std::to_string(now<std::chrono::system_clock>()) : "!" + wrong;
  }
  begin = engine_->from_first(begin);
  TESSERA_REQUIRE(IoError, begin.front() != '!', "{}", begin.substr(1));
  begin_ = std::stoll(begin) - now<std::chrono::system_clock>() + now<std::chrono::steady_clock>();
}

void TraceFile::add(const std::string& events) {
  if (events.empty() || !file_) return;
  const std::string text = (any_ ? "," : "") + events;
  try {
    file_->write(end_, bytes_of(text + std::string(tail)));
  } catch (const Error&) {
    // What there was before is still there, and complete again.
    file_->write(end_, bytes_of(tail));
    file_->truncate(end_ + std::ssize(tail));
    throw;
  }
  end_ += std::ssize(text);
  any_ = true;
}

void TraceFile::close() {
  if (!file_) return;
  if (rank_ == 0)
    for (int rank = 1; rank < engine_->processes(); ++rank) join(rank);
  file_.reset();  // and with it the lock
  if (rank_ != 0) wait_for_first();
}

/// Adds what another process has written, once that has closed its file or has ended.
void TraceFile::join(int rank) {
  File other = File::open(part(rank));
  TESSERA_REQUIRE(IoError, take_lock(other, LOCK_SH, engine_->timeout().value_or(0)),
                  "rank {} did not complete its part of the trace, {}", rank, part(rank));
  std::int64_t from = std::ssize(head);
  const std::int64_t to = other.size() - std::ssize(tail);
  std::string end(tail.size(), ' ');
  if (to >= from) other.read(to, std::as_writable_bytes(std::span(end.data(), end.size())));
  TESSERA_REQUIRE(IoError, end == tail, "{} is truncated: rank {} was killed while writing it",
                  part(rank), rank);
  if (from == to) return remove_file(part(rank));
  if (any_) file_->write(end_++, bytes_of(","));
  any_ = true;
  while (from < to) {
    std::string piece(static_cast<std::size_t>(std::min(copied_at_once, to - from)), ' ');
    other.read(from, std::as_writable_bytes(std::span(piece.data(), piece.size())));
    file_->write(end_, bytes_of(piece));
    from += std::ssize(piece);
    end_ += std::ssize(piece);
  }
  file_->write(end_, bytes_of(tail));
  remove_file(part(rank));
}

/// Whoever launched the processes may end all when the first of them ends.
void TraceFile::wait_for_first() {
  if (!std::filesystem::exists(path_)) return;
  (void)take_lock(File::open(path_), LOCK_SH, engine_->timeout().value_or(0));
}

}  // namespace tessera::exec
