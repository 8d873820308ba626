#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "query/rows/node.h"

namespace tessera::query {

/// A query, bound once for all versions of a rule that read tables of the same types: versions
/// differ in their indices, which it reads as parameters.
struct Template {
  NodePtr root;
  std::vector<NodePtr> operators;               // each once, inputs before what reads them
  std::unordered_map<const Node*, int> number;  // of an operator among them
  int types = 0;  // which types its columns have: the same for the same
};

/// A version that is to be computed, or a query that was asked.
struct Instance {
  const Template* of = nullptr;
  std::span<const std::int64_t> parameters = {};
  /// What it reads: other instances, by their number, or stored tables, which count from -1 down.
  std::span<const int> inputs = {};
  int table = -1;                              // of versions: which versioned table
  std::span<const std::int64_t> indices = {};  // of versions
  Location location = {};                      // of queries: where they stand in the statement
};

/// Instances, by number. There are hundreds of thousands in a plan, so that their lists lie one
/// after the other in a few large ones.
class Instances {
 public:
  int add(const Instance& instance);
  void shrink_to_fit();  // when all are there

  Instance operator[](std::size_t number) const;
  Instance back() const { return (*this)[size() - 1]; }
  std::size_t size() const { return all_.size(); }

 private:
  struct Compact {
    const Template* of;
    std::uint32_t numbers;  // where its parameters begin, and after them its indices
    std::uint32_t inputs;   // where these begin
    std::int32_t table;
    Location location;
    std::uint16_t parameters;  // how many
    std::uint16_t indices;     // how many
  };

  std::vector<Compact> all_;
  std::vector<std::int64_t> numbers_;
  std::vector<int> inputs_;
};

}  // namespace tessera::query
