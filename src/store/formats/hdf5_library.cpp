#include "store/formats/hdf5_library.h"

#include "base/check.h"

namespace tessera::store {
namespace {

std::recursive_mutex& only_one() {
  static std::recursive_mutex mutex;
  return mutex;
}

bool alone = false;

}  // namespace

void Hdf5Library::be_alone() {
  alone = true;
  (void)H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

Hdf5Library::Hdf5Library() : lock_(only_one(), std::defer_lock) {
  if (alone) return;
  lock_.lock();
  (void)H5Eget_auto2(H5E_DEFAULT, &before_, &before_data_);
  (void)H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

Hdf5Library::~Hdf5Library() {
  if (lock_) (void)H5Eset_auto2(H5E_DEFAULT, before_, before_data_);
}

void fail_hdf5(const std::string& what) {
  // The stack goes from what was asked for down to what went wrong: the last one is the reason.
  std::string reason;
  const auto keep_last = [](unsigned, const H5E_error2_t* error, void* data) -> herr_t {
    if (error->desc != nullptr && *error->desc != '\0')
      *static_cast<std::string*>(data) = error->desc;
    return 0;
  };
  (void)H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, keep_last, &reason);
  (void)H5Eclear2(H5E_DEFAULT);
  throw IoError(fmt::format("{}: {}", what, reason.empty() ? "HDF5 gives no reason" : reason));
}

}  // namespace tessera::store
