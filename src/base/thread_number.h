#pragma once

namespace tessera {

/// A small number for the thread that asks, for as long as it lives: the least that no other thread
/// has. So numbers stay small, however many threads come and go.
int thread_number();

}  // namespace tessera
