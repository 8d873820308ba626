#include <filesystem>
#include <set>

#include "base/check.h"
#include "store/formats/dense_export.h"
#include "store/formats/dense_import.h"
#include "store/formats/hdf5_dataset.h"
#include "store/formats/hdf5_library.h"
#include "store/formats/source_process.h"

// Datasets of HDF5, in whatever layout and compression: the library reads them.

namespace tessera::store {
namespace {

hid_t memory_type(Number number) {
  switch (number) {
    case Number::boolean: break;  // has a type of its own
    case Number::i8: return H5T_NATIVE_INT8;
    case Number::i16: return H5T_NATIVE_INT16;
    case Number::i32: return H5T_NATIVE_INT32;
    case Number::i64: return H5T_NATIVE_INT64;
    case Number::u8: return H5T_NATIVE_UINT8;
    case Number::u16: return H5T_NATIVE_UINT16;
    case Number::u32: return H5T_NATIVE_UINT32;
    case Number::u64: return H5T_NATIVE_UINT64;
    case Number::f16: break;  // is read as f32
    case Number::f32: return H5T_NATIVE_FLOAT;
    case Number::f64: return H5T_NATIVE_DOUBLE;
  }
  TESSERA_INVARIANT(false, "number {}", static_cast<int>(number));
}

Hdf5Handle boolean_type() {
  Hdf5Handle type(H5Tenum_create(H5T_NATIVE_INT8), H5Tclose, "cannot create a type for booleans");
  signed char no = 0, yes = 1;
  if (H5Tenum_insert(type, "FALSE", &no) < 0 || H5Tenum_insert(type, "TRUE", &yes) < 0)
    fail_hdf5("cannot create a type for booleans");
  return type;
}

void read_hdf5(const InputFile& from, const FormatOptions& options, Receiver& into) {
  check_options(options, "hdf5", {"tile", "dtype", "member", "external_files"});
  TESSERA_REQUIRE(
      IoError, !options.external_files || options.external_access.is_on(),
      "{}: cannot read the external files of an HDF5 file: external_access is {} in this session",
      from.name, options.external_access.to_string());
  (void)open_to_read(from);  // says it if there is none
  // A process that is made while another thread is in the library would never get into it.
  auto library_lock = std::make_shared<const Hdf5Library>();
  const std::unique_ptr<SourceProcess> dataset = SourceProcess::start(
      [&] {
        Hdf5Library::be_alone();
        return open_dataset(from, options);
      },
      from.name, [&] { into.advance(0, 0); }, std::move(library_lock));
  import_array(*dataset, options, "", into);
}

void write_dataset(hid_t file, TensorReader& tensor, const std::string& name,
                   const std::string& what, const FormatOptions& options) {
  const StoredArray array = array_of(tensor, false);
  std::optional<Hdf5Handle> dataset, type;
  {
    const Hdf5Library library;
    if (array.element.number == Number::boolean)
      type.emplace(boolean_type());
    else
      type.emplace(H5Tcopy(memory_type(array.element.number)), H5Tclose, what);
    const std::vector<hsize_t> extents(array.shape.begin(), array.shape.end());
    const Hdf5Handle space(extents.empty() ? H5Screate(H5S_SCALAR)
                                           : H5Screate_simple(static_cast<int>(extents.size()),
                                                              extents.data(), nullptr),
                           H5Sclose, what);
    const Hdf5Handle links(H5Pcreate(H5P_LINK_CREATE), H5Pclose, what);
    if (H5Pset_create_intermediate_group(links, 1) < 0) fail_hdf5(what);
    dataset.emplace(H5Dcreate2(file, name.c_str(), *type, space, links, H5P_DEFAULT, H5P_DEFAULT),
                    H5Dclose, fmt::format("{} cannot be written to {}", name, what));
  }
  for_each_box(tensor, array, options, true, [&](const Box& box, const std::byte* elements) {
    const Hdf5Library library;
    const Shape shape = box.shape();
    const std::vector<hsize_t> start(box.begin.begin(), box.begin.end());
    const std::vector<hsize_t> count(shape.begin(), shape.end());
    const Hdf5Handle space(H5Dget_space(*dataset), H5Sclose, what);
    const Hdf5Handle source(count.empty() ? H5Screate(H5S_SCALAR)
                                          : H5Screate_simple(shape.rank(), count.data(), nullptr),
                            H5Sclose, what);
    if ((!count.empty() && H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr,
                                               count.data(), nullptr) < 0) ||
        H5Dwrite(*dataset, *type, source, space, H5P_DEFAULT, elements) < 0)
      fail_hdf5(fmt::format("{} cannot be written to {}", name, what));
  });
  const Hdf5Library library;
  if (H5Dclose(dataset->release()) < 0) fail_hdf5(fmt::format("{} cannot be written", what));
}

void write_hdf5(const std::vector<TensorReader*>& tensors, const OutputFile& to,
                const FormatOptions& options) {
  check_options(options, "hdf5", {"member"});
  TESSERA_REQUIRE(TypeError, options.member.empty() || tensors.size() == 1,
                  "one dataset name is given for {} tensors", tensors.size());
  std::set<std::string> names;
  for (const TensorReader* tensor : tensors) {
    const std::string& name = options.member.empty() ? tensor->name() : options.member;
    TESSERA_REQUIRE(TypeError, names.insert(name).second,
                    "{} would have two datasets named \"{}\"; list each tensor once", to.name,
                    name);
    TESSERA_REQUIRE(TypeError, name.find_first_not_of("./") != name.npos,
                    "\"{}\" cannot be the name of a dataset; choose another (member=)", name);
  }
  std::optional<Hdf5Handle> file;
  {
    const Hdf5Library library;
    const std::string what = fmt::format("{} cannot be written", to.name);
    // This driver, unlike the usual one, does not want to know the name of the file, which may have
    // none yet.
    const Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, what);
    if (H5Pset_fapl_stdio(access) < 0) fail_hdf5(what);
    file.emplace(H5Fcreate(to.path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access), H5Fclose, what);
  }
  for (TensorReader* tensor : tensors)
    write_dataset(*file, *tensor, options.member.empty() ? tensor->name() : options.member, to.name,
                  options);
  const Hdf5Library library;
  if (H5Fclose(file->release()) < 0) fail_hdf5(fmt::format("{} cannot be written", to.name));
}

}  // namespace

const Format& hdf5_format() {
  static const Format format{
      {"hdf5", "an HDF5 dataset", {".h5", ".hdf5", ".he5"}}, read_hdf5, write_hdf5};
  return format;
}

}  // namespace tessera::store
