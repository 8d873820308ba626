#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tessera/placement.h"
#include "tessera/plan.h"

/// The implementation algebra (Yuan et al., section 4): plans over physical relations, whose tuples
/// also have a site. Two operators move tuples between sites; all others work at each site on what
/// is there.
namespace tessera::ia {

/// What is done to the tiles of a tuple: a projection, then the next one on its outputs, and so
/// on. Empty: nothing.
using Pipeline = std::vector<std::vector<Apply>>;

/// One output of a multi-map: a new key, and the tiles, cut first if asked, through a pipeline.
struct Branch {
  std::optional<KeyFunction> keys = {};  // none: the key stays
  struct Cut {
    int dimension;
    std::int64_t size;   // of a piece
    std::int64_t piece;  // which one
    friend bool operator==(const Cut&, const Cut&) = default;
  };
  std::optional<Cut> cut = {};
  Pipeline arrays = {};
};

/// An immutable tree of physical operators that share their inputs. What a plan computes, sites
/// left aside, is its `logical` plan: types, frontiers and integrity follow from that; where its
/// tuples are is inferred here, and an operator whose inputs do not lie right is refused.
class Plan {
 public:
  struct Node;

  /// An input that lies as `placement` says. `logical` is an Input.
  static Plan input(const tessera::Plan& logical, const Placement& placement);

  Plan broadcast() const;                                  // BCAST: ALL
  Plan shuffle(const Placement& to) const;                 // SHUF; `to` may also ask for copies
  Plan shuffle(const std::vector<int>& components) const;  // SHUF_D: PART_D

  /// Joins what is at the same site. PlanError if tuples that join might be at different sites.
  /// `keys` renames the result's key and `then` goes on with its tiles (R1-7).
  Plan join(const Plan& right, const std::vector<int>& left_keys,
            const std::vector<int>& right_keys, const std::vector<Apply>& projection) const;
  /// Folds what is at the same site. Where a group may lie at several sites the kernels must be
  /// associative and commutative, and the result is partial: summands that a shuffle and another
  /// aggregation bring together.
  Plan aggregate(const std::vector<int>& group_by, const std::vector<KernelCall>& kernels) const;
  Plan concat(int key_component, int dimension) const;
  Plan filter(const KeyPredicate& predicate) const;
  Plan map(std::vector<Branch> branches) const;  // as many outputs a tuple as there are branches
  Plan map(const std::optional<KeyFunction>& keys, const Pipeline& arrays) const;
  /// Each tuple `count` times, told apart by a new key component at `position`.
  Plan duplicate(int position, std::int64_t count) const;
  Plan tile(int dimension, std::int64_t size) const;
  Plan fill() const;  // the zeros that a sparse relation leaves out

  const RelationType& type() const;
  const Placement& placement() const;
  const tessera::Plan& logical() const;
  int sites() const { return placement().sites(); }
  /// The kernels that the summands of a partial relation are still to be folded with.
  const std::vector<KernelCall>& pending() const;

  std::string explain() const;

  const Node& node() const { return *node_; }
  bool is_same(const Plan& other) const { return node_ == other.node_; }
  explicit Plan(std::shared_ptr<const Node> node) : node_(std::move(node)) {}

 private:
  std::shared_ptr<const Node> node_;
};

struct Input {};  // what it is stands in the logical plan
struct Broadcast {
  Plan input;
};
struct Shuffle {
  Plan input;
  Placement to;
};
struct Join {
  Plan left, right;
  std::vector<int> left_keys, right_keys;
  Pipeline projection;                   // at least one stage
  std::optional<KeyFunction> keys = {};  // of the result's key; none: it stays
};
struct Aggregate {
  Plan input;
  std::vector<int> group_by;
  std::vector<KernelCall> kernels;
  Pipeline finish = {};  // applied once to each finished group (R1-4)
};
/// An aggregation of a join's products, each of which is folded as it is made and then dropped. It
/// reads what the join reads.
struct JoinAggregate {
  Aggregate aggregate;  // its input is the join
  const Join& join() const;
  /// Whether its products are single tiles, made by a kernel, that are summed.
  bool sums_single_tiles() const;
  /// Whether the kernel may add a product of this type to a sum of the same type itself, so that
  /// the product is never made: it is dense, and summed.
  bool adds_in_place(const TileType& product) const;
};
struct Concat {
  Plan input;
  int key_component;
  int dimension;
};
struct Filter {
  Plan input;
  KeyPredicate predicate;
};
struct Map {
  Plan input;
  std::vector<Branch> branches;
};
struct Fill {
  Plan input;
};

using Operator = std::variant<Input, Broadcast, Shuffle, Join, Aggregate, JoinAggregate, Concat,
                              Filter, Map, Fill>;

/// A plan with this operator at its root. `logical`, where it is known, saves inferring it again.
Plan make(Operator op, const std::optional<tessera::Plan>& logical = std::nullopt);

const Operator& operator_of(const Plan& plan);
/// The join, or the aggregation, that an operator is, by itself or in a JoinAggregate; or null.
const Join* join_of(const Operator& op);
const Aggregate* aggregate_of(const Operator& op);
bool is_move(const Plan& plan);  // BCAST or SHUF
std::vector<Plan> inputs_of(const Operator& op);
Operator with_inputs(const Operator& op, const std::vector<Plan>& inputs);
std::string describe(const Plan& plan);  // one line: "SHUF PART<0> on 4"
/// Plans in which every aggregation of a join that nobody else reads is one operator with it.
/// Why others are not is counted.
std::vector<Plan> fused(const std::vector<Plan>& plans,
                        std::map<std::string, int>* refusals = nullptr);
Plan fused(const Plan& plan);
/// Physical plans as bytes, like logical ones (plan.h).
std::string to_bytes(const std::vector<Plan>& plans);
std::vector<Plan> plans_from_bytes(std::string_view bytes, const FindInput& find = {});
/// The nodes of a plan, each once, inputs before what reads them.
std::vector<Plan> in_order(const Plan& root);
std::vector<Plan> in_order(const std::vector<Plan>& roots);

/// Table 1: a TRA plan, operator by operator. Inputs lie as `placed` says.
using PlaceInput = std::function<Placement(const tessera::Plan& input)>;
Plan translate(const tessera::Plan& plan, const PlaceInput& placed);
/// The same for several results, which share what they have in common.
std::vector<Plan> translate(const std::vector<tessera::Plan>& plans, const PlaceInput& placed);
/// Where inputs lie when nobody says: tuples are assigned to the sites round robin, in the order of
/// their keys.
PlaceInput round_robin(int sites);

}  // namespace tessera::ia
