#pragma once

#include <mutex>

#include "tessera/tile.h"

namespace tessera::store {

/// Tells how many bytes and rows of a dense tensor are done, as its tiles come in any order: a row
/// is done when as many elements are as it has.
template <class Listener>
class TensorProgress {
 public:
  TensorProgress(const Shape& shape, std::int64_t bytes, Listener& listener)
      : elements_(shape.elements()),
        rows_(shape.rank() == 0 ? 1 : shape[0]),
        bytes_(bytes),
        listener_(listener) {}

  /// Any thread may call.
  void add(std::int64_t elements) {
    std::int64_t bytes = 0, rows = 0;
    {
      const std::lock_guard lock(mutex_);
      bytes = -share(bytes_);
      rows = -share(rows_);
      done_ += elements;
      bytes += share(bytes_);
      rows += share(rows_);
    }
    listener_.advance(bytes, rows);
  }

 private:
  std::int64_t share(std::int64_t of) const {
    if (elements_ == 0) return 0;
    return static_cast<std::int64_t>(static_cast<__int128>(of) * done_ / elements_);
  }

  const std::int64_t elements_, rows_, bytes_;
  Listener& listener_;
  std::mutex mutex_;
  std::int64_t done_ = 0;
};

}  // namespace tessera::store
