#include "kernel/registry.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <utility>

#include "base/check.h"
#include "base/names_text.h"
#include "kernel/builtin.h"
#include "kernel/call_text.h"

namespace tessera {
namespace {

/// The papers' spellings that are more than another name for a kernel.
constexpr std::pair<const char*, const char*> builtin_aliases[] = {
    {"rowSum", "sum(axes=[-1])"},
    {"row_sum", "sum(axes=[-1])"},
    {"colSum", "sum(axes=[-2])"},
    {"col_sum", "sum(axes=[-2])"},
    {"rowMax", "max(axes=[-1])"},
    {"row_max", "max(axes=[-1])"},
    {"rowMin", "min(axes=[-1])"},
    {"row_min", "min(axes=[-1])"},
    {"minIndex", "argmin(axes=[-1])"},
    {"min_index", "argmin(axes=[-1])"},
    {"maxIndex", "argmax(axes=[-1])"},
    {"max_index", "argmax(axes=[-1])"},
    {"sum_elements", "sum"},
    {"max_elements", "max"},
    {"min_elements", "min"},
    {"mean_elements", "mean"},
    {"hadamard_product", "mul"},
    {"t", "transpose"},
    {"reducebyrow", "sum(axes=[-2])"},
    {"reduce_by_row", "sum(axes=[-2])"},
    {"ln", "log"},
};

class Registry {
 public:
  Registry() {
    for (auto family : {binary_kernels, scalar_kernels, unary_kernels, reduction_kernels,
                        scan_kernels, rearrangement_kernels, product_kernels, contraction_kernels,
                        convolution_kernels, factorization_kernels, layout_kernels, index_kernels})
      for (Kernel& kernel : family()) add(std::move(kernel));
    for (const auto& [alias, text] : builtin_aliases) add_alias(alias, text);
  }

  void add(Kernel kernel) {
    TESSERA_REQUIRE(
        TypeError, !kernel.name.empty() && kernel.infer && !kernel.implementations.empty(),
        "kernel \"{}\" needs a name, an infer function and an implementation", kernel.name);
    TESSERA_REQUIRE(TypeError,
                    kernel.min_arguments >= 0 && kernel.min_arguments <= kernel.max_arguments,
                    "kernel \"{}\" takes {} to {} arguments, which is not a valid range",
                    kernel.name, kernel.min_arguments, kernel.max_arguments);
    const std::unique_lock lock(mutex_);
    require_free(kernel.name);
    for (const std::string& alias : kernel.aliases) require_free(alias);
    for (const std::string& alias : kernel.aliases) aliases_[alias] = kernel.name;
    std::string name = kernel.name;
    kernels_[std::move(name)] = std::make_shared<const Kernel>(std::move(kernel));
  }

  void add_alias(const std::string& alias, const std::string& text) {
    const CallText call = parse_call(text);
    const std::unique_lock lock(mutex_);
    require_free(alias);
    TESSERA_REQUIRE(TypeError, kernels_.contains(call.name),
                    "alias \"{}\" stands for kernel \"{}\", which does not exist", alias,
                    call.name);
    aliases_[alias] = text;
  }

  std::shared_ptr<const Kernel> find(std::string_view name) const {
    const std::shared_lock lock(mutex_);
    const auto found = kernels_.find(name);
    return found == kernels_.end() ? nullptr : found->second;
  }

  std::optional<std::string> expand(std::string_view alias) const {
    const std::shared_lock lock(mutex_);
    const auto found = aliases_.find(alias);
    if (found == aliases_.end()) return std::nullopt;
    return found->second;
  }

  std::vector<std::shared_ptr<const Kernel>> all() const {
    const std::shared_lock lock(mutex_);
    std::vector<std::shared_ptr<const Kernel>> result;
    for (const auto& [name, kernel] : kernels_) result.push_back(kernel);
    return result;
  }

  std::vector<std::pair<std::string, std::string>> aliases() const {
    const std::shared_lock lock(mutex_);
    return {aliases_.begin(), aliases_.end()};
  }

 private:
  void require_free(const std::string& name) const {
    TESSERA_REQUIRE(TypeError, !kernels_.contains(name) && !aliases_.contains(name),
                    "kernel \"{}\" already exists", name);
  }

  mutable std::shared_mutex mutex_;
  std::map<std::string, std::shared_ptr<const Kernel>, std::less<>> kernels_;
  std::map<std::string, std::string, std::less<>> aliases_;  // what it stands for, as a call
};

/// The one piece of global state: names are global to a program, as its kernels are.
Registry& registry() {
  static Registry instance;
  return instance;
}

}  // namespace

std::vector<std::string> kernels_like(std::string_view name) {
  std::map<std::string, std::string> canonical;
  for (const auto& kernel : all_kernels()) canonical[kernel->name] = kernel->name;
  for (const auto& [alias, text] : all_aliases()) {
    const CallText call = parse_call(text);
    canonical[alias] = call.params.values().empty() ? call.name : alias;
  }
  std::vector<std::string> all, like;
  for (const auto& [spelling, kernel] : canonical) all.push_back(spelling);
  for (const std::string& spelling : similar_names(name, all))
    if (std::find(like.begin(), like.end(), canonical.at(spelling)) == like.end())
      like.push_back(canonical.at(spelling));
  return like;
}

KernelBinding resolve_kernel(std::string_view name) {
  if (auto kernel = registry().find(name)) return {std::move(kernel), {}};
  if (const auto text = registry().expand(name)) {
    CallText call = parse_call(*text);
    return {registry().find(call.name), std::move(call.params)};
  }
  const std::vector<std::string> like = kernels_like(name);
  throw TypeError(fmt::format("kernel \"{}\" not found{}", name,
                              like.empty() ? "" : "; " + did_you_mean(like)));
}

void register_kernel(Kernel kernel) { registry().add(std::move(kernel)); }
void register_alias(const std::string& alias, const std::string& text) {
  registry().add_alias(alias, text);
}
std::shared_ptr<const Kernel> find_kernel(std::string_view name) {
  return resolve_kernel(name).kernel;
}
std::vector<std::shared_ptr<const Kernel>> all_kernels() { return registry().all(); }
std::vector<std::pair<std::string, std::string>> all_aliases() { return registry().aliases(); }

}  // namespace tessera
