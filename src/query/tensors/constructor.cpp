#include "query/tensors/constructor.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "base/check.h"
#include "query/binding/bind_expression.h"
#include "query/rows/text_value.h"
#include "query/tensors/generated_tensor.h"
#include "tile/convert.h"
#include "tile/dispatch.h"
#include "tile/random_element.h"

namespace tessera::query {
namespace {

using lang::fail_type;

/// The arguments of a call as constants, taken one after the other.
class Arguments {
 public:
  Arguments(const sql::Call& call, lang::Location location) : call_(call), location_(location) {
    if (call.star || call.distinct)
      fail_type(location, "{} does not support * or DISTINCT", call.name);
  }

  std::size_t count() const { return call_.arguments.size(); }
  lang::Location location() const { return location_; }
  const std::string& function() const { return call_.name; }
  lang::Location location_of(std::size_t i) const { return call_.arguments.at(i)->location; }

  void require_count(std::size_t least, std::size_t most, std::string_view example) const {
    if (count() < least || count() > most)
      fail_type(location_, "{} takes {}{} argument{}, found {}; write it as in {}", call_.name,
                least == most ? "" : fmt::format("{} to ", least), most, most == 1 ? "" : "s",
                count(), example);
  }

  Tile number(std::size_t i) const { return constant(*call_.arguments.at(i), "an argument"); }
  std::int64_t extent(std::size_t i) const {
    const Tile value = number(i);
    if (value.dtype() != DType::i64)
      fail_type(location_of(i), "an extent of {} must be an integer, not {}", call_.name,
                text_of(value));
    if (value.at<std::int64_t>({}) < 0)
      fail_type(location_of(i), "an extent of {} must not be negative, but is {}", call_.name,
                text_of(value));
    return value.at<std::int64_t>({});
  }
  /// All arguments, as the extents of a tensor.
  Shape shape() const {
    if (count() == 0 || count() > max_rank)
      fail_type(location_, "{} takes 1 to {} extents, found {}; write it as in {}(2, 3)",
                call_.name, max_rank, count(), call_.name);
    Shape shape;
    for (std::size_t i = 0; i < count(); ++i) shape.push_back(extent(i));
    (void)lang::at_location(location_, [&] { return shape.elements(); });
    return shape;
  }

  std::optional<Tile> parameter(std::string_view name) {
    const sql::Expression* written = find(name);
    if (written == nullptr) return std::nullopt;
    return constant(*written, fmt::format("parameter \"{}\"", name));
  }
  double real(std::string_view name, double otherwise) {
    const auto value = parameter(name);
    return value ? value->at<double>({}) : otherwise;
  }
  DType dtype(DType otherwise) {
    const sql::Expression* written = find("dtype");
    if (written == nullptr) return otherwise;
    const auto* literal = std::get_if<sql::Literal>(&written->node);
    const auto* text = literal == nullptr ? nullptr : std::get_if<std::string>(&literal->value);
    if (text == nullptr)
      fail_type(written->location, "parameter \"dtype\" must be a text, such as 'f32'");
    return lang::at_location(written->location, [&] { return parse_dtype(*text); });
  }
  lang::Location location_of(std::string_view name) {
    const sql::Expression* written = find(name);
    return written != nullptr ? written->location : location_;
  }
  /// Parameters that nobody has asked for.
  void refuse_others() const {
    for (const auto& [name, written] : call_.parameters)
      if (!known_.contains(name))
        fail_type(written->location, "{} has no parameter \"{}\"", call_.name, name);
  }

 private:
  Tile constant(const sql::Expression& written, const std::string& what) const {
    ExpressionPtr bound;
    try {
      bound = bind_constant(written, {});
    } catch (const Error&) {
      // The name of a tensor, or of nothing: what it is makes no difference.
    }
    const auto* value = bound == nullptr ? nullptr : std::get_if<Constant>(&bound->node);
    if (value == nullptr || value->value.is_null() || value->value.is_text() ||
        value->value.type().shape.rank() > 0)
      fail_type(written.location, "{} of {} must be a constant number", what, call_.name);
    return value->value.tile();
  }
  const sql::Expression* find(std::string_view name) {
    for (const auto& [given, written] : call_.parameters)
      if (same_name(given, name)) {
        known_.insert(given);
        return written.get();
      }
    return nullptr;
  }

  const sql::Call& call_;
  const lang::Location location_;
  std::set<std::string> known_;  // of the parameters, those that have been asked for
};

/// A call as text, which tells tensors apart that are made of other numbers.
std::string text_of_call(const sql::Call& call, lang::Location location) {
  return sql::to_string(sql::Expression{call, location});
}

/// A tensor by its elements: `element(at)` for the position of each.
template <class Element>
Tensor by_element(DType dtype, const Shape& shape, const std::string& name,
                  const Element& element) {
  return generated_tensor(dtype, shape, name,
                          [=](const Index& first, std::int64_t count, std::byte* elements) {
                            visit_dtype(dtype, [&]<class T>() {
                              T* to = reinterpret_cast<T*>(elements);
                              Index at = first;
                              for (std::int64_t i = 0; i < count; ++i, ++at[at.rank() - 1])
                                to[i] = convert<T>(element(at));
                            });
                          });
}

/// The same by their places in row-major order.
template <class Element>
Tensor by_place(DType dtype, const Shape& shape, const std::string& name, const Element& element) {
  return generated_tensor(dtype, shape, name,
                          [=](const Index& first, std::int64_t count, std::byte* elements) {
                            std::int64_t place = 0;
                            for (int d = 0; d < shape.rank(); ++d)
                              place = place * shape[d] + first[d];
                            visit_dtype(dtype, [&]<class T>() {
                              T* to = reinterpret_cast<T*>(elements);
                              for (std::int64_t i = 0; i < count; ++i)
                                to[i] = convert<T>(element(place + i));
                            });
                          });
}

Tensor filled(Arguments& arguments, const std::string& name, const Tile& value) {
  const Shape shape = arguments.shape();
  const DType dtype = arguments.dtype(value.dtype());
  arguments.refuse_others();
  return generated_tensor(
      dtype, shape, name,
      [dtype, value = value.cast(dtype)](const Index&, std::int64_t count, std::byte* elements) {
        visit_dtype(dtype, [&]<class T>() {
          std::fill_n(reinterpret_cast<T*>(elements), count, value.at<T>({}));
        });
      });
}

Tensor zeros(Arguments& arguments, const std::string& name) {
  return filled(arguments, name, Tile::scalar(0.0));
}
Tensor ones(Arguments& arguments, const std::string& name) {
  return filled(arguments, name, Tile::scalar(1.0));
}
Tensor full(Arguments& arguments, const std::string& name) {
  const auto value = arguments.parameter("value");
  if (!value) fail_type(arguments.location(), "full needs a value, as in full(2, 3, value = 7)");
  return filled(arguments, name, *value);
}

Tensor eye(Arguments& arguments, const std::string& name) {
  arguments.require_count(1, 2, "eye(3) or eye(3, 4)");
  Shape shape = arguments.shape();
  if (shape.rank() == 1) shape.push_back(shape[0]);
  (void)lang::at_location(arguments.location(), [&] { return shape.elements(); });
  const DType dtype = arguments.dtype(DType::f64);
  arguments.refuse_others();
  return by_element(dtype, shape, name, [](const Index& at) { return at[0] == at[1]; });
}

/// How many numbers there are from one number on and before another one, so many apart.
std::int64_t steps(double from, double to, double step, const Arguments& arguments) {
  const double count = std::ceil((to - from) / step);
  if (!(std::abs(count) <= 0x1p53))
    fail_type(arguments.location(), "arange from {} to {} in steps of {} has no finite length",
              from, to, step);
  return count > 0 ? static_cast<std::int64_t>(count) : 0;
}

Tensor arange(Arguments& arguments, const std::string& name) {
  arguments.require_count(1, 3, "arange(5), arange(2, 5) or arange(2, 5, 0.5)");
  arguments.refuse_others();
  const bool has_start = arguments.count() > 1;
  const Tile start = has_start ? arguments.number(0) : Tile::scalar(std::int64_t{0});
  const Tile stop = arguments.number(has_start ? 1 : 0);
  const Tile step = arguments.count() > 2 ? arguments.number(2) : Tile::scalar(std::int64_t{1});
  if (step.at<double>({}) == 0)
    fail_type(arguments.location_of(std::size_t{2}), "the step of arange must not be zero");
  const DType dtype = promote(promote(start.dtype(), stop.dtype()), step.dtype());
  if (dtype == DType::boolean)
    fail_type(arguments.location(), "arange takes numbers, not truth values");
  if (dtype == DType::i64) {
    const auto from = start.at<std::int64_t>({}), by = step.at<std::int64_t>({});
    const __int128 length = static_cast<__int128>(stop.at<std::int64_t>({})) - from;
    const bool any = by > 0 ? length > 0 : length < 0;
    const __int128 count = any ? (length - (by > 0 ? 1 : -1)) / by + 1 : 0;
    if (count > INT64_MAX) fail_type(arguments.location(), "arange is too long");
    return by_place(dtype, {static_cast<std::int64_t>(count)}, name,
                    [=](std::int64_t i) { return from + i * by; });
  }
  // To the last bit as NumPy does it.
  const double from = start.at<double>({}), by = step.at<double>({});
  const double difference = (from + by) - from;
  const std::int64_t count = steps(from, stop.at<double>({}), by, arguments);
  return by_place(DType::f64, {count}, name, [=](std::int64_t i) {
    if (i == 1) return from + by;
    return from + static_cast<double>(i) * difference;
  });
}

Tensor linspace(Arguments& arguments, const std::string& name) {
  arguments.require_count(3, 3, "linspace(0, 1, 5)");
  const double from = arguments.number(0).at<double>({}), to = arguments.number(1).at<double>({});
  const std::int64_t count = arguments.extent(2);
  const DType dtype = arguments.dtype(DType::f64);
  arguments.refuse_others();
  const auto intervals = static_cast<double>(count - 1);
  const double step = count > 1 ? (to - from) / intervals : 0;
  return by_place(dtype, {count}, name, [=](std::int64_t i) {
    const auto n = static_cast<double>(i);
    double value = (step == 0 ? n / intervals * (to - from) : n * step) + from;
    if (count == 1) value = from;
    if (count > 1 && i == count - 1) value = to;
    return is_float(dtype) ? value : std::floor(value);
  });
}

struct RandomNumbers {
  Shape shape;
  DType dtype;
  std::uint64_t seed;
};

RandomNumbers random_numbers(Arguments& arguments) {
  const auto seed = arguments.parameter("seed");
  if (!seed)
    fail_type(arguments.location(), "{0} needs a seed, as in {0}(2, 3, seed = 1)",
              arguments.function());
  if (seed->dtype() != DType::i64)
    fail_type(arguments.location_of("seed"), "the seed of {} must be an integer, not {}",
              arguments.function(), text_of(*seed));
  const DType dtype = arguments.dtype(DType::f64);
  if (!is_float(dtype))
    fail_type(arguments.location_of("dtype"), "{} makes numbers of f64 or f32, not {}",
              arguments.function(), to_string(dtype));
  return {arguments.shape(), dtype, static_cast<std::uint64_t>(seed->at<std::int64_t>({}))};
}

Tensor random_uniform_tensor(Arguments& arguments, const std::string& name) {
  const RandomNumbers random = random_numbers(arguments);
  const double low = arguments.real("low", 0), high = arguments.real("high", 1);
  arguments.refuse_others();
  if (!(low <= high))
    fail_type(arguments.location_of("low"), "low must not be greater than high: {} > {}", low,
              high);
  return by_place(random.dtype, random.shape, name, [=, seed = random.seed](std::int64_t i) {
    return uniform_element(seed, static_cast<std::uint64_t>(i), low, high);
  });
}

Tensor random_normal_tensor(Arguments& arguments, const std::string& name) {
  const RandomNumbers random = random_numbers(arguments);
  const double mean = arguments.real("mean", 0), deviation = arguments.real("stddev", 1);
  arguments.refuse_others();
  if (!(deviation >= 0))
    fail_type(arguments.location_of("stddev"), "stddev must not be negative, but is {}", deviation);
  return by_place(random.dtype, random.shape, name, [=, seed = random.seed](std::int64_t i) {
    return normal_element(seed, static_cast<std::uint64_t>(i), mean, deviation);
  });
}

using Make = Tensor (*)(Arguments& arguments, const std::string& name);

struct Maker {
  Constructor constructor;
  Make make;
};
constexpr Maker makers[] = {
    {{"zeros", "a tensor of these extents full of zeros"}, zeros},
    {{"ones", "a tensor of these extents full of ones"}, ones},
    {{"full", "a tensor of these extents full of one value"}, full},
    {{"eye", "a matrix with ones on its diagonal"}, eye},
    {{"arange", "the numbers from a start on and before a stop, a step apart"}, arange},
    {{"linspace", "so many numbers from one number to another, equally far apart"}, linspace},
    {{"random_uniform", "random numbers, each as likely as any other between low and high"},
     random_uniform_tensor},
    {{"random_normal", "random numbers of a normal distribution"}, random_normal_tensor},
};

const Maker* maker_named(std::string_view name) {
  const auto* found = std::find_if(std::begin(makers), std::end(makers), [&](const Maker& one) {
    return same_name(one.constructor.name, name);
  });
  return found == std::end(makers) ? nullptr : found;
}

}  // namespace

std::vector<Constructor> constructors() {
  std::vector<Constructor> all;
  for (const Maker& maker : makers) all.push_back(maker.constructor);
  return all;
}

bool is_constructor(std::string_view name) { return maker_named(name) != nullptr; }

std::optional<Tensor> constructed(const sql::Call& call, lang::Location location) {
  const Maker* maker = maker_named(call.name);
  if (maker == nullptr) return std::nullopt;
  Arguments arguments(call, location);
  return maker->make(arguments, text_of_call(call, location));
}

}  // namespace tessera::query
