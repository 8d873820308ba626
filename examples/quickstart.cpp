// A short tour: store a tensor as a relation of tiles, query it with the tensor relational
// algebra, read the plan, and see what happens to a plan that breaks an integrity constraint.

#include <iostream>

#include "tessera/tessera.h"

using namespace tessera;

namespace {

void say(const std::string& text) { std::cout << "\n-- " << text << "\n"; }

}  // namespace

int main() {
  say("A 4x6 matrix, stored as a relation of 2x2 tiles:");
  std::vector<double> numbers(24);
  for (int i = 0; i < 24; ++i) numbers[i] = i + 1;
  const Relation a = Relation::from_tensor(Tile::of({4, 6}, numbers), {2, 2});
  std::cout << a << "\n";

  say("A times its transpose: join the tiles that share a column of tiles, multiply each pair,\n"
      "   and add up the products. This is the plan, with what each operator yields:");
  const Plan in = Plan::input(a, "A");
  const Plan product = in.join(in, {1}, {1}, "matmul(transpose_b=true)").aggregate({0, 2}, "add");
  std::cout << product.explain();

  say("and this is its result, as one tensor:");
  std::cout << product.run().to_tensor() << "\n";

  say("The same from a sparse matrix: tiles without nonzeros are not stored, missing is zero.");
  const Tile sparse_matrix = random_sparse({DType::f64, {1000, 1000}, 1}, /*seed=*/1, 0.00001);
  const Relation s = Relation::from_tensor(sparse_matrix, {100, 100}, Presence::sparse);
  const Plan gram = Plan::input(s, "S")
                        .join(Plan::input(s, "S"), {0}, {0}, "matmul(transpose_a=true)")
                        .aggregate({1, 2}, "add");
  std::cout << gram.explain();
  std::cout << "stored tiles of the result: " << gram.run().size() << " of 100\n";

  say("Keys are integer expressions, so collisions and holes are found before anything runs:");
  try {
    in.rekey("<i, j> -> <i + j>").run();
  } catch (const PlanError& error) {
    std::cout << "PlanError: " << error.what() << "\n";
  }
  return 0;
}
