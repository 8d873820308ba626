#pragma once

#include <vector>

#include "tessera/kernel.h"

namespace tessera {

// The built-in kernels, a family a file.
std::vector<Kernel> binary_kernels();         // elementwise_binary.cpp: add, mul, less, ...
std::vector<Kernel> scalar_kernels();         // elementwise_scalar.cpp: add_scalar, ...
std::vector<Kernel> unary_kernels();          // elementwise_unary.cpp: neg, exp, relu, ...
std::vector<Kernel> reduction_kernels();      // reduction.cpp: sum, max, argmin, ...
std::vector<Kernel> scan_kernels();           // scan.cpp: cumsum and cumprod
std::vector<Kernel> rearrangement_kernels();  // rearrangement.cpp: permute, concat, pad, ...
std::vector<Kernel> product_kernels();      // products.cpp: matmul, batched, outer, inner, sampled
std::vector<Kernel> contraction_kernels();  // contraction.cpp: einsum
std::vector<Kernel> convolution_kernels();  // convolution.cpp: conv
std::vector<Kernel> factorization_kernels();  // factorization.cpp: inverse, solve, qr, ...
std::vector<Kernel> layout_kernels();         // layout.cpp: compress
std::vector<Kernel> index_kernels();          // index_kernel.cpp: compute

}  // namespace tessera
