#include "laws/kernel_fuzz.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "kernel/builtin.h"
#include "support/reference_kernels.h"

namespace tessera {
namespace {

enum class Failure { type_error, value_error };

/// Calls `f`; the kind of the error it ends with, if it is one that a kernel may answer with.
template <class F>
std::optional<Failure> failure_of(std::string& message, F&& f) {
  try {
    f();
    return std::nullopt;
  } catch (const TypeError& error) {
    message = error.what();
    return Failure::type_error;
  } catch (const ValueError& error) {
    message = error.what();
    return Failure::value_error;
  }
}

const char* name_of(std::optional<Failure> failure) {
  return !failure ? "a result" : *failure == Failure::type_error ? "a TypeError" : "a ValueError";
}

bool same_lists(const std::vector<Elements>& a, const std::vector<Elements>& b) {
  for (std::size_t k = 0; k < a.size(); ++k)
    for (std::int64_t i = 0; i < a[k].size(); ++i)
      if (!same_element(a[k], b[k], i) || a[k].stored[i] != b[k].stored[i]) return false;
  return true;
}

std::vector<Elements> read(const std::vector<Tile>& tiles) { return {tiles.begin(), tiles.end()}; }

/// Whether the arrays of a sparse tile obey the layout, which is checked of those of others.
void check_layout(const Tile& tile) {
  if (tile.is_sparse())
    Tile::wrap_sparse(tile.type(), tile.offsets(), tile.coordinates(), tile.bytes_begin(), nullptr);
}

std::string check_outputs(const KernelCase& c, const std::vector<TileType>& inferred,
                          const Arguments& arguments, const Judge& judge) {
  const std::vector<Tile> outputs = c.call.run(c.arguments);
  if (outputs.size() != inferred.size())
    return fmt::format("{} outputs where {} were inferred", outputs.size(), inferred.size());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].type() != inferred[i])
      return fmt::format("output {} is {}, inferred as {}", i, to_string(outputs[i].type()),
                         to_string(inferred[i]));
    check_layout(outputs[i]);
  }
  const std::vector<Elements> elements = read(outputs);
  if (std::string wrong = judge(elements); !wrong.empty()) return wrong;
  if (!same_lists(elements, read(c.call.run(c.arguments)))) return "a second run differs";
  if (!same_lists(arguments, read(c.arguments))) return "an argument was changed";
  return "";
}

std::string check_failure(const KernelCase& c, std::optional<Failure> actual,
                          std::optional<Failure> expected, const std::string& message,
                          const std::string& expected_message) {
  if (actual != expected)
    return fmt::format("{} ({}) where {} is due ({})", name_of(actual), message, name_of(expected),
                       expected_message);
  if (actual && message.find(c.call.kernel().name) != 0)
    return fmt::format("the message does not begin with the kernel: {}", message);
  return "";
}

}  // namespace

std::string check_case(const KernelCase& c) {
  const Arguments arguments = read(c.arguments);
  Judge judge;
  std::string expected_message;
  const std::optional<Failure> expected = failure_of(expected_message, [&] {
    judge = all_references().at(c.call.kernel().name)(arguments, c.call.params());
  });
  try {
    const std::vector<TileType> types = types_of(c.arguments);
    std::string message;
    std::string wrong;
    const std::optional<Failure> actual = failure_of(message, [&] {
      const std::vector<TileType> inferred = c.call.infer(types);
      const Cost cost = c.call.cost(types);
      if (!(std::isfinite(cost.flops) && std::isfinite(cost.bytes) && cost.flops >= 0 &&
            cost.bytes >= 0))
        wrong = fmt::format("a cost of {} flops and {} bytes", cost.flops, cost.bytes);
      else if (expected)
        static_cast<void>(c.call.run(c.arguments));
      else
        wrong = check_outputs(c, inferred, arguments, judge);
    });
    return wrong.empty() ? check_failure(c, actual, expected, message, expected_message) : wrong;
  } catch (const std::exception& error) {
    return fmt::format("it ends with: {}", error.what());
  }
}

const std::vector<std::string>& builtin_kernel_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> result;
    for (auto family :
         {binary_kernels, scalar_kernels, unary_kernels, reduction_kernels, rearrangement_kernels,
          product_kernels, convolution_kernels, factorization_kernels})
      for (const Kernel& kernel : family()) result.push_back(kernel.name);
    return result;
  }();
  return names;
}

KernelCase fuzz_case(std::uint64_t seed, const std::string& kernel) {
  Random random(seed);
  const std::string any = random.pick(builtin_kernel_names());
  CaseStyle style;
  style.tiles.values = random.pick(
      std::vector{Values::small_integers, Values::fractions, Values::fractions, Values::peculiar});
  if (random.chance(0.3)) style.tiles.layouts = Layouts::dense;
  if (random.chance(0.2)) style.dtype = random_dtype(random);
  if (random.chance(0.1)) style.misfits = 0.3;
  return random_case(random, find_kernel(kernel.empty() ? any : kernel), style);
}

std::string summary(const FuzzReport& report, std::uint64_t seed) {
  return fmt::format("kernel fuzz: {} cases, {} kernels, {} mismatches (seed {})", report.cases,
                     report.cases_by_kernel.size(), report.mismatches.size(), seed);
}

FuzzReport fuzz_kernels(std::uint64_t seed, std::int64_t cases, const std::string& kernel,
                        const std::function<void(const FuzzReport&)>& progress) {
  FuzzReport report;
  for (std::int64_t i = 0; i < cases; ++i) {
    const std::uint64_t own_seed = seed + static_cast<std::uint64_t>(i);
    const KernelCase c = fuzz_case(own_seed, kernel);
    const std::string& name = c.call.kernel().name;
    if (const std::string wrong = check_case(c); !wrong.empty())
      report.mismatches.push_back(
          {own_seed, name,
           fmt::format("{}: {}\n  again: kernel_fuzz --cases=1 --seed={} --kernel={}", to_string(c),
                       wrong, own_seed, name)});
    ++report.cases;
    ++report.cases_by_kernel[name];
    if (progress) progress(report);
  }
  return report;
}

}  // namespace tessera
