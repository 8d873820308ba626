#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "tessera/inline_vector.h"

namespace tessera {

enum class DType : std::uint8_t { f32, f64, i64, boolean };

std::string_view to_string(DType dtype);
DType parse_dtype(std::string_view name);
std::size_t size_of(DType dtype);

template <class T>
inline constexpr bool is_element = std::is_same_v<T, float> || std::is_same_v<T, double> ||
                                   std::is_same_v<T, std::int64_t> || std::is_same_v<T, bool>;

template <class T>
requires is_element<T>
inline constexpr DType dtype_of = std::is_same_v<T, float>    ? DType::f32
                                  : std::is_same_v<T, double> ? DType::f64
                                  : std::is_same_v<T, bool>   ? DType::boolean
                                                              : DType::i64;

inline constexpr int max_rank = 8;

/// The extents of a tile, or a position in it.
struct Shape : InlineVector<std::int64_t, max_rank> {
  using InlineVector::InlineVector;
  int rank() const { return static_cast<int>(size()); }
  std::int64_t elements() const;  // 1 for rank 0; TypeError if it does not fit 63 bits
};
using Index = Shape;
using Strides = InlineVector<std::int64_t, max_rank>;

std::string to_string(const Shape& shape);  // "[2x3]", "[]" for rank 0

/// What is known of a tile without its elements. `sparse_dims` = m: the last m dimensions are
/// compressed, the ones before them are dense. Printed as SAC writes it: f64[2x3] is dense,
/// f64[2](3) has one dense and one sparse dimension (CSR), f64[](2x3) has two sparse ones.
struct TileType {
  DType dtype = DType::f64;
  Shape shape;
  int sparse_dims = 0;
  bool is_sparse() const { return sparse_dims > 0; }
  friend bool operator==(const TileType&, const TileType&) = default;
};
std::string to_string(const TileType& type);

/// An immutable tensor of rank 0 to 8: a cheap handle to shared, reference-counted storage.
///
/// Two layouts. *Dense*: strided, so that slices and transposes are views; row-major when made
/// here. *Sparse* (n dense and m sparse dimensions, the generalisation of CSR in the SAC paper):
/// the dense index k, linearised row-major, owns the entries offsets[k] to offsets[k+1]-1, whose
/// positions in the sparse dimensions are `coordinates`, linearised row-major, strictly
/// increasing within a k; `values` are beside them. A sparse boolean tile has no values: what is
/// stored is true. A position that is not stored is an exact zero.
class Tile {
 public:
  struct Rep;

  Tile();  // the f64 scalar 0
  template <class T>
  requires is_element<T>
  static Tile scalar(T value);
  template <class T>
  requires is_element<T>
  static Tile of(const Shape& shape, const std::vector<T>& row_major);
  template <class T>
  requires is_element<T>
  static Tile of(const Shape& shape, std::initializer_list<T> row_major) {
    return of(shape, std::vector<T>(row_major));
  }
  static Tile zeros(DType dtype, const Shape& shape, int sparse_dims = 0);
  static Tile zeros(const TileType& type) {
    return zeros(type.dtype, type.shape, type.sparse_dims);
  }
  static Tile full(DType dtype, const Shape& shape, double value);

  /// Memory of somebody else, without a copy; `owner` is released with the last tile that reads
  /// it. Strides count elements and may be negative or zero.
  static Tile wrap(DType dtype, const Shape& shape, const void* row_major,
                   std::shared_ptr<const void> owner);
  static Tile wrap(DType dtype, const Shape& shape, const Strides& strides, const void* first,
                   std::shared_ptr<const void> owner);
  /// Checks that the offsets and coordinates obey the layout. `values` is null for boolean.
  static Tile wrap_sparse(const TileType& type, const std::int64_t* offsets,
                          const std::int64_t* coordinates, const void* values,
                          std::shared_ptr<const void> owner);

  DType dtype() const;
  const Shape& shape() const;
  int rank() const { return shape().rank(); }
  std::int64_t elements() const;
  int sparse_dims() const;
  int dense_dims() const { return rank() - sparse_dims(); }
  bool is_sparse() const { return sparse_dims() > 0; }
  TileType type() const { return {dtype(), shape(), sparse_dims()}; }
  std::int64_t stored() const;  // entries in memory: all elements of a dense tile
  std::int64_t bytes() const;   // what the stored entries take

  /// Dense tiles: the first element and the strides in elements.
  const Strides& strides() const;
  bool is_contiguous() const;  // dense and row-major without gaps
  const std::byte* bytes_begin() const;
  template <class T>
  requires is_element<T>
  const T* data() const {
    require_dtype(dtype_of<T>);
    return reinterpret_cast<const T*>(bytes_begin());
  }
  /// Sparse tiles. Offsets may start above 0 in a view; entries lie in [offsets[0], offsets[rows]).
  std::int64_t rows() const;  // how many dense indices there are
  const std::int64_t* offsets() const;
  const std::int64_t* coordinates() const;
  template <class T>
  requires is_element<T>
  const T* values() const { return data<T>(); }

  /// One element, as any dtype: for tests, printing and looking around, not for loops.
  template <class T>
  requires is_element<T> T at(const Index& index)
  const;
  /// Whether a position is stored, which every position of a dense tile is.
  bool is_stored(const Index& index) const;

  Tile contiguous() const;                // dense, row-major; itself if it is so already
  Tile with_sparse_dims(int dims) const;  // the same elements in another layout
  Tile dense() const { return with_sparse_dims(0); }
  Tile cast(DType dtype) const;  // as C++ converts; a float that no i64 holds becomes the minimum

  /// Views of dense tiles share storage; so do slices of sparse tiles along their first dense
  /// dimension. Other rearrangements of sparse tiles copy the stored entries.
  Tile slice(const Index& begin, const Index& end) const;
  Tile slice(const Index& begin, const Index& end, const Strides& step) const;
  Tile permute(const std::vector<std::int64_t>& axes) const;
  Tile transpose() const;  // reverses the dimensions
  Tile reshape(const Shape& shape) const;
  Tile broadcast(const Shape& shape) const;  // NumPy's rules; dense, with strides of zero
  Tile diagonal() const;                     // the main diagonal of the last two dimensions

  const Rep& rep() const { return *rep_; }
  bool is_unique() const { return rep_.use_count() == 1; }
  explicit Tile(std::shared_ptr<const Rep> rep) : rep_(std::move(rep)) {}

 private:
  void require_dtype(DType dtype) const;
  std::shared_ptr<const Rep> rep_;
};

/// A dense row-major tile under construction. It has one owner, who publishes it once done.
class MutableTile {
 public:
  static MutableTile uninitialized(DType dtype, const Shape& shape);
  static MutableTile zeros(DType dtype, const Shape& shape);
  static MutableTile copy_of(const Tile& tile);  // densified if it is sparse
  /// Takes the storage of a tile that nobody else holds; copies otherwise.
  static MutableTile take(Tile&& tile);

  MutableTile(MutableTile&&) = default;
  MutableTile& operator=(MutableTile&&) = default;

  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  std::int64_t elements() const { return elements_; }
  std::byte* bytes_begin() { return data_; }
  template <class T>
  requires is_element<T> T* data() {
    require_dtype(dtype_of<T>);
    return reinterpret_cast<T*>(data_);
  }
  Tile publish() &&;

 private:
  MutableTile() = default;
  void require_dtype(DType dtype) const;
  DType dtype_ = DType::f64;
  Shape shape_;
  std::int64_t elements_ = 0;
  std::byte* data_ = nullptr;
  std::shared_ptr<const void> owner_;
};

struct SparseStorage;

/// Builds a sparse tile row by row: entries come in increasing order of (row, coordinate).
class SparseBuilder {
 public:
  explicit SparseBuilder(const TileType& type, std::int64_t expected_entries = 0);
  /// Zero entries are dropped; a boolean entry stores only its place.
  template <class T>
  requires is_element<T>
  void add(std::int64_t row, std::int64_t coordinate, T value);
  Tile publish() &&;

 private:
  TileType type_;
  std::int64_t last_row_ = 0;
  std::shared_ptr<SparseStorage> storage_;
};

/// Random tiles, the same for the same seed on every machine. Uniform booleans are a fair coin.
Tile random_uniform(DType dtype, const Shape& shape, std::uint64_t seed, double low = 0,
                    double high = 1);
Tile random_normal(DType dtype, const Shape& shape, std::uint64_t seed, double mean = 0,
                   double deviation = 1);
Tile random_integers(DType dtype, const Shape& shape, std::uint64_t seed, std::int64_t low,
                     std::int64_t high);  // low to high - 1
/// About density * elements stored entries, uniform in (0, 1].
Tile random_sparse(const TileType& type, std::uint64_t seed, double density);

/// As NumPy prints: nested brackets, aligned columns, long dimensions cut to their ends.
std::string to_string(const Tile& tile);
std::ostream& operator<<(std::ostream& out, const Tile& tile);

/// The dtype that holds both, by NumPy's rules: bool < i64 < f64, f32 with i64 is f64.
DType promote(DType a, DType b);
/// The shape two shapes broadcast to, by NumPy's rules; TypeError with both shapes otherwise.
Shape broadcast_shapes(const Shape& a, const Shape& b);

}  // namespace tessera
