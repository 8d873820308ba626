#include "exec/estimates.h"

namespace tessera::exec {
namespace {

void mix(std::size_t& hash, std::int64_t value) {
  hash = (hash ^ static_cast<std::size_t>(value)) * 0x9E3779B97F4A7C15u;
  hash ^= hash >> 29;
}

}  // namespace

TypesId TypeTable::add(const std::vector<TileType>& types) {
  std::size_t hash = types.size();
  for (const TileType& type : types) {
    mix(hash, static_cast<std::int64_t>(type.dtype));
    mix(hash, type.sparse_dims);
    for (std::int64_t extent : type.shape) mix(hash, extent);
  }
  const auto [first, last] = by_hash_.equal_range(hash);
  for (auto found = first; found != last; ++found)
    if (lists_[found->second] == types) return found->second;
  lists_.push_back(types);
  const auto id = static_cast<TypesId>(lists_.size() - 1);
  by_hash_.emplace(hash, id);
  return id;
}

std::size_t Estimates::Hash::operator()(const Question& question) const noexcept {
  auto hash = static_cast<std::size_t>(question.op);
  mix(hash, question.step);
  mix(hash, question.first);
  mix(hash, question.second);
  return hash;
}

Estimate Estimates::once(const std::function<std::vector<TileType>(Estimate&)>& infer) {
  Estimate estimate;
  try {
    const std::vector<TileType> types = infer(estimate);
    estimate.types = types_.add(types);
  } catch (const InternalError&) {
    throw;
  } catch (const Interrupted&) {
    throw;
  } catch (const Error&) {
    estimate = {};  // it is told with its key when the task runs
  }
  return estimate;
}

}  // namespace tessera::exec
