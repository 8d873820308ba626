#pragma once

namespace tessera {

/// How many threads of its own a call of the BLAS may use while this lives. A BLAS has one such
/// number for the whole process: of several that live at once the least counts, it is never more
/// than the program or its environment had set, and with the last one it returns to that. Only
/// OpenBLAS can be told; others stay as they are.
class LibraryThreads {
 public:
  explicit LibraryThreads(int threads);
  ~LibraryThreads();
  LibraryThreads(const LibraryThreads&) = delete;
  LibraryThreads& operator=(const LibraryThreads&) = delete;

  void use(int threads);  // cheap if it is the same as before; by one thread at a time

 private:
  int threads_;
};

}  // namespace tessera
