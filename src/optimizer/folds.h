#pragma once

#include <unordered_map>

#include "tessera/ia.h"

namespace tessera::optimizer {

/// How often the aggregations of plans fold one tile into another, over all sites.
class Folds {
 public:
  struct Counted {
    double folds = 0;   // that are work of their own
    double groups = 0;  // tuples of the result
  };
  /// Of an aggregation that works on `tuples` tuples. Aggregations come in the order of in_order.
  Counted of(const ia::Plan& plan, double tuples);

 private:
  std::unordered_map<const ia::Plan::Node*, double> summands_;  // of partial results
};

}  // namespace tessera::optimizer
