#pragma once

#include <hdf5.h>

#include <mutex>
#include <string>
#include <utility>

namespace tessera::store {

/// While it lives, nobody else of this process is in the HDF5 library, which not every build of it
/// allows, and the library prints no errors.
class Hdf5Library {
 public:
  Hdf5Library();
  ~Hdf5Library();
  Hdf5Library(const Hdf5Library&) = delete;
  Hdf5Library& operator=(const Hdf5Library&) = delete;

  /// In a process that was just forked, and has no other threads: nobody is waited for.
  static void be_alone();

 private:
  std::unique_lock<std::recursive_mutex> lock_;
  H5E_auto2_t before_ = nullptr;
  void* before_data_ = nullptr;
};

/// IoError with what happened and the library's own reason.
[[noreturn]] void fail_hdf5(const std::string& what);

/// Something of the library's, closed when this dies.
class Hdf5Handle {
 public:
  using Close = herr_t (*)(hid_t);
  /// fail_hdf5 if the library gave none.
  Hdf5Handle(hid_t id, Close close, const std::string& what) : id_(id), close_(close) {
    if (id_ < 0) fail_hdf5(what);
  }
  Hdf5Handle(Hdf5Handle&& other) noexcept
      : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  ~Hdf5Handle() {
    if (id_ < 0) return;
    const Hdf5Library library;
    (void)close_(id_);
  }
  operator hid_t() const { return id_; }  // NOLINT: so that it stands where the library wants one
  hid_t release() { return std::exchange(id_, -1); }

 private:
  hid_t id_;
  Close close_;
};

}  // namespace tessera::store
