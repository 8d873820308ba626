#pragma once

#include "kernel/form/index_form.h"
#include "support/random_tiles.h"

namespace tessera {

/// A form and arguments that it fits.
struct RandomForm {
  IndexForm form;
  std::vector<Tile> arguments;
};

/// Forms of all kinds of terms. Rounding does not decide anything: what is compared, counted or
/// converted to an integer is the same in whatever order sums are taken.
RandomForm random_form(Random& random);

}  // namespace tessera
