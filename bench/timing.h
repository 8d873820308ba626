#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace tessera::bench {

inline double seconds_of(const std::function<void()>& body) {
  const auto begin = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

inline double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

/// Median seconds of both, measured in turns so that a noisy moment of the machine hits both; who
/// goes first alternates as well.
struct Comparison {
  double ours = 0;
  double peer = 0;
};
inline Comparison compare(int repetitions, const std::function<void()>& ours,
                          const std::function<void()>& peer) {
  ours();
  peer();
  std::vector<double> a;
  std::vector<double> b;
  for (int i = 0; i < repetitions; ++i) {
    if (i % 2 == 0) a.push_back(seconds_of(ours));
    b.push_back(seconds_of(peer));
    if (i % 2 != 0) a.push_back(seconds_of(ours));
  }
  return {median(a), median(b)};
}

/// One line of JSON: what bench/run.py reads. `ratio` is what `bar` bounds.
inline void report(const std::string& name, const std::string& peer, const Comparison& seconds,
                   double ratio, const std::string& bar) {
  fmt::print(
      "{{\"name\": \"{}\", \"peer\": \"{}\", \"ours_ms\": {:.4f}, \"peer_ms\": {:.4f}, "
      "\"ratio\": {:.4f}, \"bar\": \"{}\"}}\n",
      name, peer, seconds.ours * 1e3, seconds.peer * 1e3, ratio, bar);
}

}  // namespace tessera::bench
