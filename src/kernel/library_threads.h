#pragma once

namespace tessera {

/// While one of these lives, a call of the BLAS or of LAPACK works in the caller's thread alone.
/// With several threads OpenBLAS cuts sums at other places, so that the last bits of a result would
/// depend on how many it has; a product that is worth it is cut by us, always at the same places
/// (product_blocks.h). The number is one for the whole process: with the last that lives it returns
/// to what the program or its environment had set. Only OpenBLAS can be told; others stay as they
/// are.
class OneLibraryThread {
 public:
  OneLibraryThread();
  ~OneLibraryThread();
  OneLibraryThread(const OneLibraryThread&) = delete;
  OneLibraryThread& operator=(const OneLibraryThread&) = delete;
};

}  // namespace tessera
