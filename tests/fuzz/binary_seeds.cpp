#include <hdf5.h>
#include <unistd.h>
#include <zip.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/check.h"
#include "fuzz/format_seeds.h"
#include "support/memory_tensors.h"

namespace tessera {
namespace {

/// A file that is made to be looked at, and goes again.
class Scratch {
 public:
  explicit Scratch(const std::string& ending)
      : path_((std::filesystem::temp_directory_path() /
               fmt::format("format-seed-{}{}", ::getpid(), ending))
                  .string()) {}
  ~Scratch() { std::filesystem::remove(path_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  const std::string& path() const { return path_; }
  std::string content() const {
    std::ostringstream bytes;
    bytes << std::ifstream(path_, std::ios::binary).rdbuf();
    return bytes.str();
  }

 private:
  std::string path_;
};

/// As our own writer makes it.
std::string written(const store::Format& format, const std::vector<Tile>& arrays,
                    bool column_major = false) {
  const Scratch file(format.info.endings[0]);
  std::vector<MemoryReader> readers;
  for (std::size_t i = 0; i < arrays.size(); ++i)
    readers.emplace_back(std::string(1, static_cast<char>('a' + i)),
                         Relation::from_tensor(arrays[i], Shape(arrays[i].shape().rank(), 4)),
                         arrays[i].shape());
  std::vector<store::TensorReader*> pointers;
  for (MemoryReader& reader : readers) pointers.push_back(&reader);
  FormatOptions options;
  options.column_major = column_major;
  format.write(pointers, {file.path()}, options);
  return file.content();
}

/// As NumPy's savez_compressed makes it.
std::string deflated(const std::string& npy) {
  const Scratch file(".npz");
  int code = 0;
  zip_t* archive = zip_open(file.path().c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code);
  TESSERA_INVARIANT(archive != nullptr, "zip says {}", code);
  zip_source_t* source = zip_source_buffer(archive, npy.data(), npy.size(), 0);
  TESSERA_INVARIANT(zip_file_add(archive, "x.npy", source, 0) == 0, "{}", zip_strerror(archive));
  TESSERA_INVARIANT(zip_close(archive) == 0, "{}", zip_strerror(archive));
  return file.content();
}

/// Cut into chunks, each with a checksum, and compressed if asked for.
std::string chunked(hid_t type, bool compressed) {
  const Scratch file(".h5");
  const hid_t made = H5Fcreate(file.path().c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
  const hsize_t extents[] = {9, 7}, chunk[] = {4, 3};
  const hid_t space = H5Screate_simple(2, extents, nullptr);
  const hid_t how = H5Pcreate(H5P_DATASET_CREATE);
  (void)H5Pset_chunk(how, 2, chunk);
  if (compressed) {
    (void)H5Pset_shuffle(how);
    (void)H5Pset_deflate(how, 4);
    (void)H5Pset_fletcher32(how);
  }
  const hid_t set = H5Dcreate2(made, "x", type, space, H5P_DEFAULT, how, H5P_DEFAULT);
  std::vector<double> values(63);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i);
  const herr_t done =
      H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  (void)H5Dclose(set);
  (void)H5Pclose(how);
  (void)H5Sclose(space);
  TESSERA_INVARIANT(H5Fclose(made) >= 0 && done >= 0, "HDF5 does not write");
  return file.content();
}

}  // namespace

std::vector<FormatSeed> binary_seeds() {
  using store::npy_format;
  const Tile matrix = random_normal(DType::f64, {9, 7}, 1);
  const Tile integers = random_integers(DType::i64, {5}, 2, -9, 9);
  const Tile booleans = random_uniform(DType::boolean, {3, 2, 4}, 3);
  const Tile singles = random_normal(DType::f32, {2, 11}, 4);
  FormatOptions raw;
  raw.shape = Shape{9, 7};
  raw.dtype = DType::f64;
  std::vector<FormatSeed> seeds{
      {"npy", written(npy_format(), {matrix})},
      {"npy", written(npy_format(), {singles}, true)},
      {"npy", written(npy_format(), {booleans})},
      {"npy", written(npy_format(), {Tile::scalar(2.5)})},
      {"npz", written(store::npz_format(), {matrix})},
      {"npz", written(store::npz_format(), {integers, booleans, singles})},
      {"npz", deflated(written(npy_format(), {matrix}))},
      {"npz", deflated(written(npy_format(), {integers}))},
      {"raw", written(store::raw_format(), {matrix}), raw},
      {"hdf5", written(store::hdf5_format(), {matrix})},
      {"hdf5", written(store::hdf5_format(), {booleans})},
      {"hdf5", chunked(H5T_STD_I16BE, false)},
      {"hdf5", chunked(H5T_IEEE_F32LE, true)},
  };
  // Numbers of other kinds, as many bytes each.
  for (const char* kind : {">f8", "<u8", ">i8"}) {
    std::string file = written(npy_format(), {matrix});
    seeds.push_back({"npy", file.replace(file.find("<f8"), 3, kind)});
  }
  for (const char* kind : {"<i4", ">u4"}) {
    std::string file = written(npy_format(), {singles});
    seeds.push_back({"npy", file.replace(file.find("<f4"), 3, kind)});
  }
  return seeds;
}

}  // namespace tessera
