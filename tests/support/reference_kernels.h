#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "support/elements.h"
#include "tessera/kernel.h"

namespace tessera {

// Every built-in kernel once more, as plain loops over indices: no BLAS, no blocking, no sparse
// storage. They are the law that the kernels are held to.

using Arguments = std::vector<Elements>;

/// What is wrong with the outputs of a kernel; nothing if the text is empty.
using Judge = std::function<std::string(const std::vector<Elements>& outputs)>;

/// What a kernel must make of its arguments. Throws TypeError or ValueError where it must.
using Reference = std::function<Judge(const Arguments& arguments, const Params& params)>;

/// An output, and by how much each of its elements may be off. No tolerances: not at all. A
/// tolerance of infinity: the element may be any number.
struct Expected {
  Elements values;
  std::vector<double> tolerances = {};
};
Judge equals(std::vector<Expected> expected);
Judge equals(Expected output);

/// The distance from 1 to the next number of a float dtype; 0 for the others.
double epsilon_of(DType dtype);

/// By the name of the kernel.
using References = std::map<std::string, Reference>;
References elementwise_references();
References reduction_references();
References rearrangement_references();
References product_references();
References contraction_references();
References convolution_references();
References factorization_references();
const References& all_references();

/// An axis from 0 to rank-1; negative ones count from the end. TypeError if it is out of range.
int plain_axis(std::int64_t axis, int rank);

}  // namespace tessera
