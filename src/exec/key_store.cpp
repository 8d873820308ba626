#include "exec/key_store.h"

#include "base/bytes.h"
#include "base/check.h"
#include "exec/memory_limit.h"

namespace tessera::exec {

KeyStore::KeyStore() : KeyStore(machine_memory() / 16) {}

void KeyStore::make_room() {
  const std::int64_t word = sizeof(std::int64_t);
  const std::int64_t wanted = std::max<std::int64_t>(1024, 2 * std::ssize(words_));
  TESSERA_REQUIRE(OutOfMemory, wanted * word <= most_bytes_,
                  "the plan has so many tiles, or pairs of tiles in its joins, that their keys "
                  "alone need more than {}: use larger tiles, or add a condition to the join",
                  bytes_text(std::ssize(words_) * word));
  words_.reserve(static_cast<std::size_t>(wanted));
}

}  // namespace tessera::exec
