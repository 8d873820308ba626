#include "kernel/jit/scalar_code.h"

#include "base/check.h"

namespace tessera::jit {

using llvm::Value;
using ID = llvm::Intrinsic::ID;

llvm::Type* ScalarCode::type(DType dtype) const {
  switch (dtype) {
    case DType::f32: return b_.getFloatTy();
    case DType::f64: return b_.getDoubleTy();
    case DType::i64: return b_.getInt64Ty();
    case DType::boolean: return b_.getInt1Ty();
  }
  TESSERA_INVARIANT(false, "dtype {}", static_cast<int>(dtype));
}

llvm::Type* ScalarCode::type_in_memory(DType dtype) const {
  return dtype == DType::boolean ? b_.getInt8Ty() : type(dtype);
}

Value* ScalarCode::load(DType dtype, Value* address) const {
  Value* value = b_.CreateLoad(type_in_memory(dtype), address);
  return dtype == DType::boolean ? b_.CreateICmpNE(value, b_.getInt8(0)) : value;
}

void ScalarCode::store(DType dtype, Value* value, Value* address) const {
  b_.CreateStore(dtype == DType::boolean ? b_.CreateZExt(value, b_.getInt8Ty()) : value, address);
}

Value* ScalarCode::constant(const Scalar& value) const {
  switch (value.dtype()) {
    case DType::f32:
    case DType::f64: return llvm::ConstantFP::get(type(value.dtype()), value.as<double>());
    case DType::i64: return integer(value.as<std::int64_t>());
    case DType::boolean: return b_.getInt1(value.as<bool>());
  }
  TESSERA_INVARIANT(false, "dtype {}", static_cast<int>(value.dtype()));
}

Value* ScalarCode::convert(Value* value, DType from, DType to) const {
  if (from == to) return value;
  llvm::Type* wanted = type(to);
  const bool from_float = from == DType::f32 || from == DType::f64;
  if (to == DType::boolean)
    return from_float ? b_.CreateFCmpUNE(value, llvm::ConstantFP::get(value->getType(), 0))
                      : b_.CreateICmpNE(value, integer(0));
  if (to == DType::i64) {
    if (!from_float) return b_.CreateZExt(value, wanted);
    Value* limit = llvm::ConstantFP::get(value->getType(), 9223372036854775808.0);
    Value* fits =
        b_.CreateAnd(b_.CreateFCmpOGE(value, b_.CreateFNeg(limit)), b_.CreateFCmpOLT(value, limit));
    return b_.CreateSelect(fits, b_.CreateFPToSI(value, wanted),
                           integer(std::numeric_limits<std::int64_t>::min()));
  }
  if (from_float)
    return to == DType::f64 ? b_.CreateFPExt(value, wanted) : b_.CreateFPTrunc(value, wanted);
  return from == DType::boolean ? b_.CreateUIToFP(value, wanted) : b_.CreateSIToFP(value, wanted);
}

Value* ScalarCode::apply(std::string_view name, DType working,
                         const std::vector<Value*>& arguments) const {
  Value* a = arguments[0];
  Value* b = arguments.size() > 1 ? arguments[1] : nullptr;
  Value* made = nullptr;
  switch (working) {
    case DType::boolean: made = of_booleans(name, a, b); break;
    case DType::i64: made = of_integers(name, a, b); break;
    case DType::f32:
    case DType::f64: made = of_floats(name, a, b); break;
  }
  TESSERA_INVARIANT(made != nullptr, "function {} of {}", name, to_string(working));
  return made;
}

Value* ScalarCode::of_booleans(std::string_view name, Value* a, Value* b) const {
  if (name == "add" || name == "logical_or" || name == "maximum") return b_.CreateOr(a, b);
  if (name == "mul" || name == "logical_and" || name == "minimum") return b_.CreateAnd(a, b);
  if (name == "logical_not") return b_.CreateNot(a);
  if (name == "equal") return b_.CreateICmpEQ(a, b);
  if (name == "not_equal") return b_.CreateICmpNE(a, b);
  if (name == "less") return b_.CreateICmpULT(a, b);
  if (name == "less_equal") return b_.CreateICmpULE(a, b);
  if (name == "greater") return b_.CreateICmpUGT(a, b);
  if (name == "greater_equal") return b_.CreateICmpUGE(a, b);
  if (name == "abs" || name == "relu" || name == "relu_deriv") return a;
  return nullptr;
}

Value* ScalarCode::of_integers(std::string_view name, Value* a, Value* b) const {
  Value* zero = integer(0);
  if (name == "add") return b_.CreateAdd(a, b);
  if (name == "sub") return b_.CreateSub(a, b);
  if (name == "mul") return b_.CreateMul(a, b);
  if (name == "minimum") return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, a, b);
  if (name == "maximum") return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, a, b);
  if (name == "equal") return b_.CreateICmpEQ(a, b);
  if (name == "not_equal") return b_.CreateICmpNE(a, b);
  if (name == "less") return b_.CreateICmpSLT(a, b);
  if (name == "less_equal") return b_.CreateICmpSLE(a, b);
  if (name == "greater") return b_.CreateICmpSGT(a, b);
  if (name == "greater_equal") return b_.CreateICmpSGE(a, b);
  if (name == "neg") return b_.CreateNeg(a);
  if (name == "square") return b_.CreateMul(a, a);
  if (name == "abs") return b_.CreateSelect(b_.CreateICmpSLT(a, zero), b_.CreateNeg(a), a);
  if (name == "relu") return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, a, zero);
  if (name == "relu_deriv") return b_.CreateZExt(b_.CreateICmpSGT(a, zero), b_.getInt64Ty());
  if (name == "remainder") return remainder(a, b);
  if (name == "power") return power(a, b);
  if (name == "floor_divide") {
    Value* minus_one = integer(-1);
    Value* by_zero = b_.CreateICmpEQ(b, zero);
    Value* by_minus_one = b_.CreateICmpEQ(b, minus_one);
    Value* divisor = b_.CreateSelect(b_.CreateOr(by_zero, by_minus_one), integer(1), b);
    Value* quotient = b_.CreateSDiv(b_.CreateSub(a, remainder(a, divisor)), divisor);
    return b_.CreateSelect(by_zero, zero, b_.CreateSelect(by_minus_one, b_.CreateNeg(a), quotient));
  }
  return nullptr;
}

Value* ScalarCode::remainder(Value* a, Value* b) const {
  Value* zero = integer(0);
  Value* trivial = b_.CreateOr(b_.CreateICmpEQ(b, zero), b_.CreateICmpEQ(b, integer(-1)));
  Value* divisor = b_.CreateSelect(trivial, integer(1), b);  // the remainder is 0, as wanted
  Value* rest = b_.CreateSRem(a, divisor);
  Value* other_sign = b_.CreateICmpSLT(b_.CreateXor(rest, divisor), zero);
  Value* moved = b_.CreateAnd(b_.CreateICmpNE(rest, zero), other_sign);
  return b_.CreateSelect(moved, b_.CreateAdd(rest, divisor), rest);
}

Value* ScalarCode::power(Value* base, Value* exponent) const {
  Value* result = integer(1);
  for (auto bits = llvm::cast<llvm::ConstantInt>(exponent)->getZExtValue(); bits != 0;
       bits >>= 1U) {
    if ((bits & 1U) != 0) result = b_.CreateMul(result, base);
    base = b_.CreateMul(base, base);
  }
  return result;
}

Value* ScalarCode::of_floats(std::string_view name, Value* a, Value* b) const {
  llvm::Type* type = a->getType();
  Value* zero = llvm::ConstantFP::get(type, 0);
  Value* one = llvm::ConstantFP::get(type, 1);
  if (name == "add") return b_.CreateFAdd(a, b);
  if (name == "sub") return b_.CreateFSub(a, b);
  if (name == "mul") return b_.CreateFMul(a, b);
  if (name == "div") return b_.CreateFDiv(a, b);
  if (name == "equal") return b_.CreateFCmpOEQ(a, b);
  if (name == "not_equal") return b_.CreateFCmpUNE(a, b);
  if (name == "less") return b_.CreateFCmpOLT(a, b);
  if (name == "less_equal") return b_.CreateFCmpOLE(a, b);
  if (name == "greater") return b_.CreateFCmpOGT(a, b);
  if (name == "greater_equal") return b_.CreateFCmpOGE(a, b);
  if (name == "minimum" || name == "maximum") {
    Value* first = name == "minimum" ? b_.CreateFCmpOLT(a, b) : b_.CreateFCmpOGT(a, b);
    return b_.CreateSelect(b_.CreateOr(first, is_nan(a)), a, b);
  }
  if (name == "neg") return b_.CreateFNeg(a);
  if (name == "abs") return b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, a);
  if (name == "square") return b_.CreateFMul(a, a);
  if (name == "relu") return b_.CreateSelect(b_.CreateFCmpUGT(a, zero), a, zero);
  if (name == "relu_deriv") return b_.CreateSelect(b_.CreateFCmpOGT(a, zero), one, zero);
  if (name == "sqrt") return b_.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, a);
  if (name == "exp") return exp_code(b_, a);
  if (name == "log") return log_code(b_, a);
  if (name == "tanh") return tanh_code(b_, a);
  if (name == "sigmoid") return sigmoid_code(b_, a);
  const auto remainder_of = [&] {
    Value* rest = b_.CreateFRem(a, b);
    Value* other_sign = b_.CreateICmpNE(b_.CreateFCmpOLT(rest, zero), b_.CreateFCmpOLT(b, zero));
    return b_.CreateSelect(b_.CreateFCmpOEQ(rest, zero),
                           b_.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, rest, b),
                           b_.CreateSelect(other_sign, b_.CreateFAdd(rest, b), rest));
  };
  if (name == "remainder") return remainder_of();
  if (name == "floor_divide") {
    Value* ratio = b_.CreateFDiv(b_.CreateFSub(a, remainder_of()), b);
    Value* whole = b_.CreateUnaryIntrinsic(llvm::Intrinsic::floor, ratio);
    Value* up = b_.CreateFCmpOGT(b_.CreateFSub(ratio, whole), llvm::ConstantFP::get(type, 0.5));
    return b_.CreateSelect(up, b_.CreateFAdd(whole, one), whole);
  }
  if (name == "power") {
    if (const auto* known = llvm::dyn_cast<llvm::ConstantFP>(b)) {
      if (known->isExactlyValue(1)) return a;
      if (known->isExactlyValue(2)) return b_.CreateFMul(a, a);
      if (known->isExactlyValue(3)) return b_.CreateFMul(b_.CreateFMul(a, a), a);
    }
    return b_.CreateBinaryIntrinsic(llvm::Intrinsic::pow, a, b);
  }
  return nullptr;
}

Value* ScalarCode::combine(Monoid monoid, DType dtype, Value* state, Value* value) const {
  const bool floats = dtype == DType::f32 || dtype == DType::f64;
  const bool adds = monoid == Monoid::sum || monoid == Monoid::product;
  if (!floats) return apply(combination_of(monoid), dtype, {state, value});
  if (!adds) {
    // NaN wins, as in the selection that the interpreter makes.
    auto* best = llvm::cast<llvm::Instruction>(b_.CreateBinaryIntrinsic(
        monoid == Monoid::min ? llvm::Intrinsic::minimum : llvm::Intrinsic::maximum, state, value));
    best->setHasNoSignedZeros(true);
    return best;
  }
  Value* sum = monoid == Monoid::sum ? b_.CreateFAdd(state, value) : b_.CreateFMul(state, value);
  if (auto* instruction = llvm::dyn_cast<llvm::Instruction>(sum)) {
    instruction->setHasAllowReassoc(true);
    auto* product = llvm::dyn_cast<llvm::Instruction>(value);
    if (product != nullptr && product->getOpcode() == llvm::Instruction::FMul &&
        monoid == Monoid::sum) {
      instruction->setHasAllowContract(true);
      product->setHasAllowContract(true);
    }
  }
  return sum;
}

Value* ScalarCode::is_better(Monoid monoid, DType dtype, Value* value, Value* best) const {
  const char* compared = monoid == Monoid::argmin ? "less" : "greater";
  Value* better = apply(compared, dtype, {value, best});
  if (dtype == DType::i64 || dtype == DType::boolean) return better;
  return b_.CreateAnd(b_.CreateNot(is_nan(best)), b_.CreateOr(is_nan(value), better));
}

}  // namespace tessera::jit
