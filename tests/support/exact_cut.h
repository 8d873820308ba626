#pragma once

#include <optional>

#include "optimizer/frames/cut.h"

namespace tessera {

/// The least expected breakers of any cut of up to 64 operators: an exhaustive search over the sets
/// of operators that can be executed first. `known` is what some cut achieves: what cannot become
/// better is left out. Nothing if more than `steps` sets would have to be tried.
std::optional<double> least_breakers(const frames::OperatorGraph& graph, frames::Limits limits,
                                     double known, std::int64_t steps = 20'000'000);

}  // namespace tessera
