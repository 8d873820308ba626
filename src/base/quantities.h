#pragma once

#include <string>

namespace tessera {

/// Numbers as people read them in tables.
std::string sum_text(double value);        // "0", "1000", "1.28e+14"
std::string quantity_text(double value);   // the same, but "-" for none
std::string seconds_text(double seconds);  // "0.0192 us", "819 ms", "3.25 s"

}  // namespace tessera
