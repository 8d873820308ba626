#include "store/formats/sorted_runs.h"

#include <algorithm>
#include <array>
#include <bit>
#include <filesystem>
#include <utility>

#include "base/memory_account.h"
#include "base/stop.h"

namespace tessera::store {
namespace {

constexpr std::size_t least_room = 1 << 10;  // pairs
constexpr int digit_bits = 8;
constexpr std::size_t few = 128;  // pairs that are not worth counting
constexpr std::size_t digits = std::size_t{1} << digit_bits;

bool before(const SortedRuns::Pair& a, const SortedRuns::Pair& b) {
  return a.position < b.position;
}

using Pair = SortedRuns::Pair;

/// Moves pairs to where their digit puts them, in the order they have; where each digit ends.
std::array<std::size_t, digits> distribute(std::span<const Pair> pairs, int shift,
                                           std::span<Pair> into) {
  std::array<std::size_t, digits> next{};
  for (const Pair& pair : pairs) ++next[(pair.position >> shift) & (digits - 1)];
  std::size_t sum = 0;
  for (std::size_t& count : next) sum += std::exchange(count, sum);
  for (const Pair& pair : pairs) into[next[(pair.position >> shift) & (digits - 1)]++] = pair;
  return next;
}

/// By counting, digit by digit: the first of them so that what is left to do fits the caches, the
/// others from the last on. Stable, as the sums of entries must not depend on where runs end.
/// `scratch` is as long, and has the result.
void sort_into(std::span<Pair> pairs, std::span<Pair> scratch) {
  std::uint64_t differing = 0;
  for (const Pair& pair : pairs) differing |= pair.position ^ pairs[0].position;
  const int bits = static_cast<int>(std::bit_width(differing));
  const int first = std::max(0, bits - digit_bits);
  const auto ends = distribute(pairs, first, scratch);
  std::size_t begin = 0;
  for (const std::size_t end : ends) {
    refuse_if_stopped("entries were sorted");
    std::span<Pair> from = scratch.subspan(begin, end - begin);
    std::span<Pair> to = pairs.subspan(begin, end - begin);
    begin = end;
    if (std::is_sorted(from.begin(), from.end(), before)) continue;
    if (from.size() <= few) {
      std::stable_sort(from.begin(), from.end(), before);
      continue;
    }
    bool moved = false;
    for (int shift = 0; shift < first; shift += digit_bits) {
      (void)distribute(from, shift, to);
      std::swap(from, to);
      moved = !moved;
    }
    if (moved) std::copy(from.begin(), from.end(), to.begin());
  }
}

/// Many files are sorted already.
void sort(std::vector<Pair>& pairs, std::vector<Pair>& scratch) {
  if (std::is_sorted(pairs.begin(), pairs.end(), before)) return;
  scratch.resize(pairs.size());
  sort_into(pairs, scratch);
  pairs.swap(scratch);
}

}  // namespace

// Sorting needs as much memory again, and so does what is added meanwhile.
SortedRuns::SortedRuns(std::int64_t memory, bool beside)
    : beside_(beside),
      room_(std::max(least_room, static_cast<std::size_t>(std::max<std::int64_t>(memory, 0)) /
                                     (beside ? 3 : 2) / sizeof(Pair))) {}

void SortedRuns::write_run() {
  sort(closed_, scratch_);
  if (!file_) file_ = File::temporary(std::filesystem::temp_directory_path());
  file_->write(end_, std::as_bytes(std::span(closed_)));
  Run run;
  run.offset = end_;
  run.left = static_cast<std::int64_t>(closed_.size());
  runs_.push_back(std::move(run));
  end_ += static_cast<std::int64_t>(closed_.size() * sizeof(Pair));
}

void SortedRuns::close_run() {
  if (writing_.valid()) writing_.get();
  open_.swap(closed_);
  open_.clear();
  if (beside_)
    writing_ = std::async(std::launch::async,
                          [this, account = MemoryAccount::current(), stop = heard_stop()] {
                            const OpenAccount counted(account);
                            const StopScope stop_scope(stop);
                            write_run();
                          });
  else
    write_run();
}

void SortedRuns::begin() {
  if (writing_.valid()) writing_.get();
  if (runs_.empty()) {
    sort(open_, scratch_);
    Run only;
    only.pairs = std::move(open_);
    if (!only.pairs.empty()) runs_.push_back(std::move(only));
  } else if (!open_.empty()) {
    close_run();
    if (writing_.valid()) writing_.get();
  }
  open_ = {};
  closed_ = {};
  scratch_ = {};
  heap_.clear();
  for (std::size_t i = 0; i < runs_.size(); ++i)
    if (runs_[i].at < runs_[i].pairs.size() || refill(runs_[i]))
      heap_.push_back({runs_[i].pairs[runs_[i].at].position, i});
  std::make_heap(heap_.begin(), heap_.end(),
                 [](const Head& a, const Head& b) { return b.comes_before(a); });
}

bool SortedRuns::refill(Run& run) {
  if (run.left == 0) return false;
  const std::size_t share = std::max<std::size_t>(64, 2 * room_ / runs_.size());
  run.pairs.resize(std::min<std::size_t>(share, static_cast<std::size_t>(run.left)));
  file_->read(run.offset, std::as_writable_bytes(std::span(run.pairs)));
  run.offset += static_cast<std::int64_t>(run.pairs.size() * sizeof(Pair));
  run.left -= static_cast<std::int64_t>(run.pairs.size());
  run.at = 0;
  return true;
}

bool SortedRuns::next(Pair& pair) {
  if (heap_.empty()) return false;
  Run& run = runs_[heap_[0].run];
  pair = run.pairs[run.at++];
  Head moved{0, heap_[0].run};
  if (run.at < run.pairs.size() || refill(run)) {
    moved.position = run.pairs[run.at].position;
  } else {
    moved = heap_.back();
    heap_.pop_back();
    if (heap_.empty()) return true;
  }
  // It goes down from the top to its place; often it stays.
  std::size_t at = 0;
  for (std::size_t child = 1; child < heap_.size(); child = 2 * at + 1) {
    if (child + 1 < heap_.size() && heap_[child + 1].comes_before(heap_[child])) ++child;
    if (!heap_[child].comes_before(moved)) break;
    heap_[at] = heap_[child];
    at = child;
  }
  heap_[at] = moved;
  return true;
}

}  // namespace tessera::store
