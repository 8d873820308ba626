#pragma once

#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "crash/disk.h"

namespace tessera::crash {

/// Something that a process did to the disk, or noted.
struct Event {
  disk_entry what;
  std::string name, other, data;
};
std::vector<Event> read_record(const std::filesystem::path& log);

/// A disk as a process has left it when the power goes. Certain is what was synchronised: the bytes
/// of a file by its own sync, the names in a folder by that of the folder. Everything later may
/// have come to pass or not, in any order; of a write any of its sectors of 512 bytes. After a sync
/// that has failed the system takes for written what is not: no later sync makes that certain.
class PoweredDisk {
 public:
  PoweredDisk(std::string root, std::uint64_t seed) : root_(std::move(root)), random_(seed) {}
  void happen(const Event& event);
  /// Writes what a loss of power might leave now into a folder.
  void lose_power(const std::filesystem::path& into);

 private:
  struct Change {
    bool truncates;
    std::size_t offset;  // or the new length
    std::string data;
    bool forgotten = false;  // by a system that takes it for written
  };
  struct File {
    std::string certain;
    std::vector<Change> later;
  };
  struct Renaming {  // a name that appears, goes, or takes the place of another
    std::string from, to;
    int file;
  };
  using Names = std::map<std::string, int>;  // file numbers; folders have none

  static void apply(const Change& change, std::string& bytes);
  static void apply(const Renaming& change, Names& names);
  int file_at(const std::string& name);
  void change_names(const Renaming& change);
  void sync_folder(const std::string& folder);

  const std::string root_;
  std::map<int, File> files_;
  Names names_, certain_names_;
  std::vector<Renaming> later_names_;
  std::map<int, int> file_of_;            // an opened file's number: which file it is
  std::map<int, std::string> folder_of_;  // or which folder
  int next_ = 1;
  std::mt19937_64 random_;
};

}  // namespace tessera::crash
