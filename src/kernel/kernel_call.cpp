#include <algorithm>
#include <new>
#include <optional>

#include "base/check.h"
#include "base/crew.h"
#include "base/names_text.h"
#include "kernel/arguments.h"
#include "kernel/call_text.h"
#include "kernel/densified.h"
#include "kernel/elementwise_loops.h"
#include "kernel/library_threads.h"
#include "kernel/registry.h"

namespace tessera {
namespace {

/// The given parameters over those an alias sets, over the defaults; unknown names are refused.
Params bind(const Kernel& kernel, const Params& by_alias, const Params& given) {
  Params bound;
  bound.belong_to(kernel.name);
  for (const Parameter& parameter : kernel.parameters) {
    if (given.has(parameter.name))
      bound.set(parameter.name, given.values().at(parameter.name));
    else if (by_alias.has(parameter.name))
      bound.set(parameter.name, by_alias.values().at(parameter.name));
    else if (parameter.by_default)
      bound.set(parameter.name, *parameter.by_default);
    else
      throw TypeError(fmt::format("{}: parameter \"{}\" is missing ({})", kernel.name,
                                  parameter.name, parameter.description));
  }
  for (const auto& [name, value] : given.values()) {
    if (bound.has(name)) continue;
    std::vector<std::string> known;
    for (const Parameter& parameter : kernel.parameters) known.push_back(parameter.name);
    throw TypeError(fmt::format("{}: parameter \"{}\" not found; {}", kernel.name, name,
                                instead_of(name, known)));
  }
  return bound;
}

bool fits(const Implementation& implementation, Types types) {
  for (std::size_t i = 0; i < types.size(); ++i) {
    const auto& layouts = implementation.layouts;
    const LayoutPattern pattern = layouts[std::min(i, layouts.size() - 1)];
    if (pattern != LayoutPattern::any && (pattern == LayoutPattern::sparse) != types[i].is_sparse())
      return false;
  }
  return true;
}

const Implementation* first_fitting(const Kernel& kernel, Types types, Device device) {
  for (const Implementation& implementation : kernel.implementations)
    if (implementation.device == device && fits(implementation, types)) return &implementation;
  return nullptr;
}

std::vector<TileType> types_of(Tiles tiles) {
  std::vector<TileType> types;
  types.reserve(tiles.size());
  for (const Tile& tile : tiles) types.push_back(tile.type());
  return types;
}

/// A run has seen to it for all that it calls.
class OneLibraryThreadUnlessRun {
 public:
  OneLibraryThreadUnlessRun() {
    if (!has_crew()) library_.emplace();
  }

 private:
  std::optional<OneLibraryThread> library_;
};

/// Runs what may be a user's code: whatever it throws reaches the caller as one of our errors
/// that names the kernel.
template <class F>
auto guarded(const Kernel& kernel, F&& body) {
  try {
    return body();
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw OutOfMemory(fmt::format("{}: out of memory", kernel.name));
  } catch (const std::exception& error) {
    throw ValueError(fmt::format("{}: {}", kernel.name, error.what()));
  }
}

}  // namespace

KernelCall::KernelCall(std::string_view text) {
  CallText call = parse_call(text);
  KernelBinding binding = resolve_kernel(call.name);
  params_ = bind(*binding.kernel, binding.params, call.params);
  kernel_ = std::move(binding.kernel);
}

KernelCall::KernelCall(std::shared_ptr<const Kernel> kernel, Params params)
    : kernel_(std::move(kernel)), params_(bind(*kernel_, {}, params)) {}

KernelCall::KernelCall(std::string_view name, Params params) {
  KernelBinding binding = resolve_kernel(name);
  params_ = bind(*binding.kernel, binding.params, params);
  kernel_ = std::move(binding.kernel);
}

std::string KernelCall::to_string() const {
  std::vector<std::string> written;
  for (const Parameter& parameter : kernel_->parameters) {
    const ParamValue& value = params_.values().at(parameter.name);
    if (parameter.by_default != value)
      written.push_back(fmt::format("{}={}", parameter.name, print_value(value)));
  }
  if (written.empty()) return kernel_->name;
  return fmt::format("{}({})", kernel_->name, fmt::join(written, ", "));
}

std::vector<TileType> KernelCall::infer(Types types) const {
  const Kernel& k = *kernel_;
  const auto given = static_cast<int>(types.size());
  if (given < k.min_arguments || given > k.max_arguments) {
    const std::string wanted =
        k.min_arguments == k.max_arguments ? fmt::format("{}", k.min_arguments)
        : k.max_arguments == any_number    ? fmt::format("{} or more", k.min_arguments)
                                        : fmt::format("{} to {}", k.min_arguments, k.max_arguments);
    throw TypeError(fmt::format("{} takes {} argument{}, not {}", k.name, wanted,
                                wanted == "1" ? "" : "s", given));
  }
  return guarded(k, [&] { return k.infer(types, params_); });
}

Cost KernelCall::cost(Types types) const {
  if (kernel_->cost) return kernel_->cost(types, params_);
  Cost cost;
  for (const TileType& type : types) cost.bytes += dense_bytes(type);
  for (const TileType& type : infer(types)) {
    cost.flops += static_cast<double>(type.shape.elements());
    cost.bytes += dense_bytes(type);
  }
  return cost;
}

const Implementation& KernelCall::implementation(Types types, Device device) const {
  if (const Implementation* found = first_fitting(*kernel_, types, device)) return *found;
  std::vector<TileType> densified(types.begin(), types.end());
  for (TileType& type : densified) type.sparse_dims = 0;
  const Implementation* found = first_fitting(*kernel_, densified, device);
  TESSERA_REQUIRE(TypeError, found != nullptr, "{} has no implementation for this device",
                  kernel_->name);
  return *found;
}

double densified_bytes(const KernelCall& call, Types types) {
  if (fits(call.implementation(types), types)) return 0;
  double bytes = 0;
  for (const TileType& type : types)
    if (type.is_sparse()) bytes += dense_bytes(type);
  return bytes;
}

namespace {

/// The tiles as an implementation takes them: sparse ones densified where it wants dense ones.
std::vector<Tile> laid_out(const Implementation& implementation, Tiles tiles, Types types) {
  std::vector<Tile> result(tiles.begin(), tiles.end());
  if (!fits(implementation, types))
    for (Tile& tile : result) tile = tile.dense();
  return result;
}

}  // namespace

std::vector<Tile> KernelCall::run(Tiles tiles, Device device) const {
  const std::vector<TileType> types = types_of(tiles);
  const std::vector<TileType> expected = infer(types);
  const Implementation& chosen = implementation(types, device);
  const OneLibraryThreadUnlessRun library;
  std::vector<Tile> outputs =
      guarded(*kernel_, [&] { return chosen.run(laid_out(chosen, tiles, types), params_); });
  const std::vector<TileType> actual = types_of(outputs);
  if (actual != expected) {
    std::string printed;
    for (std::size_t i = 0; i < std::max(actual.size(), expected.size()); ++i)
      printed += fmt::format("{}output {} is {}, inferred as {}", i == 0 ? "" : "; ", i,
                             i < actual.size() ? tessera::to_string(actual[i]) : "absent",
                             i < expected.size() ? tessera::to_string(expected[i]) : "absent");
    throw TypeError(
        fmt::format("{}: the result does not have the inferred type: {}", kernel_->name, printed));
  }
  return outputs;
}

Tile KernelCall::operator()(Tiles tiles) const {
  std::vector<Tile> outputs = run(tiles);
  TESSERA_REQUIRE(TypeError, outputs.size() == 1, "{} has {} outputs, but must have one here",
                  kernel_->name, outputs.size());
  return std::move(outputs.front());
}

Tile KernelCall::operator()(std::initializer_list<Tile> tiles) const {
  return (*this)(Tiles(tiles.begin(), tiles.size()));
}

void KernelCall::accumulate(MutableTile& accumulator, Tiles tiles) const {
  const std::vector<TileType> types = types_of(tiles);
  const std::vector<TileType> result = infer(types);
  TESSERA_REQUIRE(TypeError,
                  result.size() == 1 && result[0].shape == accumulator.shape() &&
                      result[0].dtype == accumulator.dtype(),
                  "{}: the result {} cannot be added to an accumulator of {}", kernel_->name,
                  result.empty() ? "nothing" : tessera::to_string(result[0]),
                  tessera::to_string(TileType{accumulator.dtype(), accumulator.shape()}));
  const Implementation& chosen = implementation(types);
  if (!chosen.accumulate) {
    add_into(accumulator, (*this)(tiles));
    return;
  }
  const OneLibraryThreadUnlessRun library;
  guarded(*kernel_,
          [&] { chosen.accumulate(accumulator, laid_out(chosen, tiles, types), params_); });
}

}  // namespace tessera
