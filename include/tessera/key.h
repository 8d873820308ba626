#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tessera/inline_vector.h"

namespace tessera {

/// The key of a tuple: non-negative integers.
using Key = InlineVector<std::int64_t, 16>;
std::string to_string(const Key& key);  // "<0, 1>"

struct KeyHash {
  std::size_t operator()(const Key& key) const noexcept;
};

/// An integer expression over the components k0, k1, ... of a key. Immutable; a cheap handle.
/// `/` is written div and rounds towards minus infinity, mod has the sign of its divisor, as in
/// Python; a division by zero or an overflow is a ValueError that names the key.
/// Nested at most 2000 deep, and in a text at most 250 parentheses deep.
class KeyExpr {
 public:
  struct Node;

  KeyExpr(std::int64_t constant);  // NOLINT: on purpose, so that key(0) + 1 reads as it should
  KeyExpr(int constant) : KeyExpr(static_cast<std::int64_t>(constant)) {}  // NOLINT
  explicit KeyExpr(std::shared_ptr<const Node> node) : node_(std::move(node)) {}
  /// A C++ function nobody can look into: every question about it is answered 'unknown'.
  static KeyExpr opaque(std::string name, std::function<std::int64_t(const Key&)> function);
  static KeyExpr parse(std::string_view text);  // "2*k0 + k1 mod 3"; ParseError with the column

  std::int64_t evaluate(const Key& key) const;
  std::string to_string() const;  // parses back to an equal expression
  int arity() const;              // one more than the highest component used; 0 if none is
  bool is_opaque() const;         // whether an opaque function occurs in it
  /// The expression with component i replaced by components[i].
  KeyExpr substitute(const std::vector<KeyExpr>& components) const;

  const Node& node() const { return *node_; }
  friend bool equal(const KeyExpr& a, const KeyExpr& b);  // the same tree

 private:
  std::shared_ptr<const Node> node_;
};

KeyExpr key(int component);
KeyExpr operator+(const KeyExpr& a, const KeyExpr& b);
KeyExpr operator-(const KeyExpr& a, const KeyExpr& b);
KeyExpr operator*(const KeyExpr& a, const KeyExpr& b);
KeyExpr operator/(const KeyExpr& a, const KeyExpr& b);  // div
KeyExpr operator%(const KeyExpr& a, const KeyExpr& b);  // mod

/// A condition on keys: comparisons of expressions under and, or, not.
class KeyPredicate {
 public:
  struct Node;

  KeyPredicate(const char* text) : KeyPredicate(parse(text)) {}         // NOLINT: on purpose
  KeyPredicate(const std::string& text) : KeyPredicate(parse(text)) {}  // NOLINT: on purpose
  explicit KeyPredicate(std::shared_ptr<const Node> node) : node_(std::move(node)) {}
  static KeyPredicate always();
  static KeyPredicate opaque(std::string name, std::function<bool(const Key&)> function);
  static KeyPredicate parse(std::string_view text);  // "k0 = k1 and not k2 < 3"; also == != <>

  bool evaluate(const Key& key) const;
  std::string to_string() const;
  int arity() const;
  bool is_opaque() const;
  KeyPredicate substitute(const std::vector<KeyExpr>& components) const;

  const Node& node() const { return *node_; }
  friend bool equal(const KeyPredicate& a, const KeyPredicate& b);

 private:
  std::shared_ptr<const Node> node_;
};

KeyPredicate operator==(const KeyExpr& a, const KeyExpr& b);
KeyPredicate operator!=(const KeyExpr& a, const KeyExpr& b);
KeyPredicate operator<(const KeyExpr& a, const KeyExpr& b);
KeyPredicate operator<=(const KeyExpr& a, const KeyExpr& b);
KeyPredicate operator>(const KeyExpr& a, const KeyExpr& b);
KeyPredicate operator>=(const KeyExpr& a, const KeyExpr& b);
KeyPredicate operator&&(const KeyPredicate& a, const KeyPredicate& b);
KeyPredicate operator||(const KeyPredicate& a, const KeyPredicate& b);
KeyPredicate operator!(const KeyPredicate& a);

/// A map from keys to keys: an expression for each component of the result.
class KeyFunction {
 public:
  KeyFunction(const char* text) : KeyFunction(parse(text)) {}         // NOLINT: on purpose
  KeyFunction(const std::string& text) : KeyFunction(parse(text)) {}  // NOLINT: on purpose
  explicit KeyFunction(std::vector<KeyExpr> components) : components_(std::move(components)) {}
  static KeyFunction opaque(std::string name, int output_arity,
                            std::function<Key(const Key&)> function);
  /// "<2*k0 + k1>", or with names of one's own for the input: "<i, j> -> <2*i + j>".
  static KeyFunction parse(std::string_view text);

  Key evaluate(const Key& key) const;
  std::string to_string() const;
  int input_arity() const;  // at least; a component may be unused
  int output_arity() const { return static_cast<int>(components_.size()); }
  bool is_opaque() const;
  const std::vector<KeyExpr>& components() const { return components_; }
  KeyFunction compose(const KeyFunction& inner) const;  // this after inner

 private:
  std::vector<KeyExpr> components_;
};

/// A set of keys described by expressions: the image under `map` of the points of a box (all k
/// with 0 <= k < extents) that satisfy `where`. The keys of every node of a plan have this form.
struct KeySet {
  Key extents = {};
  KeyPredicate where = KeyPredicate::always();
  KeyFunction map{std::vector<KeyExpr>{}};

  static KeySet box(const Key& extents);
  KeySet filter(const KeyPredicate& predicate) const;
  KeySet rekey(const KeyFunction& function) const;
};

enum class Answer { yes, no, unknown };

/// A decision with its witness: what a 'no' can be shown with.
struct Verdict {
  Answer answer = Answer::unknown;
  Key key = {};             // the offending key: repeated, missing or negative
  std::string reason = {};  // a sentence that names it; why, where the answer is unknown
};

struct Closedness {
  Verdict non_negative = {};  // no component of a key is below zero
  Verdict unique = {};        // no two points of the box have the same key
  Verdict continuous = {};    // every key below the frontier is there; negative ones do not count
  Key frontier = {};          // the least key above all, if `frontier_known`
  bool frontier_known = false;
  std::int64_t cardinality = -1;  // how many distinct keys there are; -1 if unknown
  std::string method = {};        // "box", "enumeration", "solver" or "none"
};

/// Decides the integrity of a key set before anything runs. Plain boxes are decided by looking;
/// boxes of up to a million points by enumeration, which is exact; larger ones by Z3 within a
/// time limit; opaque functions on larger ones are 'unknown'.
struct ClosednessOptions {
  std::int64_t enumerate_up_to = 1'000'000;
  int solver_milliseconds = 40;
};
Closedness decide_closedness(const KeySet& keys, const ClosednessOptions& options = {});

}  // namespace tessera
