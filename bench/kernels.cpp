// Kernels against the libraries they call, called directly, and against the machine's memory.

#include <cblas.h>

#include <cstring>
#include <dnnl.hpp>
#include <unordered_map>

#include "tessera/tessera.h"
#include "timing.h"

namespace tessera::bench {
namespace {

template <class T>
void gemm(std::int64_t n) {
  const DType dtype = dtype_of<T>;
  const Tile a = random_uniform(dtype, {n, n}, 1);
  const Tile b = random_uniform(dtype, {n, n}, 2);
  MutableTile c = MutableTile::zeros(dtype, {n, n});
  const KernelCall matmul("matmul");
  const auto size = static_cast<int>(n);
  const auto direct = [&] {
    if constexpr (std::is_same_v<T, float>)
      cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, size, size, size, 1, a.data<T>(), size,
                  b.data<T>(), size, 0, c.data<T>(), size);
    else
      cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, size, size, size, 1, a.data<T>(), size,
                  b.data<T>(), size, 0, c.data<T>(), size);
  };
  const Comparison seconds = compare(
      31,
      [&] {
        (void)matmul({a, b});
      },
      direct);
  report(fmt::format("gemm {} {}x{}", to_string(dtype), n, n), "cblas", seconds,
         seconds.ours / seconds.peer, "<= 1.03");
}

/// A matrix times its own transpose is symmetric: half of it is computed.
void gram(std::int64_t rows, std::int64_t columns) {
  const Tile a = random_uniform(DType::f64, {rows, columns}, 1);
  const Tile b = random_uniform(DType::f64, {rows, columns}, 2);
  const KernelCall product("matmul(transpose_a=true)");
  const Comparison seconds = compare(
      11,
      [&] {
        (void)product({a, a});
      },
      [&] {
        (void)product({a, b});
      });
  report(fmt::format("X.T @ X f64 {}x{}", rows, columns), "X.T @ Y", seconds,
         seconds.ours / seconds.peer, "<= 0.6");
}

/// Bytes a second of the kernel over those of memcpy: the kernel reads two and writes one.
void add_bandwidth(DType dtype, std::int64_t elements) {
  const Tile a = random_uniform(dtype, {elements}, 1);
  const Tile b = random_uniform(dtype, {elements}, 2);
  MutableTile target = MutableTile::zeros(dtype, {elements});
  const std::size_t bytes = elements * size_of(dtype);
  const KernelCall add("add");
  const Comparison seconds = compare(
      31,
      [&] {
        (void)add({a, b});
      },
      [&] { std::memcpy(target.bytes_begin(), a.bytes_begin(), bytes); });
  report(fmt::format("add {} 10^7", to_string(dtype)), "memcpy bandwidth", seconds,
         (3.0 / seconds.ours) / (2.0 / seconds.peer), ">= 0.9");
}

/// oneDNN as an expert would call it on the same row-major data: the primitive is made once, and
/// the library either works on the data as it is or chooses its own formats and reorders.
class DirectConvolution {
 public:
  enum class Formats { plain, plain_input, own };
  DirectConvolution(const Tile& input, const Tile& weights, std::int64_t padding, Formats formats)
      : stream_(engine_) {
    using namespace dnnl;
    const auto dims = [](const Shape& shape, bool batch) {
      memory::dims result;
      if (batch) result.push_back(1);
      result.insert(result.end(), shape.begin(), shape.end());
      return result;
    };
    const memory::dims in = dims(input.shape(), true);
    const memory::dims filter = dims(weights.shape(), false);
    memory::dims out{1, filter[0]};
    for (int i = 2; i < 5; ++i) out.push_back(in[i] + 2 * padding - filter[i] + 1);
    const auto type = memory::data_type::f32;
    const memory::desc plain_in(in, type, memory::format_tag::ncdhw);
    const memory::desc plain_filter(filter, type, memory::format_tag::oidhw);
    const memory::desc plain_out(out, type, memory::format_tag::ncdhw);
    const auto chosen = [&](const memory::dims& d, const memory::desc& plain, bool own) {
      return own ? memory::desc(d, type, memory::format_tag::any) : plain;
    };
    const bool own_input = formats == Formats::own;
    const bool own_rest = formats != Formats::plain;
    const memory::dims ones{1, 1, 1};
    const memory::dims pads(3, padding);
    const convolution_forward::primitive_desc description(
        convolution_forward::desc(prop_kind::forward_inference, algorithm::convolution_direct,
                                  chosen(in, plain_in, own_input),
                                  chosen(filter, plain_filter, own_rest),
                                  chosen(out, plain_out, own_rest), ones, pads, pads),
        engine_);
    user_in_ = memory(plain_in, engine_, const_cast<std::byte*>(input.bytes_begin()));
    user_filter_ = memory(plain_filter, engine_, const_cast<std::byte*>(weights.bytes_begin()));
    user_out_ = memory(plain_out, engine_);
    const auto own = [&](const memory& user, const memory::desc& wanted) {
      return user.get_desc() == wanted ? user : memory(wanted, engine_);
    };
    in_ = own(user_in_, description.src_desc());
    filter_ = own(user_filter_, description.weights_desc());
    out_ = own(user_out_, description.dst_desc());
    convolution_ = convolution_forward(description);
  }

  void operator()() {
    const auto move = [&](dnnl::memory& from, dnnl::memory& to) {
      if (from.get_data_handle() != to.get_data_handle())
        dnnl::reorder(from, to).execute(stream_, from, to);
    };
    move(user_in_, in_);
    move(user_filter_, filter_);
    convolution_.execute(stream_,
                         {{DNNL_ARG_SRC, in_}, {DNNL_ARG_WEIGHTS, filter_}, {DNNL_ARG_DST, out_}});
    move(out_, user_out_);
    stream_.wait();
  }

 private:
  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_;
  dnnl::memory user_in_, user_filter_, user_out_, in_, filter_, out_;
  dnnl::convolution_forward convolution_;
};

void convolution(std::int64_t padding) {
  const Tile input = random_uniform(DType::f32, {3, 240, 270, 10}, 1);
  const Tile weights = random_uniform(DType::f32, {10, 3, 3, 3, 3}, 2);
  const KernelCall conv("conv", {{"padding", padding}});
  using Formats = DirectConvolution::Formats;
  const std::pair<Formats, const char*> ways[] = {{Formats::plain, "oneDNN, plain formats"},
                                                  {Formats::plain_input, "oneDNN, plain input"},
                                                  {Formats::own, "oneDNN, own formats"}};
  for (const auto& [formats, name] : ways) {
    DirectConvolution direct(input, weights, padding, formats);
    const Comparison seconds = compare(
        31,
        [&] {
          (void)conv({input, weights});
        },
        [&] { direct(); });
    report(fmt::format("conv3d 3->10 240x270x10 padding {}", padding), name, seconds,
           seconds.ours / seconds.peer, "<= 1.1");
  }
}

}  // namespace
}  // namespace tessera::bench

int main() {
  using namespace tessera;
  bench::gemm<double>(1000);
  bench::gemm<float>(1000);
  bench::gram(2000, 1000);
  bench::gram(1000, 2000);
  bench::convolution(0);
  bench::convolution(1);
  bench::add_bandwidth(DType::f64, 10'000'000);
  bench::add_bandwidth(DType::f32, 10'000'000);
  return 0;
}
