#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/outside.h"
#include "tessera/formats.h"
#include "tessera/relation.h"

namespace tessera::store {

/// A tensor that a reader has found in a file.
struct TensorHead {
  std::string suffix = "";  // of its name, where a file has several: "" or ".labels"
  TileType tile = {};       // the type of a whole tile; those at the edges are smaller
  Presence presence = Presence::continuous;  // sparse: tiles without entries are left out
};

/// Who stores what a reader finds: all of it or, if the reader throws, nothing.
class Receiver {
 public:
  virtual ~Receiver() = default;
  /// A tensor begins; the number it goes by from here on.
  virtual int begin(const TensorHead& head) = 0;
  /// A tile of it, each key once, in any order. Any thread may call.
  virtual void add(int tensor, const Key& key, const Tile& tile) = 0;
  /// It has ended; its shape is told now, as some files do not say it before. None: it is no tensor
  /// cut into tiles but a relation of keys and tiles.
  virtual void end(int tensor, const std::optional<Shape>& shape) = 0;
  /// So many bytes and rows more are done. Any thread may call; throws Interrupted if the import is
  /// to stop.
  virtual void advance(std::int64_t bytes, std::int64_t rows) = 0;
};

/// A stored tensor that is to be written to a file.
class TensorReader {
 public:
  virtual ~TensorReader() = default;
  virtual const std::string& name() const = 0;
  virtual const RelationType& type() const = 0;
  virtual const std::optional<Shape>& shape() const = 0;  // none: no tensor cut into tiles
  virtual std::vector<Key> keys() const = 0;              // those that are there, in order
  /// The tile at a key; zeros of the right shape if a sparse tensor lacks it.
  virtual Tile read(const Key& key) const = 0;
  /// OutOfMemory if so many bytes are more than there may be: zeros that were not stored take room
  /// where they are written. A double, as there can be more of them than an integer counts.
  virtual void require_room(double) const {}
  virtual void advance(std::int64_t bytes, std::int64_t rows) = 0;  // written; as above
  /// All is written and can still be taken back. For who commits by itself: where a file takes its
  /// place when it is complete, that is looked after.
  virtual void finish() = 0;
};

/// Where a writer writes to. What it leaves there takes the place of the file once it is complete.
struct OutputFile {
  std::string name;                   // of the file that is to be, for errors
  std::string path = name;            // that is opened
  std::filesystem::path folder = {};  // with room for temporary files
};
File open_to_write(const OutputFile& to);  // empty

/// A format that files are in: one short file each. IoError says file, line where there are lines,
/// and reason of what is wrong with a file. Where one cannot be read or written, that is null.
struct Format {
  FormatInfo info;
  void (*read)(const InputFile& from, const FormatOptions& options, Receiver& into);
  void (*write)(const std::vector<TensorReader*>& tensors, const OutputFile& to,
                const FormatOptions& options);
  bool has_files = true;  // otherwise it is told by the begin of what names its place
};
const Format& npy_format();
const Format& npz_format();
const Format& raw_format();
const Format& hdf5_format();
const Format& csv_format();      // a line a row
const Format& triples_format();  // a line an entry: its coordinates, then its value
const Format& matrix_market_format();
const Format& svmlight_format();
const Format& extreme_format();  // of the extreme-classification repository
const Format& postgresql_format();

/// TypeError if an option is set that the format has no use for: `used` names those that it has,
/// besides those that every format has (threads, memory, stop and progress).
void check_options(const FormatOptions& options, const std::string& format,
                   std::initializer_list<std::string_view> used);

/// TypeError if threads or memory are no numbers of such.
void check_limits(const FormatOptions& options);

/// By name, or by the ending of a file's name. TypeError, with a list, if there is none.
const Format& find_format(const std::string& file, const std::string& name);

/// The extents of tiles that the options request for a tensor of that rank; none: they are chosen.
std::optional<Shape> requested_tile(const FormatOptions& options, int rank);

/// The extents of tiles for an array of a shape: about 8 MB of elements a tile, near to square.
Shape chosen_tile(DType dtype, const Shape& shape);

}  // namespace tessera::store
