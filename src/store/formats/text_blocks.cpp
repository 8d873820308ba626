#include "store/formats/text_blocks.h"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "base/check.h"
#include "base/memory_account.h"
#include "base/parallel.h"
#include "base/stop.h"

namespace tessera::store {
namespace {

/// Blocks on their way through the threads.
class Pipeline {
 public:
  Pipeline(TextFile& file, std::int64_t block_bytes, int threads, const ReadBlock& read)
      : file_(file), block_bytes_(block_bytes), most_(2 * threads), read_(read) {}

  void run(int threads) {
    {
      std::vector<std::jthread> others;
      for (int i = 1; i < threads; ++i)
        others.emplace_back([this, account = MemoryAccount::current(), stop = heard_stop()] {
          const OpenAccount counted(account);
          const StopScope stop_scope(stop);
          work_or_fail();
        });
      work_or_fail();
    }
    if (error_) std::rethrow_exception(error_);
  }

 private:
  /// An error here is one of no block: there is no memory to note what was read.
  void work_or_fail() {
    try {
      work();
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!error_) error_ = std::current_exception();
      changed_.notify_all();
    }
  }

  void work() {
    std::vector<char> buffer;
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return error_ || ended_ || begun_ - taken_ < most_; });
      if (error_ || ended_) return;
      TextBlock block;
      try {
        ended_ = !file_.next(block_bytes_, buffer, block);
      } catch (...) {
        // As if it were a block: the ones before it may have errors of their own.
        ready_.emplace(begun_++, thrower());
        ended_ = true;
        take(lock);
      }
      if (ended_) {
        changed_.notify_all();
        return;
      }
      const std::int64_t number = begun_++;
      lock.unlock();
      std::function<void()> found;
      try {
        found = read_(block);
      } catch (...) {
        found = thrower();
      }
      lock.lock();
      ready_.emplace(number, std::move(found));
      take(lock);
    }
  }

  static std::function<void()> thrower() {
    return [error = std::current_exception()] { std::rethrow_exception(error); };
  }

  /// Unless another thread does it already, and will look again before it stops.
  void take(std::unique_lock<std::mutex>& lock) {
    if (taking_) return;
    taking_ = true;
    while (!error_ && !ready_.empty() && ready_.begin()->first == taken_) {
      std::function<void()> found = std::move(ready_.begin()->second);
      ready_.erase(ready_.begin());
      lock.unlock();
      std::exception_ptr error;
      try {
        found();
      } catch (...) {
        error = std::current_exception();
      }
      found = nullptr;
      lock.lock();
      error_ = error;
      ++taken_;
      changed_.notify_all();
    }
    taking_ = false;
  }

  TextFile& file_;
  const std::int64_t block_bytes_;
  const std::int64_t most_;
  const ReadBlock& read_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::int64_t begun_ = 0, taken_ = 0;
  bool ended_ = false, taking_ = false;
  std::map<std::int64_t, std::function<void()>> ready_;
  std::exception_ptr error_;
};

}  // namespace

TextFile::TextFile(const InputFile& input) : path_(input.name), file_(open_to_read(input)) {
  size_ = file_.size();
  unsigned char begin[3] = {};
  const std::size_t count = file_.read_some(0, std::as_writable_bytes(std::span(begin)));
  if (count == 3 && begin[0] == 0xef && begin[1] == 0xbb && begin[2] == 0xbf) mark_ = 3;
  TESSERA_REQUIRE(
      IoError,
      count < 2 ||
          !((begin[0] == 0xff && begin[1] == 0xfe) || (begin[0] == 0xfe && begin[1] == 0xff)),
      "{}, line 1: the text is UTF-16; convert it to UTF-8, with iconv for instance", path_);
  offset_ = mark_;
}

std::int64_t TextFile::fill(std::int64_t offset, std::int64_t bytes,
                            std::vector<char>& buffer) const {
  for (;; bytes *= 2) {
    const std::int64_t wanted = std::min(bytes, size_ - offset);
    if (wanted <= 0) return 0;
    if (std::cmp_less(buffer.size(), wanted)) buffer.resize(static_cast<std::size_t>(wanted));
    file_.read(offset,
               std::as_writable_bytes(std::span(buffer.data(), static_cast<std::size_t>(wanted))));
    if (offset + wanted == size_) return wanted;
    const void* last = ::memrchr(buffer.data(), '\n', static_cast<std::size_t>(wanted));
    if (last != nullptr) return static_cast<const char*>(last) - buffer.data() + 1;
  }
}

TextBlock TextFile::head(std::int64_t bytes, std::vector<char>& buffer) const {
  const std::int64_t length = fill(mark_, bytes, buffer);
  return {{buffer.data(), static_cast<std::size_t>(length)}, 1, mark_ + length};
}

void TextFile::go_to(std::int64_t offset, std::int64_t line) {
  offset_ = std::max(offset, mark_);
  line_ = line;
}

bool TextFile::next(std::int64_t bytes, std::vector<char>& buffer, TextBlock& block) {
  const std::int64_t length = fill(offset_, bytes, buffer);
  if (length == 0) return false;
  block.text = {buffer.data(), static_cast<std::size_t>(length)};
  block.first_line = line_;
  block.bytes = length + (offset_ == mark_ ? mark_ : 0);
  offset_ += length;
  line_ += std::count(block.text.begin(), block.text.end(), '\n');
  return true;
}

void for_each_block(TextFile& file, const FormatOptions& options, const ReadBlock& read) {
  const int threads = thread_count(options.threads);
  // A block in the making takes its text and what was found in it, perhaps three times as much.
  const std::int64_t share = options.memory / (8 * 2 * threads);
  const std::int64_t bytes = std::clamp<std::int64_t>(share, 1 << 12, 1 << 20);
  Pipeline(file, bytes, threads, read).run(threads);
}

}  // namespace tessera::store
