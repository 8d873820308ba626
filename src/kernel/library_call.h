#pragma once

namespace tessera {

/// Stands around a call of the BLAS or of LAPACK that needs a buffer of the library's own. Where
/// the system has no memory for it OpenBLAS asks again, without end; so we ask first, whenever more
/// calls are under way than ever before. OutOfMemory if there is none.
class LibraryCall {
 public:
  LibraryCall();
  ~LibraryCall();
  LibraryCall(const LibraryCall&) = delete;
  LibraryCall& operator=(const LibraryCall&) = delete;
};

}  // namespace tessera
