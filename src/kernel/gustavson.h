#pragma once

#include "kernel/sparse_products.h"
#include "tessera/tile.h"

namespace tessera {

/// a b as compressed rows, by Gustavson's algorithm: row i of the product is the sum of the rows k
/// of b, each times a[i,k], for the entries k that row i of a stores. Sums that come out as an
/// exact zero are not stored. `type` is the type of the product, whose rows are its dense indices.
template <class W>
Tile gustavson(const SparseMatrix<W>& a, const SparseMatrix<W>& b, const TileType& type);

/// c = a b or c += a b with a dense row-major c.
template <class W>
void gustavson_dense(const SparseMatrix<W>& a, const SparseMatrix<W>& b, W* c, Update update);

}  // namespace tessera
