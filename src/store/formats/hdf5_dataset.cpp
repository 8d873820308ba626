#include "store/formats/hdf5_dataset.h"

#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/check.h"
#include "store/formats/hdf5_library.h"

namespace tessera::store {
namespace {

Number integer_of(std::size_t size, bool is_signed, const std::string& what) {
  switch (size) {
    case 1: return is_signed ? Number::i8 : Number::u8;
    case 2: return is_signed ? Number::i16 : Number::u16;
    case 4: return is_signed ? Number::i32 : Number::u32;
    case 8: return is_signed ? Number::i64 : Number::u64;
    default:
      throw TypeError(
          fmt::format("{} has integers of {} bytes, which are not supported", what, size));
  }
}

/// Booleans are an enumeration of FALSE and TRUE, as h5py has it.
bool is_boolean(hid_t type) {
  if (H5Tget_nmembers(type) != 2 || H5Tget_size(type) != 1) return false;
  for (const int i : {0, 1}) {
    signed char value = -1;
    char* name = H5Tget_member_name(type, static_cast<unsigned>(i));
    const std::string is = name == nullptr ? "" : name;
    if (name != nullptr) (void)H5free_memory(name);
    if (H5Tget_member_value(type, static_cast<unsigned>(i), &value) < 0 ||
        is != (value == 0 ? "FALSE" : "TRUE"))
      return false;
  }
  return true;
}

[[noreturn]] void refuse_other_files(const std::string& what, const char* how) {
  throw IoError(
      fmt::format("{} {} other files; they are read only with the option external_files = true, "
                  "and only if external_access allows it",
                  what, how));
}

class Dataset : public ArraySource {
 public:
  static std::unique_ptr<Dataset> open(hid_t file, const std::string& name, const std::string& path,
                                       std::int64_t memory) {
    const std::string what = fmt::format("{} in {}", name, path);
    Hdf5Handle access(H5Pcreate(H5P_DATASET_ACCESS), H5Pclose, what);
    // Chunks that lie across several groups of tiles are unpacked once, if they fit.
    (void)H5Pset_chunk_cache(access, 12421, static_cast<std::size_t>(memory / 4), 1.0);
    Hdf5Handle dataset(H5Dopen2(file, name.c_str(), access), H5Dclose, "cannot open " + what);
    Hdf5Handle stored(H5Dget_type(dataset), H5Tclose, what);
    Hdf5Handle space(H5Dget_space(dataset), H5Sclose, what);
    Hdf5Handle type =
        H5Tget_class(stored) == H5T_FLOAT
            ? Hdf5Handle(H5Tcopy(H5Tget_size(stored) <= 4 ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE),
                         H5Tclose, what)
            : Hdf5Handle(H5Tget_native_type(stored, H5T_DIR_ASCEND), H5Tclose, what);
    StoredArray array{{number_of(type, what)}, shape_of(space, what)};
    return std::unique_ptr<Dataset>(
        new Dataset(std::move(array), what, std::move(dataset), std::move(space), std::move(type)));
  }

  void read(const Box& box, std::byte* into) override {
    const int rank = box.begin.rank();
    const Shape extents = box.shape();
    if (extents.elements() == 0) return;
    std::vector<hsize_t> start(box.begin.begin(), box.begin.end());
    std::vector<hsize_t> count(extents.begin(), extents.end());
    if (rank == 0) {
      if (H5Dread(dataset_, type_, H5S_ALL, H5S_ALL, H5P_DEFAULT, into) < 0) fail();
      return;
    }
    const Hdf5Handle target(H5Screate_simple(rank, count.data(), nullptr), H5Sclose, what());
    if (H5Sselect_hyperslab(space_, H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr) <
            0 ||
        H5Dread(dataset_, type_, target, space_, H5P_DEFAULT, into) < 0)
      fail();
  }

  std::int64_t bytes_in_file() const override {
    return static_cast<std::int64_t>(H5Dget_storage_size(dataset_));
  }

  /// Of which it may be made without that anybody sees it.
  void refuse_other_files() const {
    const Hdf5Handle made(H5Dget_create_plist(dataset_), H5Pclose, what());
    if (H5Pget_external_count(made) > 0) store::refuse_other_files(what(), "stores its data in");
    if (H5Pget_layout(made) == H5D_VIRTUAL)
      store::refuse_other_files(what(), "is a virtual dataset that refers to");
  }

 private:
  Dataset(StoredArray array, const std::string& what, Hdf5Handle dataset, Hdf5Handle space,
          Hdf5Handle type)
      : ArraySource(std::move(array), what, Access::one_at_a_time),
        dataset_(std::move(dataset)),
        space_(std::move(space)),
        type_(std::move(type)) {}

  [[noreturn]] void fail() const { fail_hdf5(fmt::format("{} cannot be read", what())); }

  static Number number_of(hid_t type, const std::string& what) {
    const std::size_t size = H5Tget_size(type);
    switch (H5Tget_class(type)) {
      case H5T_INTEGER: return integer_of(size, H5Tget_sign(type) == H5T_SGN_2, what);
      case H5T_FLOAT: return size == 4 ? Number::f32 : Number::f64;
      case H5T_ENUM: {
        if (is_boolean(type)) return Number::boolean;
        const Hdf5Handle base(H5Tget_super(type), H5Tclose, what);
        return integer_of(size, H5Tget_sign(base) == H5T_SGN_2, what);
      }
      default:
        throw TypeError(
            fmt::format("{} does not have numbers, but text, structures or other types, which are "
                        "not supported",
                        what));
    }
  }

  static Shape shape_of(hid_t space, const std::string& what) {
    const H5S_class_t kind = H5Sget_simple_extent_type(space);
    if (kind == H5S_SCALAR) return {};
    TESSERA_REQUIRE(IoError, kind == H5S_SIMPLE, "{} has no shape and no data", what);
    const int rank = H5Sget_simple_extent_ndims(space);
    TESSERA_REQUIRE(TypeError, rank <= max_rank, "{} has {} dimensions; at most {} are supported",
                    what, rank, max_rank);
    std::vector<hsize_t> extents(static_cast<std::size_t>(std::max(1, rank)));
    if (rank < 0 || H5Sget_simple_extent_dims(space, extents.data(), nullptr) < 0) fail_hdf5(what);
    Shape shape;
    for (int d = 0; d < rank; ++d) {
      TESSERA_REQUIRE(IoError, extents[d] <= static_cast<hsize_t>(INT64_MAX),
                      "{}: its dimension {} is larger than 2^63", what, extents[d]);
      shape.push_back(static_cast<std::int64_t>(extents[d]));
    }
    return shape;
  }

  Hdf5Handle dataset_, space_, type_;
};

std::vector<std::string> datasets_in(hid_t file, const std::string& path) {
  std::vector<std::string> names;
  const auto collect = [](hid_t, const char* name, const H5O_info_t* info, void* data) -> herr_t {
    if (info->type == H5O_TYPE_DATASET)
      static_cast<std::vector<std::string>*>(data)->emplace_back(name);
    return 0;
  };
  if (H5Ovisit2(file, H5_INDEX_NAME, H5_ITER_NATIVE, collect, &names, H5O_INFO_BASIC) < 0)
    fail_hdf5(fmt::format("{} cannot be read", path));
  return names;
}

/// While it lives, this process opens no file, whatever the library makes of what it reads: a file
/// of HDF5 can name others, which are opened as soon as a dataset or a link is looked at. It is the
/// process of its own that reads the file, and has one thread.
class NoOtherFiles {
 public:
  NoOtherFiles() {
    (void)::getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit none{0, before_.rlim_max};
    TESSERA_REQUIRE(IoError, ::setrlimit(RLIMIT_NOFILE, &none) == 0,
                    "cannot keep HDF5 from opening files: {}", std::strerror(errno));
  }
  ~NoOtherFiles() { (void)::setrlimit(RLIMIT_NOFILE, &before_); }
  NoOtherFiles(const NoOtherFiles&) = delete;
  NoOtherFiles& operator=(const NoOtherFiles&) = delete;

 private:
  rlimit before_{};
};

/// Refuses a path with a link to another file in it.
void refuse_external_links(hid_t file, const std::string& name, const std::string& path) {
  for (std::size_t end = 0; end != name.npos;) {
    end = name.find('/', end + 1);
    const std::string part = name.substr(0, end);
    H5L_info_t link;
    if (H5Lget_info(file, part.c_str(), &link, H5P_DEFAULT) < 0) return;  // as is told then
    if (link.type == H5L_TYPE_EXTERNAL)
      refuse_other_files(fmt::format("{} in {}", part, path), "is a link to");
  }
}

/// Whether a path leads to a dataset, be it through links that a walk over the file does not
/// follow.
bool leads_to_dataset(hid_t file, const std::string& name) {
  for (std::size_t end = name.find('/'); end != name.npos; end = name.find('/', end + 1))
    if (H5Oexists_by_name(file, name.substr(0, end).c_str(), H5P_DEFAULT) <= 0) return false;
  H5O_info_t info;
  return H5Lexists(file, name.c_str(), H5P_DEFAULT) > 0 &&
         H5Oexists_by_name(file, name.c_str(), H5P_DEFAULT) > 0 &&
         H5Oget_info_by_name2(file, name.c_str(), &info, H5O_INFO_BASIC, H5P_DEFAULT) >= 0 &&
         info.type == H5O_TYPE_DATASET;
}

/// The dataset that is meant, by its path.
std::string chosen(hid_t file, const std::vector<std::string>& names, const std::string& asked,
                   const std::string& path) {
  std::string name = asked;
  while (name.starts_with('/')) name.erase(0, 1);
  if (!name.empty()) {
    TESSERA_REQUIRE(
        TypeError,
        std::find(names.begin(), names.end(), name) != names.end() || leads_to_dataset(file, name),
        "{} has no dataset \"{}\"; existing: {}", path, asked,
        names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")));
    return name;
  }
  TESSERA_REQUIRE(IoError, !names.empty(), "{} has no datasets", path);
  TESSERA_REQUIRE(TypeError, names.size() == 1,
                  "{} has several datasets; choose one of them (member=): {}", path,
                  fmt::join(names, ", "));
  return names[0];
}

}  // namespace

std::unique_ptr<ArraySource> open_dataset(const InputFile& input, const FormatOptions& options) {
  const std::string& path = input.name;
  TESSERA_REQUIRE(IoError, H5Fis_hdf5(input.path.c_str()) > 0, "{} is not an HDF5 file", path);
  const Hdf5Handle file(H5Fopen(input.path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose,
                        fmt::format("{} cannot be opened", path));
  // The file stays open as long as its dataset.
  const auto open = [&] {
    const std::string name = chosen(file, datasets_in(file, path), options.member, path);
    return Dataset::open(file, name, path, options.memory);
  };
  if (options.external_files) return open();
  std::unique_ptr<Dataset> dataset;
  {
    const NoOtherFiles while_it_is_opened;
    std::string name = options.member;
    while (name.starts_with('/')) name.erase(0, 1);
    if (!name.empty()) refuse_external_links(file, name, path);
    dataset = open();
  }
  dataset->refuse_other_files();  // by its properties alone
  return dataset;
}

}  // namespace tessera::store
