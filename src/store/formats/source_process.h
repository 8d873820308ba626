#pragma once

#include <functional>
#include <memory>

#include "store/formats/array_source.h"

namespace tessera::store {

/// An array that a process of its own reads, because the library that does it may break, or never
/// end, on a malformed file: then this one says so, and lives on.
class SourceProcess : public ArraySource {
 public:
  /// `open` is called in the new process, which has one thread and knows everything that this one
  /// knows now. What it throws is thrown here. `still_wanted` is called from time to time while
  /// this process waits, and may throw. `until_then` is let go when the other process is there.
  static std::unique_ptr<SourceProcess> start(
      const std::function<std::unique_ptr<ArraySource>()>& open, const std::string& file,
      std::function<void()> still_wanted, std::shared_ptr<const void> until_then);
  ~SourceProcess() override;

  void read(const Box& box, std::byte* into) override;
  std::int64_t bytes_in_file() const override { return bytes_in_file_; }

 private:
  class Channel;
  SourceProcess(std::unique_ptr<Channel> channel, StoredArray array, const std::string& what,
                std::int64_t bytes_in_file);

  std::unique_ptr<Channel> channel_;
  const std::int64_t bytes_in_file_;
};

}  // namespace tessera::store
