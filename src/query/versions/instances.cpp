#include "query/versions/instances.h"

#include <limits>

#include "base/check.h"

namespace tessera::query {

int Instances::add(const Instance& instance) {
  constexpr std::size_t most = std::numeric_limits<std::int32_t>::max();
  TESSERA_REQUIRE(PlanError,
                  all_.size() < most && numbers_.size() < most &&
                      inputs_.size() + instance.inputs.size() < most,
                  "the plan is too large: more than {} versions", all_.size());
  TESSERA_INVARIANT(instance.parameters.size() <= 0xffff && instance.indices.size() <= 0xffff,
                    "{} parameters, {} indices", instance.parameters.size(),
                    instance.indices.size());
  all_.push_back({instance.of, static_cast<std::uint32_t>(numbers_.size()),
                  static_cast<std::uint32_t>(inputs_.size()), instance.table, instance.location,
                  static_cast<std::uint16_t>(instance.parameters.size()),
                  static_cast<std::uint16_t>(instance.indices.size())});
  numbers_.insert(numbers_.end(), instance.parameters.begin(), instance.parameters.end());
  numbers_.insert(numbers_.end(), instance.indices.begin(), instance.indices.end());
  inputs_.insert(inputs_.end(), instance.inputs.begin(), instance.inputs.end());
  return static_cast<int>(all_.size()) - 1;
}

void Instances::shrink_to_fit() {
  all_.shrink_to_fit();
  numbers_.shrink_to_fit();
  inputs_.shrink_to_fit();
}

Instance Instances::operator[](std::size_t number) const {
  const Compact& found = all_[number];
  const std::size_t end = number + 1 < all_.size() ? all_[number + 1].inputs : inputs_.size();
  const std::int64_t* numbers = numbers_.data() + found.numbers;
  return {found.of,
          {numbers, found.parameters},
          {inputs_.data() + found.inputs, end - found.inputs},
          found.table,
          {numbers + found.parameters, found.indices},
          found.location};
}

}  // namespace tessera::query
