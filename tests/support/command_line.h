#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tessera {

/// An option of a test's program, as in "--seed 7", and where its value goes.
using ProgramOption =
    std::pair<std::string_view,
              std::variant<double*, std::uint64_t*, std::int64_t*, int*, std::string*>>;

/// Reads "--name value" pairs. If there is an option that is not known or a value that is none, it
/// prints which, and how the program is called, and the answer is no.
bool read_command_line(int count, char** arguments, const std::vector<ProgramOption>& options);

}  // namespace tessera
