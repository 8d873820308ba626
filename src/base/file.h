#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

namespace tessera {

/// A file, open until this dies. Everything throws IoError with the path and the system's reason.
/// Reading and writing at a place may be done by several threads at once.
class File {
 public:
  static File open(const std::filesystem::path& path);           // to read
  static File open_to_write(const std::filesystem::path& path);  // made if it is not there
  static File create(const std::filesystem::path& path);         // to write; must not be there
  // The same of a file that is ours alone: a link in its place leads to somebody else's, and is an
  // error.
  static File open_own(const std::filesystem::path& path);
  static File open_own_to_write(const std::filesystem::path& path);
  static File open_own_to_append(const std::filesystem::path& path);  // to write; must be there
  /// Memory on disk: a file without a name, gone with the process whatever happens to it.
  static File temporary(const std::filesystem::path& folder);
  /// The same for a file that may get a name once it is complete; none where the system has no such
  /// files. Others open it by `path_of_nameless`.
  static std::optional<File> nameless(const std::filesystem::path& folder);
  std::filesystem::path path_of_nameless() const;
  /// Gives it its name; false if there is a file of that name.
  bool take_name(const std::filesystem::path& path);

  File(File&& other) noexcept;
  File& operator=(File&& other) noexcept;
  ~File();

  /// Fills the span, or throws: what was asked for is there, or the file is too short.
  void read(std::int64_t offset, std::span<std::byte> into) const;
  /// As much as there is.
  std::size_t read_some(std::int64_t offset, std::span<std::byte> into) const;
  void write(std::int64_t offset, std::span<const std::byte> bytes);
  void truncate(std::int64_t bytes);
  void sync();  // returns when what was written survives a crash
  /// Tells the system to write out what lies there soon, so that a later sync has less to do.
  void start_writing(std::int64_t offset, std::int64_t bytes);
  /// The same of reading.
  void start_reading(std::int64_t offset, std::int64_t bytes) const;
  /// Takes room on the disk for what is to be written there, beyond the end too, which stays where
  /// it is. Whether there was room, and the system can.
  bool reserve(std::int64_t offset, std::int64_t bytes) noexcept;
  /// What lies there is not needed any more: its room is given back where the system can.
  void discard(std::int64_t offset, std::int64_t bytes) noexcept;
  std::int64_t size() const;
  std::int64_t room() const;  // that it takes on the disk, holes left out
  /// What errors call it from here on.
  void call(const std::filesystem::path& name) { path_ = name; }

  const std::filesystem::path& path() const { return path_; }
  int descriptor() const { return descriptor_; }

 private:
  File(int descriptor, std::filesystem::path path)
      : descriptor_(descriptor), path_(std::move(path)) {}
  int descriptor_ = -1;
  std::filesystem::path path_;
};

/// Makes what was created, renamed or removed in a folder survive a crash.
void sync_folder(const std::filesystem::path& folder);
/// Makes a folder, and those above it that are missing, so that they survive a crash.
void make_folder(const std::filesystem::path& folder);
/// Removes a file if it is there.
void remove_file(const std::filesystem::path& path);
/// Gives a file another name, in the place of one that has it.
void rename_file(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace tessera
