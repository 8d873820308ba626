#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <ostream>

#include "tessera/database.h"

namespace tessera::shell {

/// The options of a command that reads or writes a file, as they are typed.
struct FileOptions {
  std::optional<std::string> tile, shape;
  std::string format, member, delimiter, dtype, header, missing, index_base, query;
  bool column_major = false, tile_a_row = false, external_files = false;
  int threads = 0;
  double memory = 64;  // megabytes

  void add_common_to(CLI::App& command);
  void add_import_to(CLI::App& command);
  /// TypeError, naming the option, where one is not what it should be.
  FormatOptions parsed() const;
};

/// Reads or writes a file with a line that says how far it is; Ctrl-C takes it back. Tells
/// what was done.
int run_on_file(const FileOptions& options, std::ostream& told,
                const std::function<FileReport(const FormatOptions&)>& work);

}  // namespace tessera::shell
