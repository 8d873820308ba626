#include <cmath>

#include "laws/case_maker.h"
#include "support/elements.h"

namespace tessera {
namespace {

Shape stack_of(CaseMaker& make, std::int64_t rows, std::int64_t columns) {
  Shape shape = make.random.chance(0.6) ? Shape() : random_shape(make.random, 0, 3, 4);
  shape.push_back(rows);
  shape.push_back(columns);
  return shape;
}

std::int64_t order(CaseMaker& make) { return make.extent(make.budget > 100 ? 12 : 5); }

Recipe plain_numbers(CaseMaker& make) {
  return {make.random.chance(0.5) ? Values::small_integers : Values::fractions,
          Layouts::contiguous};
}

/// A tile like it, in a random layout. Densities are those of the elements.
Tile relaid(CaseMaker& make, const Tile& tile) {
  const double layout = make.random.uniform(0, 1);
  if (layout < 0.4 || tile.rank() == 0) return tile;
  if (layout < 0.7 || make.recipe().layouts != Layouts::any) return random_view(make.random, tile);
  return tile.with_sparse_dims(static_cast<int>(make.random.between(1, tile.rank())));
}

/// Random square matrices whose diagonals outweigh the rest, as they must to be well-conditioned;
/// among bools there are no weights, and the rest is false. `defect` clears a row of the first one:
/// it has no inverse and is not positive definite.
Tile dominated_by_diagonal(CaseMaker& make, const Shape& shape, bool positive, bool defect) {
  Elements a(make.tile(shape, plain_numbers(make)));
  const std::int64_t n = shape.back();
  const bool boolean = a.dtype == DType::boolean;
  for (std::int64_t first = 0; first < a.size(); first += n * n)
    for (std::int64_t i = 0; i < n; ++i) {
      double weight = 1;
      for (std::int64_t j = 0; j < n; ++j) {
        if (boolean && j != i) a.set_integer(first + i * n + j, 0);
        if (j != i)
          weight +=
              2 * std::abs(a.reals[first + i * n + j]) + 2 * std::abs(a.reals[first + j * n + i]);
      }
      const bool negative = !positive && make.random.chance(0.5) && !boolean;
      const double diagonal = std::ceil(negative ? -weight : weight);
      a.set_integer(first + i * n + i, static_cast<std::int64_t>(diagonal));
      a.set_real(first + i * n + i, diagonal);
    }
  if (defect && a.size() > 0)
    for (std::int64_t j = 0; j < n; ++j) {
      a.set_integer(j, 0);
      a.set_real(j, 0);
    }
  return to_tile(a);
}

KernelCase square(CaseMaker& make, bool positive) {
  const std::int64_t n = order(make);
  const bool defect = make.misfit();
  const Shape shape = make.misfit() ? make.shape() : stack_of(make, n, n);
  const bool is_square = shape.rank() >= 2 && shape[shape.size() - 2] == shape.back();
  const Tile a = is_square ? dominated_by_diagonal(make, shape, positive, defect)
                           : make.tile(shape, plain_numbers(make));
  return make.made({relaid(make, a)});
}

KernelCase inverse(CaseMaker& make) { return square(make, false); }
KernelCase cholesky(CaseMaker& make) { return square(make, true); }

KernelCase solve(CaseMaker& make) {
  const std::int64_t n = order(make);
  const Shape lead = make.random.chance(0.6) ? Shape() : random_shape(make.random, 0, 3, 4);
  const auto shape = [&](std::int64_t columns) {
    Shape result = make.random.chance(0.5) ? lead : random_narrowing(make.random, lead);
    result.push_back(n);
    result.push_back(columns);
    return result;
  };
  const bool defect = make.misfit();
  Tile a = dominated_by_diagonal(make, shape(n), false, defect);
  const Shape sides = make.random.chance(0.3) ? Shape{n} : shape(make.extent(4));
  Tile b = make.tile(make.misfit() ? make.shape() : sides, plain_numbers(make));
  return make.made({relaid(make, a), relaid(make, b)});
}

/// Any matrices, rarely with what is not a number.
KernelCase any_matrices(CaseMaker& make, bool is_square, Values values) {
  const std::int64_t rows = order(make);
  const Shape shape = stack_of(make, rows, is_square ? rows : order(make));
  Recipe recipe = plain_numbers(make);
  if (make.misfit()) recipe.values = values;
  return make.made({relaid(make, make.tile(make.misfit() ? make.shape() : shape, recipe))});
}

KernelCase qr(CaseMaker& make) { return any_matrices(make, false, Values::fractions); }
KernelCase svd(CaseMaker& make) { return any_matrices(make, false, Values::peculiar); }
KernelCase eigh(CaseMaker& make) { return any_matrices(make, true, Values::peculiar); }

}  // namespace

Generators factorization_generators() {
  return {{"inverse", inverse}, {"solve", solve}, {"cholesky", cholesky},
          {"qr", qr},           {"svd", svd},     {"eigh", eigh}};
}

}  // namespace tessera
