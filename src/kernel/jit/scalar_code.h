#pragma once

#include <llvm/IR/IRBuilder.h>

#include "kernel/form/term.h"

namespace tessera::jit {

/// Instructions for what the interpreter does with numbers. In registers a boolean is an i1, in
/// memory a byte.
class ScalarCode {
 public:
  explicit ScalarCode(llvm::IRBuilder<>& builder) : b_(builder) {}

  llvm::Type* type(DType dtype) const;
  llvm::Type* type_in_memory(DType dtype) const;
  llvm::Value* load(DType dtype, llvm::Value* address) const;
  void store(DType dtype, llvm::Value* value, llvm::Value* address) const;

  llvm::Value* constant(const Scalar& value) const;
  llvm::Value* integer(std::int64_t value) const { return b_.getInt64(value); }
  /// As tile/convert.h does.
  llvm::Value* convert(llvm::Value* value, DType from, DType to) const;

  /// Arguments of the function's working dtype. The exponent of an integer power is a constant.
  llvm::Value* apply(std::string_view function, DType working,
                     const std::vector<llvm::Value*>& arguments) const;
  /// A state of a fold and one more value. Sums and products may be taken in any order.
  llvm::Value* combine(Monoid monoid, DType dtype, llvm::Value* state, llvm::Value* value) const;
  /// Whether a value replaces the best one.
  llvm::Value* is_better(Monoid monoid, DType dtype, llvm::Value* value, llvm::Value* best) const;

 private:
  llvm::Value* is_nan(llvm::Value* value) const { return b_.CreateFCmpUNO(value, value); }
  llvm::Value* of_booleans(std::string_view function, llvm::Value* a, llvm::Value* b) const;
  llvm::Value* of_integers(std::string_view function, llvm::Value* a, llvm::Value* b) const;
  llvm::Value* of_floats(std::string_view function, llvm::Value* a, llvm::Value* b) const;
  llvm::Value* remainder(llvm::Value* a, llvm::Value* b) const;
  llvm::Value* power(llvm::Value* base, llvm::Value* exponent) const;

  llvm::IRBuilder<>& b_;
};

/// Functions of floats, in instructions that loops have vector forms of: an element is the same in
/// a vector and by itself. The error is at most about one unit in the last place.
llvm::Value* exp_code(llvm::IRBuilder<>& builder, llvm::Value* x);
llvm::Value* log_code(llvm::IRBuilder<>& builder, llvm::Value* x);
llvm::Value* tanh_code(llvm::IRBuilder<>& builder, llvm::Value* x);
llvm::Value* sigmoid_code(llvm::IRBuilder<>& builder, llvm::Value* x);

}  // namespace tessera::jit
