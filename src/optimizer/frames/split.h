#pragma once

#include <optional>

#include "optimizer/frames/orders.h"

namespace tessera::frames {

/// Of all cuts of an order into consecutive pieces whose weights are within the limits, one with
/// the least expected breakers; nothing if there is none, as may be with operators that stand for
/// several. Takes time O((n + edges) log max_size).
std::optional<Cut> split(const OperatorGraph& graph, const Order& order, Limits limits);

}  // namespace tessera::frames
