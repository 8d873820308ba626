#pragma once

#include <histedit.h>

#include <string>

namespace tessera::shell {

/// What was typed, in this session and before: kept in a file, to which each entry is added at
/// once, so that neither a crash nor another session loses any.
class InputHistory {
 public:
  /// Where TESSERA_HISTORY says, or else ~/.tessera_history; empty: nowhere.
  static std::string default_path();

  explicit InputHistory(std::string path);
  ~InputHistory() { history_end(history_); }
  InputHistory(const InputHistory&) = delete;
  InputHistory& operator=(const InputHistory&) = delete;

  void add(const std::string& entry);
  History* get() const { return history_; }

 private:
  /// Entries that cannot be kept are told once, and are no reason to stop.
  void give_up(const char* doing);
  void append(const std::string& entry);

  History* history_;
  std::string path_;
};

}  // namespace tessera::shell
