#include "kernel/library_threads.h"

#include <cblas.h>
#include <dlfcn.h>

#include <algorithm>
#include <mutex>
#include <vector>

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

/// The wishes of all that live.
class Wishes {
 public:
  void replace(int old_wish, int new_wish) {  // 0: none
    if (library_.set == nullptr) return;
    const std::lock_guard lock(mutex_);
    if (wishes_.empty()) before_ = library_.get();
    if (old_wish > 0) wishes_.erase(std::find(wishes_.begin(), wishes_.end(), old_wish));
    if (new_wish > 0) wishes_.push_back(new_wish);
    int now = before_;
    for (const int wish : wishes_) now = std::min(now, wish);
    if (now != library_.get()) library_.set(now);
  }

 private:
  Library library_ = find_library();
  std::mutex mutex_;
  std::vector<int> wishes_;
  int before_ = 1;
};

Wishes& wishes() {
  static auto* all = new Wishes;  // never destroyed: a run may outlive static destructors
  return *all;
}

}  // namespace

LibraryThreads::LibraryThreads(int threads) : threads_(threads) { wishes().replace(0, threads); }
LibraryThreads::~LibraryThreads() { wishes().replace(threads_, 0); }

void LibraryThreads::use(int threads) {
  if (threads == threads_) return;
  wishes().replace(threads_, threads);
  threads_ = threads;
}

}  // namespace tessera
