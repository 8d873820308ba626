#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <string>

#include "tessera/error.h"

namespace tessera {

/// A vector of at most `Capacity` elements that lives where it is declared: shapes and keys are
/// made by the million and must not touch the heap. Growing past the capacity is a TypeError.
template <class T, std::size_t Capacity>
class InlineVector {
 public:
  using value_type = T;
  static constexpr std::size_t capacity = Capacity;

  InlineVector() = default;
  InlineVector(std::initializer_list<T> values) : InlineVector(values.begin(), values.end()) {}
  InlineVector(std::size_t count, T value) {
    resize(count);
    std::fill(begin(), end(), value);
  }
  template <std::input_iterator Iterator>
  InlineVector(Iterator first, Iterator last) {
    for (; first != last; ++first) push_back(static_cast<T>(*first));
  }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* begin() { return values_.data(); }
  T* end() { return values_.data() + size_; }
  const T* begin() const { return values_.data(); }
  const T* end() const { return values_.data() + size_; }
  const T* data() const { return values_.data(); }
  T& operator[](std::size_t i) { return values_[i]; }
  const T& operator[](std::size_t i) const { return values_[i]; }
  const T& back() const { return values_[size_ - 1]; }

  void push_back(T value) {
    resize(size_ + 1);
    values_[size_ - 1] = value;
  }
  void resize(std::size_t count) {
    if (count > Capacity)
      throw TypeError("at most " + std::to_string(Capacity) + " dimensions, not " +
                      std::to_string(count));
    for (std::size_t i = size_; i < count; ++i) values_[i] = T{};
    size_ = static_cast<std::uint32_t>(count);
  }

  friend bool operator==(const InlineVector& a, const InlineVector& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }
  friend auto operator<=>(const InlineVector& a, const InlineVector& b) {
    return std::lexicographical_compare_three_way(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  std::uint32_t size_ = 0;
  std::array<T, Capacity> values_{};
};

}  // namespace tessera
