#include <unistd.h>
#include <zip.h>

#include <algorithm>
#include <set>

#include "base/check.h"
#include "store/formats/dense_export.h"
#include "store/formats/dense_import.h"
#include "store/formats/npy.h"
#include "store/formats/zip_output.h"

// NumPy's format of several arrays: a zip archive of npy files, compressed or not.

namespace tessera::store {
namespace {

constexpr std::string_view ending = ".npy";

struct Discard {
  void operator()(zip_t* archive) const { zip_discard(archive); }
  void operator()(zip_file_t* file) const { zip_fclose(file); }
};
using Archive = std::unique_ptr<zip_t, Discard>;
using Member = std::unique_ptr<zip_file_t, Discard>;

std::string text_of(int code) {
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  std::string text = zip_error_strerror(&error);
  zip_error_fini(&error);
  return text;
}

Archive open_archive(const InputFile& input) {
  int code = 0;
  Archive archive(zip_open(input.path.c_str(), ZIP_RDONLY, &code));
  TESSERA_REQUIRE(IoError, archive != nullptr, "{} cannot be read as a zip archive: {}", input.name,
                  text_of(code));
  return archive;
}

/// A member, from its first byte to its last: its checksum is compared when the end is reached.
class MemberReader {
 public:
  MemberReader(zip_t* archive, zip_uint64_t index, std::string what)
      : what_(std::move(what)), member_(zip_fopen_index(archive, index, 0)) {
    TESSERA_REQUIRE(IoError, member_ != nullptr, "{} cannot be read: {}", what_,
                    zip_strerror(archive));
  }

  std::size_t read(std::span<std::byte> into) {
    std::size_t done = 0;
    while (done < into.size()) {
      const zip_int64_t count = zip_fread(member_.get(), into.data() + done, into.size() - done);
      TESSERA_REQUIRE(IoError, count >= 0, "{} is damaged: {}", what_,
                      zip_file_strerror(member_.get()));
      if (count == 0) break;
      done += static_cast<std::size_t>(count);
    }
    return done;
  }
  const std::string& what() const { return what_; }

 private:
  std::string what_;
  Member member_;
};

class MemberArray : public SequentialArray {
 public:
  MemberArray(MemberReader reader, StoredArray array, std::int64_t bytes_in_file)
      : SequentialArray(std::move(array), reader.what(), Access::in_order),
        reader_(std::move(reader)),
        bytes_in_file_(bytes_in_file) {}

  std::int64_t bytes_in_file() const override { return bytes_in_file_; }

  void read_bytes(std::int64_t offset, std::span<std::byte> into) override {
    TESSERA_INVARIANT(offset == at_, "{}: {} is read, and then {}", what(), at_, offset);
    const std::size_t there = reader_.read(into);
    TESSERA_REQUIRE(IoError, there == into.size(), "{} ends before its last element: {}", what(),
                    "the file is truncated");
    at_ += static_cast<std::int64_t>(there);
  }

  void finish() override {
    std::byte more{};
    TESSERA_REQUIRE(IoError, reader_.read({&more, 1}) == 0, "{} has more data than its header says",
                    what());
  }

 private:
  MemberReader reader_;
  const std::int64_t bytes_in_file_;
  std::int64_t at_ = 0;
};

struct Found {
  std::string name;  // without its ending
  zip_uint64_t index;
  std::int64_t bytes;  // compressed
};

std::vector<Found> arrays_in(zip_t* archive, const std::string& path) {
  std::vector<Found> found;
  const zip_int64_t entries = zip_get_num_entries(archive, 0);
  for (zip_int64_t i = 0; i < entries; ++i) {
    zip_stat_t status;
    zip_stat_init(&status);
    const auto index = static_cast<zip_uint64_t>(i);
    TESSERA_REQUIRE(IoError, zip_stat_index(archive, index, 0, &status) == 0, "{} is damaged: {}",
                    path, zip_strerror(archive));
    std::string name = (status.valid & ZIP_STAT_NAME) != 0 ? status.name : "";
    if (!name.ends_with(ending)) continue;
    name.resize(name.size() - ending.size());
    found.push_back({std::move(name), index, static_cast<std::int64_t>(status.comp_size)});
  }
  return found;
}

void read_npz(const InputFile& input, const FormatOptions& options, Receiver& into) {
  const std::string& from = input.name;
  check_options(options, "npz", {"tile", "dtype", "member"});
  (void)open_to_read(input);  // says it if there is none
  const Archive archive = open_archive(input);
  std::vector<Found> arrays = arrays_in(archive.get(), from);
  TESSERA_REQUIRE(IoError, !arrays.empty(), "{} has no arrays: no member is named *.npy", from);
  if (!options.member.empty()) {
    std::string names;
    for (const Found& array : arrays) names += (names.empty() ? "" : ", ") + array.name;
    std::erase_if(arrays, [&](const Found& array) {
      return array.name != options.member && array.name + std::string(ending) != options.member;
    });
    TESSERA_REQUIRE(TypeError, !arrays.empty(), "{} has no array \"{}\"; existing: {}", from,
                    options.member, names);
  }
  for (const Found& one : arrays) {
    MemberReader reader(archive.get(), one.index, fmt::format("{} in {}", one.name, from));
    NpyHead head = read_npy_head([&](std::span<std::byte> bytes) { return reader.read(bytes); },
                                 reader.what());
    MemberArray array(std::move(reader), std::move(head.array), one.bytes);
    import_array(array, options, arrays.size() == 1 ? "" : "." + one.name, into);
  }
}

void write_npz(const std::vector<TensorReader*>& tensors, const OutputFile& to,
               const FormatOptions& options) {
  check_options(options, "npz", {"column_major", "member"});
  TESSERA_REQUIRE(TypeError, options.member.empty() || tensors.size() == 1,
                  "one member name is given for {} tensors", tensors.size());
  ZipOutput output(to, [&] { tensors[0]->advance(0, 0); });
  Archive archive(output.open());
  std::vector<File> files;  // until the archive is written
  std::set<std::string> names;
  for (TensorReader* tensor : tensors) {
    const std::string name =
        (options.member.empty() ? tensor->name() : options.member) + std::string(ending);
    TESSERA_REQUIRE(TypeError, names.insert(name).second,
                    "{} would have two arrays named \"{}\"; list each tensor once", to.name, name);
    const StoredArray array = array_of(*tensor, options.column_major);
    const std::string head = npy_head(array);
    files.push_back(File::temporary(to.folder));
    File& file = files.back();
    file.write(0, std::as_bytes(std::span(head)));
    write_elements(*tensor, array, file, static_cast<std::int64_t>(head.size()), options);
    std::FILE* stream = ::fdopen(::dup(file.descriptor()), "rb");
    zip_source_t* source =
        stream == nullptr ? nullptr : zip_source_filep(archive.get(), stream, 0, -1);
    const zip_int64_t index =
        source == nullptr ? -1
                          : zip_file_add(archive.get(), name.c_str(), source, ZIP_FL_ENC_UTF_8);
    TESSERA_REQUIRE(
        IoError,
        index >= 0 && zip_set_file_compression(archive.get(), static_cast<zip_uint64_t>(index),
                                               ZIP_CM_STORE, 0) == 0,
        "{} cannot be written: {}", to.name, zip_strerror(archive.get()));
  }
  if (zip_close(archive.get()) != 0) output.fail(zip_strerror(archive.get()));
  (void)archive.release();
}

}  // namespace

const Format& npz_format() {
  static const Format format{{"npz", "an archive of NumPy arrays", {".npz"}}, read_npz, write_npz};
  return format;
}

}  // namespace tessera::store
