#include "laws/kernel_fuzz.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

#include "support/reference_kernels.h"

namespace tessera {
namespace {

constexpr std::uint64_t seed = 0;

/// The slice of the campaign that every run of the tests takes part in.
std::int64_t cases_to_run() {
  if (const char* given = std::getenv("TESSERA_FUZZ_CASES")) return std::atoll(given);
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return 20000;
#else
  return 200000;
#endif
}

TEST(KernelFuzz, EveryBuiltInKernelHasAGeneratorAndAReference) {
  for (const std::string& name : builtin_kernel_names()) {
    EXPECT_TRUE(has_generator(name)) << name << ": add a generator of cases in tests/laws";
    EXPECT_TRUE(all_references().contains(name)) << name << ": add a reference in tests/support";
  }
}

TEST(KernelFuzz, EveryKernelAgreesWithPlainLoops) {
  const std::int64_t cases = cases_to_run();
  const FuzzReport report = fuzz_kernels(seed, cases);
  std::size_t shown = 0;
  for (const Mismatch& mismatch : report.mismatches)
    if (++shown <= 20) ADD_FAILURE() << mismatch.text;
  EXPECT_TRUE(report.mismatches.empty());
  if (cases >= 20000) {
    EXPECT_EQ(report.cases_by_kernel.size(), builtin_kernel_names().size());
  }
  std::cout << summary(report, seed) << std::endl;
}

TEST(KernelFuzz, AWrongAnswerIsAMismatch) {
  Kernel wrong = *find_kernel("sub");
  wrong.name = "add";
  Random random(1);
  int mismatches = 0;
  for (int i = 0; i < 100; ++i) {
    const KernelCase c = random_case(random, std::make_shared<const Kernel>(wrong), {});
    mismatches += check_case(c).empty() ? 0 : 1;
  }
  EXPECT_GT(mismatches, 50);
}

}  // namespace
}  // namespace tessera
