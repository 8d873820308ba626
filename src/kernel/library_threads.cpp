#include "kernel/library_threads.h"

#include <cblas.h>
#include <dlfcn.h>

#include <cstdint>
#include <mutex>

namespace tessera {
namespace {

using Set = void (*)(int);
using Get = int (*)();

struct Library {
  Set set = nullptr;
  Get get = nullptr;
};

/// Looked up in whatever library the CBLAS in use comes from: it may be any BLAS, and inside a
/// Python module its names are not among the global ones.
Library find_library() {
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(&cblas_dgemm), &info) == 0) return {};
  void* handle = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return {};
  Library found{reinterpret_cast<Set>(dlsym(handle, "openblas_set_num_threads")),
                reinterpret_cast<Get>(dlsym(handle, "openblas_get_num_threads"))};
  dlclose(handle);
  return found.set != nullptr && found.get != nullptr ? found : Library{};
}

/// How many want one thread, and what there was before the first of them.
class ThreadRequests {
 public:
  void begin() {
    if (library_.set == nullptr) return;
    const std::lock_guard lock(mutex_);
    if (count_++ > 0) return;
    before_ = library_.get();
    if (before_ != 1) library_.set(1);
  }
  void end() {
    if (library_.set == nullptr) return;
    const std::lock_guard lock(mutex_);
    if (--count_ == 0 && before_ != 1) library_.set(before_);
  }

 private:
  Library library_ = find_library();
  std::mutex mutex_;
  std::int64_t count_ = 0;
  int before_ = 1;
};

ThreadRequests& thread_requests() {
  static auto* all = new ThreadRequests;  // never destroyed: a run may outlive static destructors
  return *all;
}

}  // namespace

OneLibraryThread::OneLibraryThread() { thread_requests().begin(); }
OneLibraryThread::~OneLibraryThread() { thread_requests().end(); }

}  // namespace tessera
