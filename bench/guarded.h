#pragma once

#include <fmt/format.h>

#include <exception>
#include <string>
#include <vector>

namespace tessera::bench {

/// Runs a program whose errors are told on a line of their own: then it ends with 2.
template <class Body>
int guarded(int argc, char** argv, Body&& body) {
  try {
    return body(std::vector<std::string>(argv + 1, argv + argc));
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
}

}  // namespace tessera::bench
