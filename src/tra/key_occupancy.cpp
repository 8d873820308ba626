#include "tra/key_occupancy.h"

#include <algorithm>
#include <array>
#include <bit>

#include "tra/key_interval.h"

namespace tessera {
namespace {

std::uint64_t difference(std::int64_t a, std::int64_t b) {
  return static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b);
}

std::uint64_t mix(std::uint64_t hash, std::int64_t component) {
  hash = (hash ^ static_cast<std::uint64_t>(component)) * 0x9e3779b97f4a7c15u;
  return hash ^ (hash >> 32);
}

Interval hull(const std::vector<std::int64_t>& values) {
  Interval result{values.front(), values.front()};
  for (const std::int64_t value : values)
    result = {std::min(result.low, value), std::max(result.high, value)};
  return result;
}

}  // namespace

KeyOccupancy::KeyOccupancy(const KeyImage& image) : image_(image) {
  if (image.count == 0) return;
  for (const auto& column : image.columns) {
    const Interval values = hull(column);
    least_.push_back(values.low);
    greatest_.push_back(values.high);
  }
  // At 64 bits a key and less, the bits take no more room than the table would.
  const auto most_bits = static_cast<unsigned __int128>(image.count) * 64;
  unsigned __int128 bits = 1;
  for (std::size_t i = 0; i < least_.size() && bits <= most_bits; ++i)
    bits *= static_cast<unsigned __int128>(difference(greatest_[i], least_[i])) + 1;
  if (bits <= most_bits) {
    bits_.resize(static_cast<std::size_t>(bits / 64 + 1));
    fill_bits();
  } else {
    table_.resize(std::bit_ceil(static_cast<std::size_t>(image.count) * 2));
    fill_table();
  }
}

void KeyOccupancy::fill_bits() {
  const std::size_t arity = least_.size();
  strides_.assign(arity, 1);
  for (std::size_t i = arity; i-- > 1;)
    strides_[i - 1] = strides_[i] * (difference(greatest_[i], least_[i]) + 1);
  constexpr std::int64_t block = 512;
  std::array<std::uint64_t, block> codes;
  for (std::int64_t start = 0; start < image_.count; start += block) {
    const std::int64_t count = std::min(block, image_.count - start);
    codes.fill(0);
    for (std::size_t i = 0; i < arity; ++i) {
      const std::int64_t* values = image_.columns[i].data() + start;
      for (std::int64_t lane = 0; lane < count; ++lane)
        codes[lane] += difference(values[lane], least_[i]) * strides_[i];
    }
    for (std::int64_t lane = 0; lane < count; ++lane) {
      std::uint64_t& word = bits_[codes[lane] / 64];
      const std::uint64_t bit = 1ull << (codes[lane] % 64);
      if ((word & bit) != 0) {
        occupied_again(start + lane);
      } else {
        word |= bit;
        ++distinct_;
      }
    }
  }
}

template <class Equal>
std::size_t KeyOccupancy::find_slot(std::uint64_t hash, const Equal& equal) const {
  std::size_t slot = hash & (table_.size() - 1);
  while (table_[slot] != 0 && !equal(table_[slot] - 1)) slot = (slot + 1) & (table_.size() - 1);
  return slot;
}

void KeyOccupancy::fill_table() {
  const auto& columns = image_.columns;
  for (std::int64_t row = 0; row < image_.count; ++row) {
    std::uint64_t hash = 0;
    for (const auto& column : columns) hash = mix(hash, column[row]);
    const std::size_t slot = find_slot(hash, [&](std::uint32_t other) {
      return std::all_of(columns.begin(), columns.end(),
                         [&](const auto& column) { return column[other] == column[row]; });
    });
    if (table_[slot] != 0) {
      occupied_again(row);
    } else {
      table_[slot] = static_cast<std::uint32_t>(row + 1);
      ++distinct_;
    }
  }
}

bool KeyOccupancy::contains(const Key& key) const {
  if (image_.count == 0) return false;
  for (std::size_t i = 0; i < key.size(); ++i)
    if (key[i] < least_[i] || key[i] > greatest_[i]) return false;
  if (!bits_.empty()) {
    std::uint64_t code = 0;
    for (std::size_t i = 0; i < key.size(); ++i)
      code += difference(key[i], least_[i]) * strides_[i];
    return ((bits_[code / 64] >> (code % 64)) & 1) != 0;
  }
  std::uint64_t hash = 0;
  for (const std::int64_t component : key) hash = mix(hash, component);
  const std::size_t slot = find_slot(hash, [&](std::uint32_t row) {
    for (std::size_t i = 0; i < key.size(); ++i)
      if (image_.columns[i][row] != key[i]) return false;
    return true;
  });
  return table_[slot] != 0;
}

std::int64_t KeyOccupancy::repeated_row() const {
  std::int64_t row = 0;
  while (row < repeating_row_ && image_.key_at(row) != image_.key_at(repeating_row_)) ++row;
  return row;
}

}  // namespace tessera
