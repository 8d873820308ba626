#pragma once

#include <cstdint>
#include <functional>

namespace tessera {

/// How many threads a user asks for: 0 means one a core that this process may use.
int thread_count(int asked);

/// Does `work(0)` to `work(count - 1)`, begun in this order, by so many threads, of which the
/// caller's is one. After an exception nothing more is begun, and it is thrown again here.
void do_in_parallel(std::int64_t count, int threads, const std::function<void(std::int64_t)>& work);

}  // namespace tessera
