#pragma once

#include "exec/graph_builder.h"
#include "exec/tuples.h"

namespace tessera::exec {

/// Brings every tuple, or every summand of one, to the sites where it is to be: those that are
/// there already stay as they are, the others are transferred.
Tuples moved(GraphBuilder& builder, int op, const ia::Plan& input, const Tuples& tuples,
             const Placement& to);

}  // namespace tessera::exec
