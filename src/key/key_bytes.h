#pragma once

#include <unordered_map>
#include <vector>

#include "base/packing.h"
#include "key/expression.h"

namespace tessera {

/// What has been written, or read, of expressions over keys, in this order. A part that several
/// expressions share is there once.
struct KeyTables {
  std::vector<KeyExpr> expressions;
  std::vector<KeyPredicate> predicates;
  // Functions of C++, which bytes cannot hold: the reader has the same ones, or refuses.
  std::vector<KeyExpr::Node::Opaque> functions;
  std::vector<KeyPredicate::Node::Opaque> conditions;
};

/// Writes expressions as bytes.
class KeyWriter {
 public:
  explicit KeyWriter(PackedWriter& out) : out_(out) {}
  void put(const KeyExpr& expression);
  void put(const KeyPredicate& predicate);
  void put(const KeyFunction& function);

  /// From here on PlanError for functions of C++ that have not come before: the reader, who has
  /// what was written so far, cannot know them.
  void seal() { sealed_ = true; }
  const KeyTables& tables() const { return tables_; }

 private:
  template <class Node, class Table>
  bool again(const Node& node, const Table& table);
  template <class Opaque>
  void put_opaque(const Opaque& opaque, std::vector<Opaque>& known);
  void put_node(const KeyExpr& expression);
  void put_node(const KeyPredicate& predicate);

  PackedWriter& out_;
  bool sealed_ = false;
  KeyTables tables_;
  std::unordered_map<const void*, std::int64_t> numbers_;  // of nodes, and of functions
};

/// Reads them back. IoError if the bytes are not such ones.
class KeyReader {
 public:
  /// `known`: what a writer has written before, which is not in these bytes.
  KeyReader(PackedReader& in, KeyTables known) : in_(in), tables_(std::move(known)) {}
  KeyExpr expression();
  KeyPredicate predicate();
  KeyFunction function();

 private:
  template <class Opaque>
  Opaque opaque(const std::vector<Opaque>& known);
  KeyExpr new_expression(std::int64_t form);
  KeyPredicate new_predicate(std::int64_t form);

  PackedReader& in_;
  KeyTables tables_;
  int depth_ = 0;
};

}  // namespace tessera
