#include "mpi/messages.h"

#include <cstring>

namespace tessera::mpi {

std::vector<std::byte> make_head(const Outgoing& message, bool inline_pieces) {
  std::vector<std::int64_t> numbers{static_cast<std::int64_t>(message.header.size()),
                                    static_cast<std::int64_t>(message.pieces.size()),
                                    inline_pieces ? 1 : 0};
  numbers.insert(numbers.end(), message.header.begin(), message.header.end());
  for (const auto& piece : message.pieces)
    numbers.push_back(static_cast<std::int64_t>(piece.size()));
  std::vector<std::byte> head(numbers.size() * sizeof(std::int64_t));
  std::memcpy(head.data(), numbers.data(), head.size());
  if (inline_pieces)
    for (const auto& piece : message.pieces) head.insert(head.end(), piece.begin(), piece.end());
  return head;
}

}  // namespace tessera::mpi
