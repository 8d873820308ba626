#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tessera/tile.h"

namespace tessera {

/// A kernel's parameters: what is fixed when a plan is made, beside the tiles it is given.
using ParamValue = std::variant<bool, std::int64_t, double, std::vector<std::int64_t>, std::string>;

class Params {
 public:
  Params() = default;
  Params(std::initializer_list<std::pair<const std::string, ParamValue>> values)
      : values_(values) {}

  /// The kernel whose parameters these are, for messages.
  void belong_to(const std::string& kernel) { kernel_ = kernel; }
  bool has(const std::string& name) const { return values_.contains(name); }
  void set(const std::string& name, ParamValue value) { values_[name] = std::move(value); }
  bool flag(const std::string& name) const;
  std::int64_t integer(const std::string& name) const;
  double number(const std::string& name) const;  // an integer counts as a number
  std::string text(const std::string& name) const;
  std::vector<std::int64_t> integers(const std::string& name) const;  // one integer: a list of one

  const std::map<std::string, ParamValue>& values() const { return values_; }
  friend bool operator==(const Params&, const Params&) = default;

 private:
  const ParamValue& get(const std::string& name) const;
  [[noreturn]] void refuse(const std::string& name, const char* wanted) const;
  std::map<std::string, ParamValue> values_;
  std::string kernel_;
};

using Types = std::span<const TileType>;
using Tiles = std::span<const Tile>;

/// What the optimizer may rely on. Every claim made here is tried on random tiles by the tests in
/// tests/laws; a claim about sums holds up to rounding for f32 and f64.
struct Properties {
  /// Each output element depends on the input elements at its own place (inputs broadcast).
  bool elementwise = false;
  bool associative = false;  // f(f(a,b),c) = f(a,f(b,c))
  bool commutative = false;  // f(a,b) = f(b,a)
  bool idempotent = false;   // f(a,a) = a
  /// f(a,b) = a + b, of booleans a or b: so that a sum may be taken in place, and kernels whose
  /// results are summed may add them to the sum as they make them (Implementation::accumulate).
  bool addition = false;
  /// f(e,a) = f(a,e) = a for the tile e filled with this value.
  std::optional<double> identity = std::nullopt;
  /// f(0,...,0) = 0, so that zeros need not be stored.
  bool zero_preserving = false;
  /// Arguments i with f(.., a_i = 0, ..) = 0 whatever the others are.
  std::vector<int> annihilated_by = {};
  /// Arguments in which f is linear: f(a+b) = f(a)+f(b) and f(c*a) = c*f(a).
  std::vector<int> linear_in = {};
  /// Pairs (g, i): f(.., g(a,b), ..) = g(f(.., a, ..), f(.., b, ..)) in argument i.
  struct Distribution {
    std::string over;
    int argument = 0;
  };
  std::vector<Distribution> distributes_over = {};
};

struct Cost {
  double flops = 0;
  double bytes = 0;  // read and written
};

/// Where tiles lie and kernels run: the host, or what is attached to it.
enum class Device { cpu, cuda };
enum class LayoutPattern { any, dense, sparse };

/// One way to run a kernel: on a device, for the layouts it takes (by argument; the last pattern
/// repeats). The first implementation that fits is used; where none fits, sparse arguments are
/// densified and the search repeated.
struct Implementation {
  std::string name;  // shown by EXPLAIN: "cblas_dgemm", "gustavson"
  std::vector<LayoutPattern> layouts = {LayoutPattern::any};
  Device device = Device::cpu;
  std::function<std::vector<Tile>(Tiles, const Params&)> run;
  /// accumulator += result, without making the result; the accumulator has its type.
  std::function<void(MutableTile& accumulator, Tiles, const Params&)> accumulate = {};
};

struct Parameter {
  std::string name;
  std::optional<ParamValue> by_default;  // required if there is none
  std::string description = {};
};

/// For kernels that take as many arguments as there are.
inline constexpr int any_number = std::numeric_limits<int>::max();

struct Kernel {
  std::string name;
  std::string description = {};
  int min_arguments = 1;
  int max_arguments = 1;
  std::vector<Parameter> parameters = {};
  Properties properties = {};
  /// The types of the outputs; TypeError if the inputs do not fit. `sparse_dims` of an output is
  /// the layout that `run` yields for inputs of these layouts.
  std::function<std::vector<TileType>(Types, const Params&)> infer = {};
  std::function<Cost(Types, const Params&)> cost = {};  // by default one flop an output element
  std::vector<Implementation> implementations = {};
  std::vector<std::string> aliases = {};
};

/// A kernel with its parameters bound: what a plan holds. Written as text, `sum(axes=[0])`.
class KernelCall {
 public:
  KernelCall(const char* text) : KernelCall(std::string_view(text)) {}         // NOLINT: on purpose
  KernelCall(const std::string& text) : KernelCall(std::string_view(text)) {}  // NOLINT: on purpose
  KernelCall(std::string_view text);                                           // NOLINT: on purpose
  /// Checks the names of the parameters and fills in the defaults.
  KernelCall(std::shared_ptr<const Kernel> kernel, Params params);
  KernelCall(std::string_view name, Params params);

  const Kernel& kernel() const { return *kernel_; }
  const Properties& properties() const { return kernel_->properties; }
  const Params& params() const { return params_; }
  std::string to_string() const;  // parameters at their defaults are left out

  std::vector<TileType> infer(Types types) const;
  Cost cost(Types types) const;
  const Implementation& implementation(Types types, Device device = Device::cpu) const;

  /// By an implementation for the device, where the tiles lie.
  std::vector<Tile> run(Tiles tiles, Device device = Device::cpu) const;
  Tile operator()(std::initializer_list<Tile> tiles) const;  // kernels of one output
  Tile operator()(Tiles tiles) const;
  /// accumulator = accumulator + result, fused where the implementation can.
  void accumulate(MutableTile& accumulator, Tiles tiles) const;

  friend bool operator==(const KernelCall& a, const KernelCall& b) {
    return a.kernel_ == b.kernel_ && a.params_ == b.params_;
  }

 private:
  std::shared_ptr<const Kernel> kernel_;
  Params params_;
};

/// Makes a kernel known under its name and aliases; TypeError if a name is taken.
void register_kernel(Kernel kernel);
/// Makes `alias` mean the call that `text` writes: register_alias("rowSum", "sum(axes=[-1])").
void register_alias(const std::string& alias, const std::string& text);
/// TypeError with the nearest known names if there is none.
std::shared_ptr<const Kernel> find_kernel(std::string_view name);
std::vector<std::shared_ptr<const Kernel>> all_kernels();        // sorted by name
std::vector<std::pair<std::string, std::string>> all_aliases();  // alias, what it means

}  // namespace tessera
