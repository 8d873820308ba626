#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "tessera/key.h"

namespace tessera::exec {

/// Where a key begins in a KeyStore.
using KeyId = std::int64_t;

/// Keys packed one after the other, each as its length and its components: graphs name millions
/// of keys, mostly of two or three components, for which a Key of fixed capacity is too large.
class KeyStore {
 public:
  /// All keys together take at most so many bytes. A sixteenth of what the machine has: tuples and
  /// tasks of that many keys would take most of it.
  KeyStore();
  explicit KeyStore(std::int64_t most_bytes) : most_bytes_(most_bytes) {}

  /// OutOfMemory if that would be too many.
  KeyId add(const Key& key) {
    if (words_.size() + key.size() >= words_.capacity()) make_room();
    const auto id = static_cast<KeyId>(words_.size());
    words_.push_back(static_cast<std::int64_t>(key.size()));
    words_.insert(words_.end(), key.begin(), key.end());
    return id;
  }
  std::span<const std::int64_t> components(KeyId id) const {
    return {words_.data() + id + 1, static_cast<std::size_t>(words_[id])};
  }
  Key operator[](KeyId id) const {
    const auto key = components(id);
    return {key.begin(), key.end()};
  }
  bool less(KeyId a, KeyId b) const {
    const auto x = components(a), y = components(b);
    return std::lexicographical_compare(x.begin(), x.end(), y.begin(), y.end());
  }
  const std::vector<std::int64_t>& words() const { return words_; }  // all keys

 private:
  void make_room();

  std::int64_t most_bytes_;
  std::vector<std::int64_t> words_;
};

}  // namespace tessera::exec
