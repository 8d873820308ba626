#pragma once

#include <string>
#include <vector>

#include "optimizer/frames/cut.h"

namespace tessera {

/// What is wrong with a cut, by plain loops over the definition; empty if nothing is.
std::string fault_of(const frames::Cut& cut, const frames::OperatorGraph& graph,
                     frames::Limits limits);

/// Pieces of `limits.max_size` in the order of the operators' numbers.
frames::Cut cut_by_number(const frames::OperatorGraph& graph, frames::Limits limits);

/// The heuristic of section 4.2: the operators of one outer index are a frame. Where one is too
/// large it is cut into equal pieces; where it is too small it is joined with the next ones, either
/// until it is large enough or for as long as they fit, whichever comes out better.
frames::Cut cut_by_outer_index(const frames::OperatorGraph& graph,
                               const std::vector<std::int32_t>& outer_index, frames::Limits limits);

/// METIS's parts, which mind neither order nor the least size, made into frames: operators are put
/// into an order that stays in a part for as long as it can, and that order is split in the best
/// way. The best of a few numbers of parts.
frames::Cut cut_by_metis(const frames::OperatorGraph& graph, frames::Limits limits);

}  // namespace tessera
