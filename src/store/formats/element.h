#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "tessera/tile.h"

namespace tessera::store {

/// The kinds of numbers that files hold: more than tiles have.
enum class Number : std::uint8_t { boolean, i8, i16, i32, i64, u8, u16, u32, u64, f16, f32, f64 };

/// A number as it lies in a file.
struct Element {
  Number number = Number::f64;
  bool swapped = false;  // its bytes are in the order that this machine does not have
};
std::string to_string(Element element);
std::int64_t size_of(Element element);

/// NumPy's name of it: "<f8", ">i2", "|b1". TypeError, saying what can be read, if it is another.
Element parse_element(std::string_view descr);
/// What NumPy calls our own elements.
std::string numpy_name(DType dtype);
Element element_of(DType dtype);

/// The dtype that holds every value, but for numbers of 64 bits without sign, whose dtype is i64.
DType dtype_for(Element element);
/// Whether elements of the file are those of a tile, byte by byte.
bool is_same(Element element, DType dtype);

/// Elements of a file as elements of a tile. As `Tile::cast`, but a number that i64 does not hold
/// is a ValueError; `what` says in it where the number is from.
void convert(Element element, const std::byte* from, std::int64_t count, DType dtype,
             std::byte* into, const std::string& what);

}  // namespace tessera::store
