#pragma once

#include <cstdint>
#include <future>
#include <optional>
#include <vector>

#include "base/file.h"

namespace tessera::store {

/// Pairs of a position and the 8 bytes of a value, in any order, to be had again in order of their
/// positions, and those with the same position in the order they came. Runs that fill the memory
/// are sorted and written to a temporary file, and merged at the end.
class SortedRuns {
 public:
  struct Pair {
    std::uint64_t position;
    std::uint64_t value;
  };

  /// `beside`: runs are sorted and written by a thread of their own, while others are added.
  SortedRuns(std::int64_t memory, bool beside);

  void add(std::uint64_t position, std::uint64_t value) {
    if (open_.size() == room_) close_run();
    open_.push_back({position, value});
  }

  /// After the last pair was added: goes back to the first.
  void begin();
  /// The next pair; false if there is none.
  bool next(Pair& pair);

 private:
  /// A sorted run, or what is in memory of it.
  struct Run {
    std::int64_t offset = 0, left = 0;  // in the file, pairs
    std::vector<Pair> pairs;
    std::size_t at = 0;
  };
  void close_run();
  void write_run();  // what is closed
  bool refill(Run& run);
  /// A run and the position of its next pair.
  struct Head {
    std::uint64_t position;
    std::size_t run;
    bool comes_before(const Head& other) const {
      return position != other.position ? position < other.position : run < other.run;
    }
  };

  const bool beside_;
  const std::size_t room_;  // pairs
  std::vector<Pair> open_, closed_, scratch_;
  std::vector<Run> runs_;
  std::vector<Head> heap_;  // the first of them on top
  std::optional<File> file_;
  std::int64_t end_ = 0;
  std::future<void> writing_;  // the last, so that it ends first
};

}  // namespace tessera::store
