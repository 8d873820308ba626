#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "laws/kernel_cases.h"

namespace tessera {

/// The case of a seed: of the kernel named, or of any built-in kernel if there is no name.
KernelCase fuzz_case(std::uint64_t seed, const std::string& kernel = "");

/// What is wrong with a kernel's answer to a case, by the plain loops of the references; nothing
/// if the text is empty.
std::string check_case(const KernelCase& c);

struct Mismatch {
  std::uint64_t seed;
  std::string kernel;
  std::string text;  // the case, what is wrong with it, and how to run it again
};

struct FuzzReport {
  std::int64_t cases = 0;
  std::map<std::string, std::int64_t> cases_by_kernel;
  std::vector<Mismatch> mismatches;
};
/// "kernel fuzz: 1000 cases, 60 kernels, 0 mismatches (seed 0)"
std::string summary(const FuzzReport& report, std::uint64_t seed);

/// Case i has the seed `seed` + i, so that each can be run alone. `progress` is called after each.
FuzzReport fuzz_kernels(std::uint64_t seed, std::int64_t cases, const std::string& kernel = "",
                        const std::function<void(const FuzzReport&)>& progress = {});

/// The names of the kernels that the library brings along, without what a program registered.
const std::vector<std::string>& builtin_kernel_names();

}  // namespace tessera
