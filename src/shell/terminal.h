#pragma once

namespace tessera::shell {

bool is_terminal(int descriptor);
/// Columns of the terminal; 0 if it is none, or does not say.
int terminal_width(int descriptor);
/// Whether it is a terminal that shows colours, and nobody minds: NO_COLOR is not set.
bool shows_colours(int descriptor);

}  // namespace tessera::shell
