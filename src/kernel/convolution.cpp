#include <algorithm>
#include <array>
#include <dnnl.hpp>
#include <limits>
#include <map>

#include "base/check.h"
#include "base/stop.h"
#include "kernel/arguments.h"
#include "kernel/builtin.h"
#include "kernel/convolution_loops.h"
#include "kernel/form/working_dtype.h"
#include "tile/buffer.h"

namespace tessera {
namespace {

// --- types

/// A parameter with a value for each spatial dimension, or one for all.
std::vector<std::int64_t> for_each_dimension(const Params& params, const char* name, int dims,
                                             std::int64_t least) {
  std::vector<std::int64_t> values = params.integers(name);
  if (values.size() == 1) values.assign(dims, values[0]);
  // Beyond 2^31 no library counts, and sums with an extent could overflow.
  const auto valid = [&](std::int64_t v) { return v >= least && v < std::int64_t{1} << 31; };
  TESSERA_REQUIRE(
      TypeError,
      std::cmp_equal(values.size(), dims) && std::all_of(values.begin(), values.end(), valid),
      "conv: {} [{}] is not valid for a {}-d convolution; give a number of at least {}, or a list "
      "of {} such numbers",
      name, fmt::join(values, ", "), dims, least, dims);
  return values;
}

struct Convolution {
  ConvolutionExtents extents;
  int dims = 0;  // spatial ones
  bool batched = false;
  TileType result;
};

Convolution convolution(Types types, const Params& params) {
  const TileType& input = types[0];
  const TileType& weights = types[1];
  const int rank = weights.shape.rank();
  Convolution conv;
  conv.batched = input.shape.rank() == rank;
  const int lead = conv.batched ? 1 : 0;
  TESSERA_REQUIRE(TypeError,
                  rank >= 3 && rank <= 5 && input.shape.rank() >= rank - 1 &&
                      input.shape.rank() <= rank && input.shape[lead] == weights.shape[1],
                  "conv: {} and {} do not match: the weights must be [filters x channels x 1 to 3 "
                  "window extents] and the input [channels x extents], or [images x channels x "
                  "extents], with the same number of channels",
                  to_string(input), to_string(weights));
  conv.dims = rank - 2;
  const std::vector<std::int64_t> stride = for_each_dimension(params, "stride", conv.dims, 1);
  const std::vector<std::int64_t> padding = for_each_dimension(params, "padding", conv.dims, 0);
  ConvolutionExtents& e = conv.extents;
  e.images = conv.batched ? input.shape[0] : 1;
  e.channels = weights.shape[1];
  e.filters = weights.shape[0];
  conv.result.dtype = working_dtype(WorkingDType::number, promote(input.dtype, weights.dtype));
  if (conv.batched) conv.result.shape.push_back(e.images);
  conv.result.shape.push_back(e.filters);
  for (int i = 0; i < conv.dims; ++i) {
    const int d = 3 - conv.dims + i;
    e.input[d] = input.shape[lead + 1 + i];
    e.window[d] = weights.shape[2 + i];
    e.stride[d] = stride[i];
    e.padding[d] = padding[i];
    const std::int64_t room = e.input[d] + 2 * e.padding[d] - e.window[d];
    TESSERA_REQUIRE(TypeError, e.window[d] > 0 && room >= 0,
                    "conv: {} and {} do not match: a window of {} is larger than the {} elements "
                    "of dimension {} with their padding of {}; use more padding",
                    to_string(input), to_string(weights), e.window[d], e.input[d], lead + 1 + i,
                    e.padding[d]);
    e.output[d] = room / e.stride[d] + 1;
    conv.result.shape.push_back(e.output[d]);
  }
  conv.result.shape.elements();  // fails if there are too many
  return conv;
}

Cost convolution_cost(Types types, const Params& params) {
  const Convolution conv = convolution(types, params);
  const double multiplications = static_cast<double>(conv.result.shape.elements()) *
                                 static_cast<double>(conv.extents.channels) *
                                 static_cast<double>(elements_of(conv.extents.window));
  return {2 * multiplications,
          dense_bytes(types[0]) + dense_bytes(types[1]) + dense_bytes(conv.result)};
}

// --- oneDNN

using dnnl::memory;

/// Memory for a layout of oneDNN's own, from the pool that tiles live in.
struct Workspace {
  Workspace(const memory::desc& layout, const dnnl::engine& engine)
      : bytes(allocate_buffer(layout.get_size())), block(layout, engine, bytes.get()) {}
  std::shared_ptr<std::byte> bytes;
  memory block;
};

memory::dims spatial(const Convolution& conv, const Volume& volume) {
  return {volume.end() - conv.dims, volume.end()};
}

memory::dims dims_of(const Convolution& conv, std::int64_t outer, std::int64_t inner,
                     const Volume& volume) {
  memory::dims dims = {outer, inner};
  for (std::int64_t extent : spatial(conv, volume)) dims.push_back(extent);
  return dims;
}

/// The layouts that oneDNN may choose. Measured with the time to convert to and from them: its
/// vectorised loops read few channels from plain input; with many, blocks of channels are worth
/// the conversion; and a window of one element is a matrix product of what is there already.
struct FreeLayouts {
  bool input = false;
  bool weights_and_output = false;
};

FreeLayouts free_layouts(const ConvolutionExtents& extents) {
  constexpr std::int64_t block_of_channels = 16;
  const bool pointwise = elements_of(extents.window) == 1;
  return {.input = !pointwise && extents.channels >= block_of_channels,
          .weights_and_output = !pointwise};
}

/// A convolution of some images by some filters, by oneDNN, whose cache keeps the code it generates
/// for it.
class DnnlConvolution {
 public:
  DnnlConvolution(const Convolution& conv, std::int64_t images, std::int64_t filters)
      : engine_(dnnl::engine::kind::cpu, 0), stream_(engine_) {
    using Tag = memory::format_tag;
    const auto f32 = memory::data_type::f32;
    const Tag plain = conv.dims == 1 ? Tag::abc : conv.dims == 2 ? Tag::abcd : Tag::abcde;
    const ConvolutionExtents& e = conv.extents;
    const memory::dims input = dims_of(conv, images, e.channels, e.input);
    const memory::dims weights = dims_of(conv, filters, e.channels, e.window);
    const memory::dims output = dims_of(conv, images, filters, e.output);
    input_ = {input, f32, plain};
    weights_ = {weights, f32, plain};
    output_ = {output, f32, plain};
    const FreeLayouts free = free_layouts(e);
    const Tag inner = free.weights_and_output ? Tag::any : plain;
    const memory::dims padding = spatial(conv, e.padding);
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    description_ = {{dnnl::prop_kind::forward_inference,
                     dnnl::algorithm::convolution_direct,
                     {input, f32, free.input ? Tag::any : plain},
                     {weights, f32, inner},
                     {output, f32, inner},
                     spatial(conv, e.stride),
                     padding,
                     padding},
                    attributes,
                    engine_};
    primitive_ = dnnl::convolution_forward(description_);
  }

  void run(const float* input, const float* weights, float* output) {
    const memory source = converted(read(input_, input), description_.src_desc());
    const memory filters = converted(read(weights_, weights), description_.weights_desc());
    memory result(output_, engine_, output);
    const bool direct = description_.dst_desc() == output_;
    memory target = direct ? result : workspace(description_.dst_desc());
    primitive_.execute(stream_, {{DNNL_ARG_SRC, source},
                                 {DNNL_ARG_WEIGHTS, filters},
                                 {DNNL_ARG_DST, target},
                                 {DNNL_ARG_SCRATCHPAD, workspace(description_.scratchpad_desc())}});
    if (!direct) dnnl::reorder(target, result).execute(stream_, target, result);
    stream_.wait();
    workspaces_.clear();
  }

 private:
  memory read(const memory::desc& layout, const float* data) {
    return {layout, engine_, const_cast<float*>(data)};  // NOLINT: oneDNN has no const memory
  }
  memory workspace(const memory::desc& layout) {
    return workspaces_.emplace_back(layout, engine_).block;
  }
  memory converted(memory from, const memory::desc& layout) {
    if (from.get_desc() == layout) return from;
    memory to = workspace(layout);
    dnnl::reorder(from, to).execute(stream_, from, to);
    return to;
  }

  dnnl::engine engine_;
  dnnl::stream stream_;
  memory::desc input_;
  memory::desc weights_;
  memory::desc output_;
  dnnl::convolution_forward::primitive_desc description_;
  dnnl::convolution_forward primitive_;
  std::vector<Workspace> workspaces_;
};

/// What one call of oneDNN gets. A large batch is not to need as much memory again in oneDNN's
/// layouts, and a call, which cannot be stopped, is not to take long: of one image that would,
/// only some filters are applied at a time.
struct Share {
  std::int64_t images;
  std::int64_t filters;
};

Share share_of(const ConvolutionExtents& e) {
  constexpr std::int64_t elements_at_a_time = std::int64_t{1} << 24;
  constexpr double work_at_a_time = 0x1p34;  // multiplications, half a second or less
  constexpr std::int64_t block_of_filters = 16;
  const std::int64_t image = std::max(e.input_elements(), e.output_elements()) / e.images;
  const double filter = static_cast<double>(elements_of(e.output)) *
                        static_cast<double>(e.channels) *
                        static_cast<double>(elements_of(e.window));
  const double images = work_at_a_time / (filter * static_cast<double>(e.filters));
  const double filters = work_at_a_time / filter;
  Share share{std::clamp(elements_at_a_time / image, std::int64_t{1}, e.images), e.filters};
  if (images < static_cast<double>(share.images))
    share.images = std::max(std::int64_t{1}, static_cast<std::int64_t>(images));
  if (filters < static_cast<double>(e.filters))
    share.filters =
        std::min(e.filters,
                 std::max(std::int64_t{1}, static_cast<std::int64_t>(filters) / block_of_filters) *
                     block_of_filters);
  return share;
}

void convolve_by_dnnl(const Convolution& conv, const float* input, const float* weights,
                      float* output) {
  const ConvolutionExtents& e = conv.extents;
  const std::int64_t image = e.input_elements() / e.images;
  const std::int64_t filter = e.weight_elements() / e.filters;
  const std::int64_t plane = elements_of(e.output);  // of the result, for one filter
  const Share share = share_of(e);
  std::map<std::pair<std::int64_t, std::int64_t>, DnnlConvolution> made;  // the last are smaller
  for (std::int64_t n = 0; n < e.images; n += share.images)
    for (std::int64_t f = 0; f < e.filters; f += share.filters) {
      refuse_if_stopped("a convolution was computed");
      const std::int64_t images = std::min(share.images, e.images - n);
      const std::int64_t filters = std::min(share.filters, e.filters - f);
      made.try_emplace({images, filters}, conv, images, filters)
          .first->second.run(input + n * image, weights + f * filter,
                             output + (n * e.filters + f) * plane);
    }
}

/// oneDNN counts the elements of an image in 32 bits in places; blocks of channels pad them.
bool dnnl_can_count(const ConvolutionExtents& e) {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max() / 64;
  std::int64_t largest = std::max(
      {e.input_elements() / e.images, e.output_elements() / e.images, e.weight_elements()});
  for (int d = 0; d < 3; ++d)
    largest = std::max({largest, e.input[d] + 2 * e.padding[d], e.stride[d]});
  return largest <= most;
}

// --- the kernel

void convolve_f32(const Convolution& conv, const float* input, const float* weights,
                  float* output) {
  if (!dnnl_can_count(conv.extents))
    return convolve_by_products(conv.extents, input, weights, output);
  try {
    convolve_by_dnnl(conv, input, weights, output);
  } catch (const dnnl::error& error) {
    TESSERA_REQUIRE(OutOfMemory, error.status != dnnl_out_of_memory,
                    "conv: oneDNN is out of memory for {}", to_string(conv.result));
    throw InternalError(fmt::format("conv: oneDNN fails with '{}' (status {}) for {}", error.what(),
                                    static_cast<int>(error.status), to_string(conv.result)));
  }
}

Tile convolve(Tiles tiles, const Params& params) {
  const Convolution conv = convolution(std::array{tiles[0].type(), tiles[1].type()}, params);
  const DType dtype = conv.result.dtype;
  const Tile input = tiles[0].cast(dtype);
  const Tile weights = tiles[1].cast(dtype);
  // A sum over no channels, or of padding alone, is zero.
  if (input.elements() == 0 || weights.elements() == 0) return Tile::zeros(conv.result);
  MutableTile output = MutableTile::uninitialized(dtype, conv.result.shape);
  if (dtype == DType::f32) {
    convolve_f32(conv, input.data<float>(), weights.data<float>(), output.data<float>());
  } else if (dtype == DType::f64) {
    convolve_by_products(conv.extents, input.data<double>(), weights.data<double>(),
                         output.data<double>());
  } else {
    using Word = std::uint64_t;
    convolve_by_products(conv.extents, reinterpret_cast<const Word*>(input.bytes_begin()),
                         reinterpret_cast<const Word*>(weights.bytes_begin()),
                         reinterpret_cast<Word*>(output.bytes_begin()));
  }
  return std::move(output).publish();
}

}  // namespace

std::vector<Kernel> convolution_kernels() {
  Properties properties;
  properties.zero_preserving = true;
  properties.annihilated_by = {0, 1};
  properties.linear_in = {0, 1};
  properties.distributes_over = {{"add", 0}, {"add", 1}, {"sub", 0}, {"sub", 1}};
  return {
      {.name = "conv",
       .description = "the sums of products of weights [filters x channels x window] with the "
                      "windows of an input [channels x extents], or of a batch of them",
       .min_arguments = 2,
       .max_arguments = 2,
       .parameters = {{"stride", std::int64_t{1},
                       "the distance between windows; one for all dimensions, or a list"},
                      {"padding", std::int64_t{0},
                       "zeros around the input; one for all dimensions, or a list"}},
       .properties = properties,
       .infer = [](Types types,
                   const Params& params) { return std::vector{convolution(types, params).result}; },
       .cost = convolution_cost,
       .implementations = {{.name = "onednn_or_im2col",
                            .layouts = {LayoutPattern::dense},
                            .run =
                                [](Tiles tiles, const Params& params) {
                                  return std::vector{convolve(tiles, params)};
                                }}},
       .aliases = {"conv1d", "conv2d", "conv3d"}}};
}

}  // namespace tessera
