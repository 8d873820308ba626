#include <iostream>

#include "tessera/tessera.h"

int main() {
  const tessera::Tile x = tessera::Tile::of<double>({2, 2}, {1, 2, 3, 4});
  const auto a = tessera::Plan::input(tessera::Relation::from_tensor(x, {1, 1}), "A");
  const auto product = a.join(a, {1}, {0}, "matmul").aggregate({0, 2}, "add");
  std::cout << product.run().to_tensor() << "\n";
}
