#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/outside.h"
#include "store/formats/format.h"
#include "support/memory_tensors.h"

namespace tessera {

/// Text files of a test's own, gone after it.
class TextFiles : public ::testing::Test {
 protected:
  TextFiles() {
    std::string name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    std::replace(name.begin(), name.end(), '/', '-');
    folder_ =
        std::filesystem::temp_directory_path() / fmt::format("tessera-{}-{}", ::getpid(), name);
    std::filesystem::create_directories(folder_);
  }
  ~TextFiles() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string file(const std::string& name, const std::string& content) const {
    std::ofstream(path(name), std::ios::binary) << content;
    return path(name);
  }
  static std::string content(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
  }

  /// Reads a file; the receiver must outlive what is asked of it.
  static MemoryReceiver& read(const store::Format& format, const std::string& path,
                              MemoryReceiver& into, const FormatOptions& options = {}) {
    format.read(input_file(path, {}), options, into);
    return into;
  }
  /// What a file with this content holds, as one dense tile.
  Tile tensor(const store::Format& format, const std::string& text,
              const FormatOptions& options = {}, const std::string& suffix = "") const {
    MemoryReceiver into;
    return read(format, file("in.txt", text), into, options).tensor(suffix).whole();
  }
  static void write(const store::Format& format, std::vector<MemoryReader> tensors,
                    const std::string& path, const FormatOptions& options = {}) {
    std::vector<store::TensorReader*> readers;
    for (MemoryReader& tensor : tensors) readers.push_back(&tensor);
    format.write(readers, {path}, options);
  }

  std::filesystem::path folder_;
};

inline FormatOptions with(const std::function<void(FormatOptions&)>& change) {
  FormatOptions options;
  change(options);
  return options;
}

}  // namespace tessera
