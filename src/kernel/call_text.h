#pragma once

#include <string>
#include <string_view>

#include "tessera/kernel.h"

namespace tessera {

/// A kernel call as text: `name` or `name(parameter=value, ...)`, a value being true, false, a
/// number, a list of integers in brackets, or a text in quotes.
struct CallText {
  std::string name;
  Params params;
};

CallText parse_call(std::string_view text);
std::string print_value(const ParamValue& value);

}  // namespace tessera
