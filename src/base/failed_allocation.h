#pragma once

#include <new>
#include <stdexcept>
#include <system_error>

#include "tessera/error.h"

namespace tessera {

/// What a library of C has allocated: bad_alloc if it had no memory to.
template <class T>
T* allocated(T* made) {
  if (made == nullptr) throw std::bad_alloc();
  return made;
}

/// Does something in which an allocation may fail, whoever makes it and in whatever thread: that is
/// told as OutOfMemory, as a user expects of a statement.
template <class Body>
auto telling_failed_allocations(const Body& body) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    throw OutOfMemory("the system is out of memory: lower memory_limit, or compute less at once");
  } catch (const std::length_error&) {
    throw OutOfMemory(
        "the result has more elements than fit into any memory: compute less at once");
  } catch (const std::system_error& error) {
    if (error.code() != std::errc::resource_unavailable_try_again &&
        error.code() != std::errc::not_enough_memory)
      throw;
    throw OutOfMemory(
        "the system has no memory for another thread: lower memory_limit or threads, or compute "
        "less at once");
  }
}

}  // namespace tessera
