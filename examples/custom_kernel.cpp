// A kernel of one's own: registered once, used by name in any plan.

#include <cmath>
#include <iostream>

#include "tessera/tessera.h"

using namespace tessera;

int main() {
  // [custom kernel]
  register_kernel({
      .name = "soft_threshold",
      .description = "shrinks every element towards zero by a fixed amount",
      .parameters = {{"by", 0.1, "how far"}},
      .properties = {.elementwise = true, .zero_preserving = true},
      .infer =
          [](Types types, const Params&) {
            return std::vector<TileType>{{DType::f64, types[0].shape}};
          },
      .implementations = {{.name = "loop",
                           .layouts = {LayoutPattern::dense},
                           .run =
                               [](Tiles tiles, const Params& params) {
                                 MutableTile out = MutableTile::copy_of(tiles[0].cast(DType::f64));
                                 for (std::int64_t i = 0; i < out.elements(); ++i) {
                                   double& x = out.data<double>()[i];
                                   x = std::copysign(
                                       std::fmax(std::fabs(x) - params.number("by"), 0), x);
                                 }
                                 return std::vector<Tile>{std::move(out).publish()};
                               }}},
  });
  // [custom kernel]

  const Relation r =
      Relation::from_tensor(Tile::of<double>({2, 3}, {-2, -0.05, 0, 0.05, 1, 2}), {1, 3});
  std::cout << Plan::input(r, "R").transform("soft_threshold(by=0.5)").run().to_tensor() << "\n";
  return 0;
}
