#include "key/occupancy.h"

#include <algorithm>
#include <array>
#include <bit>

#include "key/interval.h"

namespace tessera {
namespace {

constexpr std::int64_t block = 512;

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
    has_negatives_ = has_negatives_ || values.low < 0;
  }
  // At 64 bits a key and less, the bits take no more room than the table would.
  const auto most_bits = static_cast<unsigned __int128>(image.count) * 64;
  unsigned __int128 bits = 1;
  for (std::size_t i = 0; i < least_.size() && bits <= most_bits; ++i)
    bits *= static_cast<unsigned __int128>(difference(greatest_[i], least_[i])) + 1;
  if (bits <= most_bits) {
    bits_.resize(static_cast<std::size_t>(bits / 64 + 1));
    fill_bits();
  } else if (is_ascending()) {
    for (std::int64_t row = 0; row < image.count; ++row) count(row, true);
  } else {
    table_.resize(std::bit_ceil(static_cast<std::size_t>(image.count) * 2));
    fill_table();
  }
}

void KeyOccupancy::count(std::int64_t row, bool is_new) {
  if (!is_new) {
    if (repeating_row_ < 0) repeating_row_ = row;
    return;
  }
  ++distinct_;
  if (!has_negatives_) return;
  std::int64_t signs = 0;
  for (const auto& column : image_.columns) signs |= column[row];
  if (signs < 0) ++improper_;
}

bool KeyOccupancy::is_ascending() const {
  for (std::int64_t row = 1; row < image_.count; ++row) {
    const auto first_difference =
        std::find_if(image_.columns.begin(), image_.columns.end(),
                     [&](const auto& column) { return column[row - 1] != column[row]; });
    if (first_difference == image_.columns.end()) return false;
    if ((*first_difference)[row - 1] > (*first_difference)[row]) return false;
  }
  return true;
}

void KeyOccupancy::fill_bits() {
  const std::size_t arity = least_.size();
  strides_.assign(arity, 1);
  for (std::size_t i = arity; i-- > 1;)
    strides_[i - 1] = strides_[i] * (difference(greatest_[i], least_[i]) + 1);
  std::array<std::uint64_t, block> codes;
  for (std::int64_t start = 0; start < image_.count; start += block) {
    const std::int64_t rows = std::min(block, image_.count - start);
    codes.fill(0);
    for (std::size_t i = 0; i < arity; ++i) {
      const std::int64_t* values = image_.columns[i].data() + start;
      for (std::int64_t lane = 0; lane < rows; ++lane)
        codes[lane] += difference(values[lane], least_[i]) * strides_[i];
    }
    for (std::int64_t lane = 0; lane < rows; ++lane) {
      std::uint64_t& word = bits_[codes[lane] / 64];
      const std::uint64_t bit = 1ull << (codes[lane] % 64);
      count(start + lane, (word & bit) == 0);
      word |= bit;
    }
  }
}

std::uint64_t KeyOccupancy::hash_of_row(std::int64_t row) const {
  std::uint64_t hash = 0;
  for (const auto& column : image_.columns) hash = mix(hash, column[row]);
  return hash;
}

void KeyOccupancy::fill_table() {
  const auto same = [&](std::int64_t a, std::int64_t b) {
    return std::all_of(image_.columns.begin(), image_.columns.end(),
                       [&](const auto& column) { return column[a] == column[b]; });
  };
  const std::size_t mask = table_.size() - 1;
  std::array<std::size_t, block> slots;
  for (std::int64_t start = 0; start < image_.count; start += block) {
    const std::int64_t rows = std::min(block, image_.count - start);
    // The slots of a block are fetched while its other hashes are computed.
    for (std::int64_t lane = 0; lane < rows; ++lane) {
      slots[lane] = hash_of_row(start + lane) & mask;
      __builtin_prefetch(&table_[slots[lane]], 1);
    }
    for (std::int64_t lane = 0; lane < rows; ++lane) {
      const std::int64_t row = start + lane;
      std::size_t slot = slots[lane];
      while (table_[slot] != 0 && !same(table_[slot] - 1, row)) slot = (slot + 1) & mask;
      count(row, table_[slot] == 0);
      if (table_[slot] == 0) table_[slot] = static_cast<std::uint32_t>(row + 1);
    }
  }
}

bool KeyOccupancy::contains(const Key& key) const {
  if (image_.count == 0) return false;
  for (std::size_t i = 0; i < key.size(); ++i)
    if (key[i] < least_[i] || key[i] > greatest_[i]) return false;
  if (!table_.empty()) return table_contains(key);
  if (!bits_.empty()) {
    std::uint64_t code = 0;
    for (std::size_t i = 0; i < key.size(); ++i)
      code += difference(key[i], least_[i]) * strides_[i];
    return ((bits_[code / 64] >> (code % 64)) & 1) != 0;
  }
  std::int64_t first = 0, last = image_.count;
  while (first < last) {
    const std::int64_t middle = first + (last - first) / 2;
    if (image_.key_at(middle) < key) {
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  return first < image_.count && image_.key_at(first) == key;
}

bool KeyOccupancy::table_contains(const Key& key) const {
  std::uint64_t hash = 0;
  for (const std::int64_t component : key) hash = mix(hash, component);
  const std::size_t mask = table_.size() - 1;
  for (std::size_t slot = hash & mask; table_[slot] != 0; slot = (slot + 1) & mask)
    if (image_.key_at(table_[slot] - 1) == key) return true;
  return false;
}

std::int64_t KeyOccupancy::repeated_row() const {
  std::int64_t row = 0;
  while (row < repeating_row_ && image_.key_at(row) != image_.key_at(repeating_row_)) ++row;
  return row;
}

}  // namespace tessera
