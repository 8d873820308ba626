#include "store/formats/entry_spool.h"

#include <filesystem>

namespace tessera::store {
namespace {

template <class T>
std::span<const std::byte> bytes_of(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}

}  // namespace

EntrySpool::EntrySpool(int rank, std::int64_t memory)
    : rank_(rank), room_(memory / 4), least_(rank, 0), extents_(rank, 0) {}

void EntrySpool::add(const Entries& entries) {
  if (entries.size() == 0) return;
  if (size_ == 0)
    for (int d = 0; d < rank_; ++d) least_[d] = entries.at(0)[d];
  for (std::int64_t i = 0; i < entries.size(); ++i)
    for (int d = 0; d < rank_; ++d) {
      const std::int64_t coordinate = entries.at(i)[d];
      least_[d] = std::min(least_[d], coordinate);
      extents_[d] = std::max(extents_[d], coordinate + 1);
    }
  kind_ = std::max(kind_, entries.values.kind());
  size_ += entries.size();
  held_bytes_ += entries.bytes();
  held_.push_back(entries);
  if (held_bytes_ > room_) write_out();
}

void EntrySpool::write_out() {
  if (!file_) file_ = File::temporary(std::filesystem::temp_directory_path());
  for (const Entries& entries : held_) {
    chunks_.push_back({end_, entries.size(), entries.values.kind()});
    file_->write(end_, bytes_of(entries.coordinates));
    end_ += entries.size() * rank_ * 8;
    file_->write(end_, bytes_of(entries.values.bits()));
    end_ += entries.size() * 8;
  }
  held_.clear();
  held_bytes_ = 0;
}

void EntrySpool::replay(const std::function<void(Entries&)>& to) {
  for (const Chunk& chunk : chunks_) {
    Entries entries(rank_);
    entries.coordinates.resize(chunk.entries * rank_);
    std::vector<std::uint64_t> bits(chunk.entries);
    file_->read(chunk.offset, std::as_writable_bytes(std::span(entries.coordinates)));
    file_->read(chunk.offset + chunk.entries * rank_ * 8, std::as_writable_bytes(std::span(bits)));
    entries.values.restore(std::move(bits), chunk.kind);
    to(entries);
  }
  for (Entries& entries : held_) {
    to(entries);
    entries = Entries(rank_);
  }
  chunks_.clear();
  held_.clear();
  file_.reset();
}

}  // namespace tessera::store
