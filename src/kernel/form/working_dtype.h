#pragma once

#include "tile/dispatch.h"

namespace tessera {

/// The dtype an operation works in, from the one its operands have or promote to.
enum class WorkingDType {
  promoted,  // that one
  number,    // bool becomes i64
  floating,  // f32 stays, the others become f64
  boolean,   // bool: whether an operand is zero or not
};

inline DType working_dtype(WorkingDType rule, DType promoted) {
  switch (rule) {
    case WorkingDType::promoted: return promoted;
    case WorkingDType::number: return promoted == DType::boolean ? DType::i64 : promoted;
    case WorkingDType::floating: return float_of(promoted);
    case WorkingDType::boolean: return DType::boolean;
  }
  TESSERA_INVARIANT(false, "working dtype {}", static_cast<int>(rule));
}

}  // namespace tessera
