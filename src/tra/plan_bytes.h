#pragma once

#include <unordered_map>

#include "base/packing.h"
#include "kernel/kernel_bytes.h"
#include "key/key_bytes.h"
#include "tessera/plan.h"

namespace tessera {

// Logical plans as bytes: nodes, each once, inputs before what reads them, by number. What bytes
// cannot hold (the tiles of inputs, functions of C++, kernels that are not registered) is written
// as what it is called. A reader who has the same plans has these too; any other one gives the
// inputs, and refuses the rest.

void put(PackedWriter& out, const TileType& type);
TileType read_tile_type(PackedReader& in);

/// What written plans may be part of.
enum class Written : char { plans = 'L', physical_plans = 'P', run = 'R' };
/// The bytes with what they are told by: a mark, the version of the form, and a checksum.
std::string enclosed(Written what, std::string_view bytes);
/// What enclosed() was given. IoError if they are damaged, something else, or of a later version.
std::string_view opened(Written what, std::string_view enclosed);
/// Stands at the end of these bytes.
std::uint64_t checksum_of(std::string_view bytes);
/// What readers of it say is damaged.
inline constexpr std::string_view written_plan = "the written plan";

/// What has been written, or read.
struct PlanTables {
  std::vector<Plan> plans;
  std::vector<KernelCall> kernels;
  KeyTables keys;
};

class PlanWriter {
 public:
  PlanWriter() = default;
  PlanWriter(const PlanWriter&) = delete;
  PlanWriter& operator=(const PlanWriter&) = delete;

  /// Writes what has not come before of these plans, with all that they read.
  void put_nodes(const std::vector<Plan>& plans);
  /// Refers to those whose nodes have been written.
  void put(const std::vector<Plan>& plans);
  void put(const Plan& plan) { out_.put_short(numbers_.at(&plan.node())); }
  void put(const KernelCall& call) { kernels_.put(call); }
  void put(const std::vector<Apply>& projection);
  void put(const KeyFunction& function) { keys_.put(function); }
  void put(const KeyPredicate& predicate) { keys_.put(predicate); }
  void put(const std::vector<int>& numbers);

  /// From here on PlanError for what the reader, who has the plans so far, cannot know.
  void seal();
  PackedWriter& out() { return out_; }
  PlanTables tables() const { return {plans_, kernels_.calls(), keys_.tables()}; }

 private:
  void put_node(const Plan& plan);
  void put_input(const op::Input& input);

  PackedWriter out_;
  bool sealed_ = false;
  KernelWriter kernels_{out_};
  KeyWriter keys_{out_};
  std::vector<Plan> plans_;
  std::unordered_map<const Plan::Node*, std::int64_t> numbers_;
};

class PlanReader {
 public:
  /// `known`: what a writer has written before, which is not in these bytes. `find` gives inputs.
  PlanReader(PackedReader& in, FindInput find, PlanTables known = {})
      : in_(in),
        find_(std::move(find)),
        plans_(std::move(known.plans)),
        kernels_(in, std::move(known.kernels)),
        keys_(in, std::move(known.keys)) {}

  void read_nodes();
  std::vector<Plan> plans();
  const Plan& plan() {
    return plans_[static_cast<std::size_t>(in_.short_below(std::ssize(plans_)))];
  }
  KernelCall kernel() { return kernels_.call(); }
  std::vector<KernelCall> kernels();
  std::vector<Apply> projection();
  KeyFunction key_function() { return keys_.function(); }
  KeyPredicate key_predicate() { return keys_.predicate(); }
  std::vector<int> numbers();
  PackedReader& in() { return in_; }

 private:
  Plan node();
  Plan input();

  PackedReader& in_;
  FindInput find_;
  std::vector<Plan> plans_;
  KernelReader kernels_;
  KeyReader keys_;
};

}  // namespace tessera
