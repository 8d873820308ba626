#include "crash/power_loss.h"

#include <algorithm>
#include <fstream>

#include "base/check.h"

namespace tessera::crash {
namespace {

namespace fs = std::filesystem;

constexpr int a_folder = -1;
constexpr std::size_t sector = 512;

/// Which of so many changes have come to pass: none, all, the first few, or some.
std::vector<bool> some_of(std::size_t count, std::mt19937_64& random) {
  std::vector<bool> chosen(count, false);
  const auto way = random() % 4;
  const std::size_t first = way == 0 ? 0 : way == 1 ? count : random() % (count + 1);
  for (std::size_t i = 0; i < count; ++i) chosen[i] = way == 3 ? random() % 2 == 0 : i < first;
  return chosen;
}

std::string folder_of(const std::string& name) { return fs::path(name).parent_path().string(); }

}  // namespace

std::vector<Event> read_record(const fs::path& log) {
  std::ifstream stream(log, std::ios::binary);
  std::vector<Event> events;
  disk_entry entry;
  while (stream.read(reinterpret_cast<char*>(&entry), sizeof entry)) {
    Event event{entry, std::string(entry.name, '\0'), std::string(entry.other, '\0'),
                std::string(entry.data, '\0')};
    for (std::string* text : {&event.name, &event.other, &event.data})
      stream.read(text->data(), static_cast<std::streamsize>(text->size()));
    events.push_back(std::move(event));
  }
  return events;
}

void PoweredDisk::apply(const Change& change, std::string& bytes) {
  if (change.truncates) {
    bytes.resize(change.offset, '\0');
    return;
  }
  bytes.resize(std::max(bytes.size(), change.offset + change.data.size()), '\0');
  std::copy(change.data.begin(), change.data.end(),
            bytes.begin() + static_cast<std::ptrdiff_t>(change.offset));
}

void PoweredDisk::apply(const Renaming& change, Names& names) {
  if (!change.from.empty()) names.erase(change.from);
  if (!change.to.empty()) names[change.to] = change.file;
}

void PoweredDisk::change_names(const Renaming& change) {
  apply(change, names_);
  later_names_.push_back(change);
}

int PoweredDisk::file_at(const std::string& name) {
  const auto found = names_.find(name);
  if (found != names_.end()) return found->second;
  change_names({"", name, next_});
  return next_++;
}

void PoweredDisk::sync_folder(const std::string& folder) {
  std::erase_if(later_names_, [&](const Renaming& change) {
    if (folder_of(change.to.empty() ? change.from : change.to) != folder) return false;
    apply(change, certain_names_);
    return true;
  });
}

void PoweredDisk::happen(const Event& event) {
  const disk_entry& what = event.what;
  switch (what.call) {
    case disk_create:
      if (event.name == root_ || (names_.contains(event.name) && names_[event.name] == a_folder))
        folder_of_[what.file] = event.name;
      else
        file_of_[what.file] = file_at(event.name);
      return;
    case disk_write:
      files_[file_of_.at(what.file)].later.push_back(
          {false, static_cast<std::size_t>(what.offset), event.data});
      return;
    case disk_truncate:
      files_[file_of_.at(what.file)].later.push_back(
          {true, static_cast<std::size_t>(what.offset), ""});
      return;
    case disk_sync: {
      if (folder_of_.contains(what.file)) {
        if (what.offset == disk_sync_folder) sync_folder(folder_of_.at(what.file));
        return;
      }
      File& file = files_[file_of_.at(what.file)];
      if (what.offset == disk_sync_failed) {
        for (Change& change : file.later) change.forgotten = true;
        return;
      }
      for (const Change& change : file.later)
        if (!change.forgotten || change.truncates || random_() % 2 == 0)
          apply(change, file.certain);
      file.later.clear();
      return;
    }
    case disk_remove: return change_names({event.name, "", 0});
    case disk_rename: return change_names({event.name, event.other, names_.at(event.name)});
    case disk_make_folder: return change_names({"", event.name, a_folder});
    case disk_any:  // a note
    case disk_room:
    case disk_open:
    case disk_read:
    case disk_lock:
    case disk_every: return;
  }
}

void PoweredDisk::lose_power(const fs::path& into) {
  Names names = certain_names_;
  const std::vector<bool> renamed = some_of(later_names_.size(), random_);
  for (std::size_t i = 0; i < renamed.size(); ++i)
    if (renamed[i]) apply(later_names_[i], names);
  fs::create_directories(into);
  // In order of their names: a folder comes before what is in it, and what is in none is lost.
  for (const auto& [name, number] : names) {
    const fs::path path = into / fs::path(name).lexically_relative(root_);
    if (!fs::is_directory(path.parent_path())) continue;
    if (number == a_folder) {
      fs::create_directory(path);
      continue;
    }
    if (name.ends_with("-shm")) continue;  // mapped memory: what was in it is made anew
    std::string bytes;
    if (const auto found = files_.find(number); found != files_.end()) {
      bytes = found->second.certain;
      const std::vector<Change>& later = found->second.later;
      const std::vector<bool> chosen = some_of(later.size(), random_);
      for (std::size_t i = 0; i < later.size(); ++i) {
        if (!chosen[i]) continue;
        if (later[i].truncates || random_() % 2 == 0) {
          apply(later[i], bytes);
          continue;
        }
        const std::size_t end = later[i].offset + later[i].data.size();
        for (std::size_t at = later[i].offset; at < end;) {
          const std::size_t next = std::min(end, (at / sector + 1) * sector);
          if (random_() % 2 == 0)
            apply({false, at, later[i].data.substr(at - later[i].offset, next - at)}, bytes);
          at = next;
        }
      }
    }
    std::ofstream(path, std::ios::binary) << bytes;
  }
}

}  // namespace tessera::crash
