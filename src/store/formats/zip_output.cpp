#include "store/formats/zip_output.h"

#include <cerrno>

#include "base/check.h"

namespace tessera::store {

ZipOutput::ZipOutput(const OutputFile& to, std::function<void()> go_on)
    : name_(to.name), go_on_(std::move(go_on)), file_(open_to_write(to)) {
  zip_error_init(&said_);
}

zip_t* ZipOutput::open() {
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* source = zip_source_function_create(answer, this, &error);
  zip_t* archive =
      source == nullptr ? nullptr : zip_open_from_source(source, ZIP_CREATE | ZIP_TRUNCATE, &error);
  if (archive == nullptr && source != nullptr) zip_source_free(source);
  TESSERA_REQUIRE(IoError, archive != nullptr, "{} cannot be written: {}", name_,
                  zip_error_strerror(&error));
  return archive;
}

void ZipOutput::fail(const char* reason) const {
  if (error_) std::rethrow_exception(error_);
  throw IoError(fmt::format("{} cannot be written: {}", name_, reason));
}

zip_int64_t ZipOutput::answer(void* output, void* data, zip_uint64_t length,
                              zip_source_cmd_t command) {
  ZipOutput& self = *static_cast<ZipOutput*>(output);
  try {
    return self.answer(data, length, command);
  } catch (...) {  // no exception passes through libzip
    self.error_ = std::current_exception();
    zip_error_set(&self.said_, ZIP_ER_WRITE, EIO);
    return -1;
  }
}

zip_int64_t ZipOutput::answer(void* data, zip_uint64_t length, zip_source_cmd_t command) {
  switch (command) {
    case ZIP_SOURCE_SUPPORTS:
      return zip_source_make_command_bitmap(
          ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_CLOSE, ZIP_SOURCE_STAT, ZIP_SOURCE_ERROR,
          ZIP_SOURCE_FREE, ZIP_SOURCE_SEEK, ZIP_SOURCE_TELL, ZIP_SOURCE_BEGIN_WRITE,
          ZIP_SOURCE_WRITE, ZIP_SOURCE_SEEK_WRITE, ZIP_SOURCE_TELL_WRITE, ZIP_SOURCE_COMMIT_WRITE,
          ZIP_SOURCE_ROLLBACK_WRITE, ZIP_SOURCE_REMOVE, ZIP_SOURCE_SUPPORTS, -1);
    case ZIP_SOURCE_STAT: {
      zip_stat_t& stat = *static_cast<zip_stat_t*>(data);
      zip_stat_init(&stat);
      stat.size = 0;  // there is nothing to be read of what it writes
      stat.valid = ZIP_STAT_SIZE;
      return sizeof stat;
    }
    case ZIP_SOURCE_ERROR: return zip_error_to_data(&said_, data, length);
    case ZIP_SOURCE_WRITE:
      go_on_();
      file_.write(at_, std::span(static_cast<const std::byte*>(data), length));
      at_ += static_cast<std::int64_t>(length);
      return static_cast<zip_int64_t>(length);
    case ZIP_SOURCE_SEEK_WRITE: {
      const zip_int64_t place = zip_source_seek_compute_offset(
          static_cast<zip_uint64_t>(at_), static_cast<zip_uint64_t>(file_.size()), data, length,
          &said_);
      if (place >= 0) at_ = place;
      return place < 0 ? -1 : 0;
    }
    case ZIP_SOURCE_TELL_WRITE: return at_;
    case ZIP_SOURCE_BEGIN_WRITE:
    case ZIP_SOURCE_ROLLBACK_WRITE:
    case ZIP_SOURCE_REMOVE:
      at_ = 0;
      file_.truncate(0);
      return 0;
    case ZIP_SOURCE_OPEN:
    case ZIP_SOURCE_READ:
    case ZIP_SOURCE_CLOSE:
    case ZIP_SOURCE_SEEK:
    case ZIP_SOURCE_TELL:
    case ZIP_SOURCE_COMMIT_WRITE:
    case ZIP_SOURCE_FREE: return 0;
    default: zip_error_set(&said_, ZIP_ER_OPNOTSUPP, 0); return -1;
  }
}

}  // namespace tessera::store
