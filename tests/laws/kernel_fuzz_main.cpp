// A long campaign of random kernel calls against plain loops:
//   kernel_fuzz [--cases=N] [--seed=S] [--kernel=NAME]

#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <string>
#include <string_view>

#include "laws/kernel_fuzz.h"

namespace tessera {
namespace {

struct Options {
  std::int64_t cases = 1000000;
  std::uint64_t seed = 0;
  std::string kernel;
};

template <class T>
bool read_number(std::string_view text, T& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

bool read_option(std::string_view argument, Options& options) {
  const std::size_t equals = argument.find('=');
  if (equals == std::string_view::npos) return false;
  const std::string_view name = argument.substr(0, equals);
  const std::string_view value = argument.substr(equals + 1);
  if (name == "--cases") return read_number(value, options.cases);
  if (name == "--seed") return read_number(value, options.seed);
  if (name != "--kernel") return false;
  options.kernel = value;
  return true;
}

constexpr int usage_error = 2;
constexpr std::int64_t progress_step = 50000;

int run(const Options& options) {
  std::size_t printed = 0;
  const auto progress = [&](const FuzzReport& report) {
    for (; printed < report.mismatches.size(); ++printed)
      fmt::print("MISMATCH {}\n", report.mismatches[printed].text);
    if (report.cases % progress_step != 0) return;
    fmt::print("{} cases, {} mismatches\n", report.cases, report.mismatches.size());
    std::fflush(stdout);
  };
  const FuzzReport report = fuzz_kernels(options.seed, options.cases, options.kernel, progress);
  for (const auto& [kernel, cases] : report.cases_by_kernel)
    fmt::print("{:>10} {}\n", cases, kernel);
  fmt::print("{}\n", summary(report, options.seed));
  return report.mismatches.empty() ? 0 : 1;
}

}  // namespace
}  // namespace tessera

int main(int argc, char** argv) {
  tessera::Options options;
  for (int i = 1; i < argc; ++i)
    if (!tessera::read_option(argv[i], options)) {
      fmt::print(stderr, "kernel_fuzz: '{}' is none of --cases=N --seed=S --kernel=NAME\n",
                 argv[i]);
      return tessera::usage_error;
    }
  try {
    return tessera::run(options);
  } catch (const tessera::Error& error) {
    fmt::print(stderr, "kernel_fuzz: {}\n", error.what());
    return tessera::usage_error;
  }
}
