#pragma once

#include <zip.h>

#include <exception>
#include <functional>

#include "store/formats/format.h"

namespace tessera::store {

/// A file that libzip writes an archive to. Left alone it would write to another file beside, whose
/// name it chooses, and leave that behind if the process is killed.
class ZipOutput {
 public:
  /// `go_on` is called now and then while the archive is written; what it throws ends that.
  ZipOutput(const OutputFile& to, std::function<void()> go_on);

  /// An empty archive, which must not outlive this.
  zip_t* open();
  /// Throws what has gone wrong in writing: an error of the disk, of `go_on`, or else libzip's own.
  [[noreturn]] void fail(const char* reason) const;

 private:
  static zip_int64_t answer(void* output, void* data, zip_uint64_t length,
                            zip_source_cmd_t command);
  zip_int64_t answer(void* data, zip_uint64_t length, zip_source_cmd_t command);

  const std::string name_;
  const std::function<void()> go_on_;
  File file_;
  std::int64_t at_ = 0;
  zip_error_t said_;
  std::exception_ptr error_;
};

}  // namespace tessera::store
