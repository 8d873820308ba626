#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tessera/kernel.h"
#include "tessera/key.h"
#include "tessera/relation.h"

namespace tessera {

/// A part of a projection: a kernel over some payload columns of a tuple, or over all of them if
/// none is named; or one column as it is.
struct Apply {
  std::optional<KernelCall> kernel;  // none: the column as it is
  std::vector<int> columns = {};
  std::vector<std::string> names = {};  // of the outputs; made up if there are none

  Apply(const char* call) : kernel(call) {}         // NOLINT: on purpose
  Apply(const std::string& call) : kernel(call) {}  // NOLINT: on purpose
  Apply(KernelCall call, std::vector<int> over = {}, std::vector<std::string> as = {})  // NOLINT
      : kernel(std::move(call)), columns(std::move(over)), names(std::move(as)) {}

  static Apply column(int which, const std::string& name = "");

  /// What it makes of arguments of these types, and what that costs. A column costs nothing.
  std::vector<TileType> infer(Types arguments) const;
  Cost cost(Types arguments) const;
  std::string to_string() const;

 private:
  Apply() = default;
};

/// The tiles at a key, a column each.
using TileSource = std::function<std::vector<Tile>(const Key& key)>;

/// What is known of a source besides its tuples.
struct SourceFacts {
  /// Tells its contents apart from others: processes that run a plan together compare it.
  std::uint64_t version = 0;
  std::int64_t bytes = 0;  // of all its tiles, about; 0: nobody knows
};

/// Whether the result of a plan may lack keys below its frontier.
enum class Holes { refused, allowed };

struct RunOptions;  // run.h

/// An expression of the tensor relational algebra (Yuan et al., section 3): an immutable tree of
/// operators that share their inputs. Types, frontiers and cardinalities are inferred, and what
/// does not fit is refused, as the tree is built.
class Plan {
 public:
  struct Node;

  /// A relation at hand, or only its type: such a plan can be explained but not run.
  static Plan input(const Relation& relation, const std::string& name = "");
  static Plan input(const RelationType& type, const std::string& name = "");
  /// A relation without holes whose tiles are made, or read, where they are needed: `source` is
  /// called for a key by a site that holds it, and yields tiles of just these types.
  static Plan input(const RelationType& type, TileSource source, const std::string& name = "");
  /// The same for any relation: its tuples are known one by one, and `source` reads their tiles.
  static Plan input(std::shared_ptr<const TupleSet<TileType>> tuples, TileSource source,
                    const std::string& name = "", const SourceFacts& facts = {});

  /// Groups tuples by some key components and folds each group's tiles with a kernel T x T -> T,
  /// in order of the keys. One kernel serves all columns, or there is one for each.
  Plan aggregate(const std::vector<int>& group_by, const KernelCall& kernel) const;
  Plan aggregate(const std::vector<int>& group_by, const std::vector<KernelCall>& kernels) const;

  /// Pairs tuples that agree in the given key components. The result's key is the left key and
  /// then the components of the right key that are not joined on; its payload is what the kernels
  /// make of the columns of the left and then of the right tuple.
  Plan join(const Plan& right, const std::vector<int>& left_keys,
            const std::vector<int>& right_keys, const Apply& projection) const;
  Plan join(const Plan& right, const std::vector<int>& left_keys,
            const std::vector<int>& right_keys, const std::vector<Apply>& projection) const;

  Plan rekey(const KeyFunction& function) const;
  Plan filter(const KeyPredicate& predicate) const;
  Plan transform(const Apply& projection) const;
  Plan transform(const std::vector<Apply>& projection) const;

  /// Cuts each array into pieces of `size` along a dimension; a new last key component counts
  /// them. Every array yields as many pieces as the largest one, so that no holes arise: the last
  /// pieces of a smaller one are smaller, or empty.
  Plan tile(int dimension, std::int64_t size) const;
  /// The inverse: joins the arrays of tuples that differ in one key component only, in its order.
  Plan concat(int key_component, int dimension) const;

  const RelationType& type() const;
  const Key& frontier() const { return type().frontier; }
  /// How many tuples the result has; `exact` unless holes or zeros cannot be counted beforehand.
  struct Cardinality {
    std::int64_t tuples = 0;
    bool exact = true;
  };
  Cardinality cardinality() const;
  /// Integrity of the keys, decided before running.
  const Closedness& closedness() const;

  std::string explain() const;  // the tree, an operator a line
  /// Evaluates the plan on all cores (run.h). PlanError, before any kernel runs, if the keys are
  /// known to collide or, unless allowed, to have holes; and when found at run time.
  Relation run(Holes holes = Holes::refused) const;
  Relation run(const RunOptions& options) const;
  /// The same by definition, one tuple after the other: what the engines are held to.
  Relation interpret(Holes holes = Holes::refused) const;

  const Node& node() const { return *node_; }
  bool is_same(const Plan& other) const { return node_ == other.node_; }
  explicit Plan(std::shared_ptr<const Node> node) : node_(std::move(node)) {}

 private:
  std::shared_ptr<const Node> node_;
};

/// The operators of a plan, for those who walk it.
namespace op {

struct Input {
  std::string name;
  RelationType type;
  std::optional<Relation> relation;                        // neither this
  TileSource source = {};                                  // nor this: only the type is known
  std::shared_ptr<const TupleSet<TileType>> listing = {};  // what a source has, if not all alike
  SourceFacts facts = {};
};
struct Aggregate {
  Plan input;
  std::vector<int> group_by;
  std::vector<KernelCall> kernels;  // one a column
};
struct Join {
  Plan left, right;
  std::vector<int> left_keys, right_keys;
  std::vector<Apply> projection;
};
struct ReKey {
  Plan input;
  KeyFunction function;
};
struct Filter {
  Plan input;
  KeyPredicate predicate;
};
struct Transform {
  Plan input;
  std::vector<Apply> projection;
};
struct Tile {
  Plan input;
  int dimension;
  std::int64_t size;
  std::int64_t pieces;
};
struct Concat {
  Plan input;
  int key_component;
  int dimension;
};

}  // namespace op

using Operator = std::variant<op::Input, op::Aggregate, op::Join, op::ReKey, op::Filter,
                              op::Transform, op::Tile, op::Concat>;

/// Plans as bytes, from which another program reads them: compact, with a version and a checksum.
/// They hold everything but the tiles of inputs and what is known to this program alone: functions
/// of C++ in keys, and kernels that are not registered.
std::string to_bytes(const std::vector<Plan>& plans);
/// Gives the input that has this name and this type.
using FindInput = std::function<Plan(const std::string& name, const RelationType& type)>;
/// Reads them back. Without `find`, plans may have inputs that are types alone. IoError if the
/// bytes are damaged or of a later version, PlanError if the plans do not fit what there is here.
std::vector<Plan> plans_from_bytes(std::string_view bytes, const FindInput& find = {});

std::string describe(const Operator& op);  // one line: "Join <1> = <0> with matmul"
std::vector<Plan> inputs_of(const Operator& op);
const Operator& operator_of(const Plan& plan);

}  // namespace tessera
