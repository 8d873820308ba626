#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "exec/wire.h"

namespace tessera::mpi {

using exec::Wire;

struct Outgoing {
  Wire::Header header;
  std::vector<std::span<const std::byte>> pieces;
  std::function<void()> sent;
  std::vector<std::byte> head;  // what goes first: sizes, header and, if they are small, pieces
  int open = 0;                 // requests that are not done
  std::size_t bytes = 0;
  std::chrono::steady_clock::time_point begun = {};
};

struct Incoming {
  int from = 0;
  Wire::Header header;
  int open = 0;
};

/// The head of a message: counts, the header, the sizes of the pieces, and small pieces themselves.
std::vector<std::byte> make_head(const Outgoing& message, bool inline_pieces);

}  // namespace tessera::mpi
