#pragma once

#include <sys/stat.h>

#include <optional>
#include <stop_token>

#include "base/outside.h"
#include "store/formats/format.h"

namespace tessera {

/// A file in the making that takes the place of another when it is complete, and goes with this, or
/// with the process, if it is not. It has no name until then, where the system has such files.
/// Links are followed, and a file that was there leaves its mode and, if we may, its owner. What is
/// no file, as a pipe or a device, and what a descriptor has open, as /dev/stdout, is written to
/// instead: all of it, once it is complete; not if only some folders may be written to. The files
/// of a database are not for others to replace.
class Replacement {
 public:
  Replacement(const std::string& target, const ExternalAccess& access, std::stop_token stop);
  ~Replacement();
  Replacement(const Replacement&) = delete;
  Replacement& operator=(const Replacement&) = delete;

  const store::OutputFile& output() const { return output_; }
  /// It is complete; how many bytes it has.
  std::int64_t keep();

 private:
  void take_place();
  void sync_name() const;

  const std::string name_;  // as it was given, for errors
  const std::stop_token stop_;
  OutputFolder folder_;
  std::filesystem::path target_;         // which no link stands for
  std::optional<struct stat> replaced_;  // what is there
  bool through_ = false;                 // it is no file, or a descriptor's
  std::optional<File> file_;
  std::filesystem::path temporary_;  // its name, until it has its own; none if it needs none
  store::OutputFile output_;
};

}  // namespace tessera
