#include <array>

#include "kernel/jit/scalar_code.h"

// exp, log and tanh by range reduction and polynomials, as in fdlibm.

namespace tessera::jit {
namespace {

using llvm::Value;

/// What differs between f32 and f64.
struct Format {
  int digits;  // of the fraction
  int bias;
  double shifter;  // 1.5 * 2^digits: a sum with it is rounded to a whole number
  double ln2_high, ln2_low;
  double least_exponential, greatest_exponential;  // beyond, exp is 0 or infinite
  int terms;                                       // of the series of exp
};
constexpr Format f64_format{
    52,  1023, 6755399441055744.0, 6.93147180369123816490e-01, 1.90821492927058770002e-10, -746,
    710, 13};
constexpr Format f32_format{23, 127, 12582912.0, 0.693359375, -2.12194440e-4, -104, 89, 7};

/// Arithmetic with constants of the type of one value.
class Floats {
 public:
  Floats(llvm::IRBuilder<>& builder, llvm::Type* type)
      : b(builder),
        type_(type),
        bits_(type->isDoubleTy() ? builder.getInt64Ty() : builder.getInt32Ty()),
        format(type->isDoubleTy() ? f64_format : f32_format) {}

  Value* of(double value) const { return llvm::ConstantFP::get(type_, value); }
  Value* whole(std::int64_t value) const { return llvm::ConstantInt::getSigned(bits_, value); }
  /// a * b + c, rounded once where the machine can.
  Value* fma(Value* x, Value* y, Value* z) const {
    return b.CreateIntrinsic(llvm::Intrinsic::fmuladd, {type_}, {x, y, z});
  }
  Value* abs(Value* x) const { return b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x); }
  Value* bits_of(Value* x) const { return b.CreateBitCast(x, bits_); }
  Value* from_bits(Value* x) const { return b.CreateBitCast(x, type_); }
  /// The nearest whole number, and in the low bits of `shifted` the same as an integer.
  Value* rounded(Value* x, Value*& shifted) const {
    shifted = b.CreateFAdd(x, of(format.shifter));
    return b.CreateFSub(shifted, of(format.shifter));
  }
  /// 2^n, n in the low bits of a shifted number, for normal results.
  Value* power_of_2(Value* shifted) const {
    return from_bits(
        b.CreateShl(b.CreateAdd(bits_of(shifted), whole(format.bias)), whole(format.digits)));
  }

  llvm::IRBuilder<>& b;

 private:
  llvm::Type* type_;
  llvm::Type* bits_;

 public:
  const Format format;
};

/// x = n ln2 + r with |r| at most ln2 / 2, and (e^r - 1) of that r.
struct Reduced {
  Value* n;
  Value* shifted;
  Value* expm1;
};
Reduced reduce(const Floats& f, Value* x) {
  Reduced reduced{};
  Value* ratio = f.b.CreateFMul(x, f.of(1.44269504088896340736));
  reduced.n = f.rounded(ratio, reduced.shifted);
  Value* minus_n = f.b.CreateFNeg(reduced.n);
  Value* r = f.fma(minus_n, f.of(f.format.ln2_high), x);
  r = f.fma(minus_n, f.of(f.format.ln2_low), r);
  // r + r^2 (1/2! + r/3! + ...), its last digits by the first two terms.
  double factorial = 1;
  std::vector<double> inverse;
  for (int k = 1; k <= f.format.terms; ++k) inverse.push_back(1 / (factorial *= k));
  Value* series = f.of(inverse.back());
  for (int k = f.format.terms - 1; k >= 2; --k)
    series = f.fma(series, r, f.of(inverse[static_cast<std::size_t>(k) - 1]));
  reduced.expm1 = f.fma(f.b.CreateFMul(r, r), series, r);
  return reduced;
}

}  // namespace

Value* exp_code(llvm::IRBuilder<>& b, Value* x) {
  const Floats f(b, x->getType());
  // Beyond these, the result is the same; NaN stays.
  Value* low = f.of(f.format.least_exponential);
  Value* high = f.of(f.format.greatest_exponential);
  x = b.CreateSelect(b.CreateFCmpOLT(x, low), low, x);
  x = b.CreateSelect(b.CreateFCmpOGT(x, high), high, x);
  const Reduced reduced = reduce(f, x);
  Value* power = b.CreateFAdd(reduced.expm1, f.of(1));
  // 2^n in two factors, as the result may be denormal.
  Value* half_shifted = nullptr;
  Value* half = f.rounded(b.CreateFMul(reduced.n, f.of(0.5)), half_shifted);
  Value* rest_shifted = b.CreateFAdd(b.CreateFSub(reduced.n, half), f.of(f.format.shifter));
  return b.CreateFMul(b.CreateFMul(power, f.power_of_2(half_shifted)), f.power_of_2(rest_shifted));
}

Value* log_code(llvm::IRBuilder<>& b, Value* x) {
  const Floats f(b, x->getType());
  const bool is_double = x->getType()->isDoubleTy();
  // Denormal numbers become normal ones.
  Value* is_tiny = b.CreateFCmpOLT(x, f.of(is_double ? 0x1p-1022 : 0x1p-126));
  const int raised = is_double ? 54 : 25;
  Value* normal = b.CreateSelect(is_tiny, b.CreateFMul(x, f.of(std::exp2(raised))), x);
  // normal = 2^k m, with m from sqrt(1/2) to sqrt(2)
  Value* bits = f.bits_of(normal);
  Value* offset = f.whole(is_double ? 0x3fe6a09e667f3bcd : 0x3f3504f3);  // sqrt(1/2)
  Value* from_root = b.CreateSub(bits, offset);
  Value* k_bits = b.CreateAShr(from_root, f.whole(f.format.digits));
  Value* m = f.from_bits(b.CreateSub(bits, b.CreateShl(k_bits, f.whole(f.format.digits))));
  // As a float: k and the shifter have their digits at the same places.
  Value* shifter_bits = f.bits_of(f.of(f.format.shifter));
  Value* k = b.CreateFSub(f.from_bits(b.CreateAdd(k_bits, shifter_bits)), f.of(f.format.shifter));
  k = b.CreateFSub(k, b.CreateSelect(is_tiny, f.of(raised), f.of(0)));
  // log(1 + y) by s = y / (2 + y)
  Value* y = b.CreateFSub(m, f.of(1));
  Value* s = b.CreateFDiv(y, b.CreateFAdd(y, f.of(2)));
  Value* z = b.CreateFMul(s, s);
  static constexpr std::array f64_terms = {6.666666666666735130e-01, 3.999999999940941908e-01,
                                           2.857142874366239149e-01, 2.222219843214978396e-01,
                                           1.818357216161805012e-01, 1.531383769920937332e-01,
                                           1.479819860511658591e-01};
  static constexpr std::array f32_terms = {0.66666662693, 0.40000972152, 0.28498786688,
                                           0.24279078841};
  const double* terms = is_double ? f64_terms.data() : f32_terms.data();
  const std::size_t count = is_double ? f64_terms.size() : f32_terms.size();
  Value* series = f.of(terms[count - 1]);
  for (std::size_t i = count - 1; i-- > 0;) series = f.fma(series, z, f.of(terms[i]));
  series = b.CreateFMul(series, z);
  Value* half_square = b.CreateFMul(b.CreateFMul(y, y), f.of(0.5));
  Value* small =
      f.fma(s, b.CreateFAdd(half_square, series), b.CreateFMul(k, f.of(f.format.ln2_low)));
  Value* result =
      f.fma(k, f.of(f.format.ln2_high), b.CreateFSub(y, b.CreateFSub(half_square, small)));
  Value* infinity = llvm::ConstantFP::getInfinity(x->getType());
  result = b.CreateSelect(b.CreateFCmpOEQ(x, infinity), infinity, result);
  result = b.CreateSelect(b.CreateFCmpOEQ(x, f.of(0)), b.CreateFNeg(infinity), result);
  return b.CreateSelect(b.CreateFCmpULT(x, f.of(0)), llvm::ConstantFP::getNaN(x->getType()),
                        result);
}

/// By e^(-2|x|) - 1, which has all digits where tanh is small.
Value* tanh_code(llvm::IRBuilder<>& b, Value* x) {
  const Floats f(b, x->getType());
  Value* twice = b.CreateFMul(f.abs(x), f.of(-2));
  Value* low = f.of(-44);
  twice = b.CreateSelect(b.CreateFCmpOLT(twice, low), low, twice);
  const Reduced reduced = reduce(f, twice);
  Value* power = f.power_of_2(reduced.shifted);
  Value* minus_one = b.CreateFSub(power, f.of(1));
  Value* t = f.fma(power, reduced.expm1, minus_one);
  Value* size = b.CreateFDiv(b.CreateFNeg(t), b.CreateFAdd(t, f.of(2)));
  return b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, size, x);
}

Value* sigmoid_code(llvm::IRBuilder<>& b, Value* x) {
  const Floats f(b, x->getType());
  Value* e = exp_code(b, b.CreateFNeg(f.abs(x)));
  Value* above = b.CreateSelect(b.CreateFCmpOLT(x, f.of(0)), e, f.of(1));
  return b.CreateFDiv(above, b.CreateFAdd(e, f.of(1)));
}

}  // namespace tessera::jit
