#pragma once

#include <mpi.h>

#include <stdexcept>
#include <string>

namespace tessera::mpi {

/// std::runtime_error if a call of MPI has failed.
inline void check(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw std::runtime_error(std::string(what) + ": " + std::string(text, length));
}

}  // namespace tessera::mpi
