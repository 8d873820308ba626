#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/packing.h"
#include "tessera/kernel.h"

namespace tessera {

/// Writes calls of kernels as bytes, each once: the kernel's name and its parameters.
class KernelWriter {
 public:
  explicit KernelWriter(PackedWriter& out) : out_(out) {}
  void put(const KernelCall& call);

  /// From here on PlanError for kernels that are not registered and have not come before.
  void seal() { sealed_ = true; }
  const std::vector<KernelCall>& calls() const { return calls_; }  // so far, by number

 private:
  PackedWriter& out_;
  bool sealed_ = false;
  std::vector<KernelCall> calls_;
  std::map<std::pair<const Kernel*, std::string>, std::int64_t> numbers_;
};

/// Reads them back. IoError if the bytes are not such ones, PlanError for a kernel that is not
/// registered here.
class KernelReader {
 public:
  /// `known`: what a writer has written before, which is not in these bytes.
  KernelReader(PackedReader& in, std::vector<KernelCall> known)
      : in_(in), calls_(std::move(known)) {}
  KernelCall call();

 private:
  KernelCall new_call(bool by_name);

  PackedReader& in_;
  std::vector<KernelCall> calls_;
};

}  // namespace tessera
