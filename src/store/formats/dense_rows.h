#pragma once

#include <functional>

#include "store/formats/format.h"

// Stored tensors as the writers of matrices want them: whole rows, or whole columns.

namespace tessera::store {

/// The one tensor of a format that holds but one. TypeError otherwise.
TensorReader& only_tensor(const std::vector<TensorReader*>& tensors, const std::string& format);
/// The shape of a tensor that is to be written. TypeError if it is a relation but no tensor.
const Shape& tensor_shape(const TensorReader& tensor, const std::string& format);
/// The shape of a matrix, or of a vector as one column. TypeError if it is neither.
Shape matrix_shape(const TensorReader& tensor, const std::string& format);
/// TypeError if the extents of tiles that a user gave are not those of a matrix.
void check_matrix_tile(const Shape& tile, const std::string& file);

/// The matrix or vector in dense, contiguous slabs of whole rows (`axis` 0) or, transposed, of
/// whole columns (1), in order. A slab takes a part of the memory; tiles that are larger are read
/// more than once.
void for_each_slab(const TensorReader& tensor, int axis, std::int64_t memory,
                   const std::function<void(const Tile&)>& slab);

/// The keys of tensor's tiles that are there, in lists of those with the same first component.
std::vector<std::vector<Key>> rows_of_keys(const TensorReader& tensor);

}  // namespace tessera::store
