#pragma once

#include <functional>
#include <map>

#include "calculus/array.h"

namespace tessera::calculus {

/// The same array with one argument less: where its elements are read stands what they are.
Definition with_inlined(const Definition& definition, int argument);

/// How many definitions read each one, of all that an array is made of.
std::map<const Definition*, int> uses_in(const Array& array);

/// Whether no part of it is sparse.
bool is_dense(const Array& array);

/// How many operations a form has, its folds among them; an element counts for none.
int operations_in(const Term& term);
bool has_fold(const Term& term);

}  // namespace tessera::calculus
