#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "tessera/external_access.h"
#include "tessera/tile.h"

namespace tessera {

/// How far an import or an export has come. What a row is depends on the format: a line of text, an
/// entry of a sparse matrix, an index along the first dimension of an array.
struct FileProgress {
  std::int64_t bytes_done = 0, bytes = 0;  // of the file; 0 if its length is not known
  std::int64_t rows = 0;
  double seconds = 0;
  double fraction = 0;  // 0 to 1: of the file that is read, or of the tiles that are written to it
};

/// How a file is read or written. An option that a format has no use for is refused.
struct FormatOptions {
  std::string format = "";          // none: told by the ending of the name
  std::optional<Shape> tile = {};   // import: the extents of a tile; none: chosen
  std::int64_t tile_extent = 0;     // of a tile that is chosen, along every dimension; 0: any
  std::optional<DType> dtype = {};  // import: none: the one that holds what is in the file
  std::optional<Shape> shape = {};  // raw: of the array; coordinates: at least what they need
  std::string member = "";          // of an archive: which array (npz), which dataset (HDF5)
  bool column_major = false;        // raw; export of npy
  char delimiter = '\0';            // text; none: told by the ending or the first line
  std::optional<bool> header = {};  // text: whether the first line names columns; none: looked at
  std::optional<double> missing = {};  // text: what an empty field stands for; none: NaN
  std::optional<int> index_base = {};  // coordinates count from 0 or from 1; none: as is usual
  std::string query = "";              // PostgreSQL
  bool tile_a_row = false;             // PostgreSQL: a row is a key and an array, not an entry
  bool external_files = false;  // HDF5: elements may lie in other files, which the file names
  ExternalAccess external_access = {};           // what may be read and written
  int threads = 0;                               // 0: all cores
  std::int64_t memory = std::int64_t{64} << 20;  // bytes that may be held, besides a tile or two
  std::stop_token stop = {};
  std::function<void(const FileProgress&)> progress = {};  // by any thread, never two at once
  double progress_seconds = 0.1;
};

/// A format by its name, what it is, and which endings of file names tell it.
struct FormatInfo {
  std::string name;
  std::string description;
  std::vector<std::string> endings;
};
std::vector<FormatInfo> formats();

}  // namespace tessera
