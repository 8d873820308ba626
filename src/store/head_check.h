#pragma once

#include <xxhash.h>

#include <cstdint>
#include <type_traits>

namespace tessera::store {

/// The checksum of a head of a file or of an entry, its own field `check` being zero.
template <class Head>
std::uint64_t right_check(Head head) {
  static_assert(std::has_unique_object_representations_v<Head>, "padding would be summed");
  head.check = 0;
  return XXH3_64bits(&head, sizeof head);
}

}  // namespace tessera::store
