#include "shell/history.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>

#include "tessera/error.h"

namespace tessera::shell {
namespace {

constexpr int most_entries = 5000;  // entries

}  // namespace

std::string InputHistory::default_path() {
  if (const char* path = std::getenv("TESSERA_HISTORY")) return path;
  const char* home = std::getenv("HOME");
  return home == nullptr || *home == '\0' ? "" : std::string(home) + "/.tessera_history";
}

InputHistory::InputHistory(std::string path) : history_(history_init()), path_(std::move(path)) {
  if (history_ == nullptr) throw OutOfMemory("out of memory for the history of the shell");
  HistEvent event;
  history(history_, &event, H_SETSIZE, most_entries);
  history(history_, &event, H_SETUNIQUE, 1);
  if (path_.empty() || ::access(path_.c_str(), F_OK) != 0) return;  // the first session
  const int loaded = history(history_, &event, H_LOAD, path_.c_str());
  if (loaded < 0) give_up("read");
  // Now and then, what is too old goes from the file too.
  else if (loaded > 2 * most_entries && history(history_, &event, H_SAVE, path_.c_str()) < 0)
    give_up("write");
}

void InputHistory::give_up(const char* doing) {
  std::cerr << "cannot " << doing << " the history in " << path_ << ": " << std::strerror(errno)
            << "; the input history is not saved\n";
  path_.clear();
}

void InputHistory::add(const std::string& entry) {
  HistEvent event;
  if (history(history_, &event, H_ENTER, entry.c_str()) >= 0 && !path_.empty()) append(entry);
}

void InputHistory::append(const std::string& entry) {
  // Others need not read what somebody types.
  const int descriptor = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  std::FILE* file = descriptor < 0 ? nullptr : ::fdopen(descriptor, "a");
  if (file == nullptr) {
    give_up("write");
    if (descriptor >= 0) ::close(descriptor);
    return;
  }
  (void)std::fseek(file, 0, SEEK_END);  // a file that has a beginning gets no other
  HistEvent event;
  History* only = history_init();  // the library writes whole histories
  const bool saved = only != nullptr && history(only, &event, H_SETSIZE, 1) >= 0 &&
                     history(only, &event, H_ENTER, entry.c_str()) >= 0 &&
                     history(only, &event, H_SAVE_FP, file) >= 0;
  if (only != nullptr) history_end(only);
  if (std::fclose(file) != 0 || !saved) give_up("write");
}

}  // namespace tessera::shell
