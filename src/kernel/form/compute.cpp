#include <algorithm>
#include <array>
#include <atomic>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/crew.h"
#include "base/memory_account.h"
#include "base/stop.h"
#include "kernel/form/compiled_form.h"
#include "kernel/form/form_cache.h"

namespace tessera {
namespace {

constexpr const char* what = "an index form was computed";
constexpr std::size_t most_forms = 256;

// Pieces follow from the form and the extents alone: sums that are added up in other pieces would
// have other bits.
constexpr double piece_operations = 2e6;  // what a thread takes at once, a millisecond's work
constexpr std::int64_t most_pieces = 64, most_partial_pieces = 16;
constexpr std::int64_t piece_unit = 64;      // borders are multiples of it
constexpr std::int64_t few_elements = 1000;  // of results that are combined from partial ones
constexpr std::int64_t long_fold = 16 * 1024;

/// The dimension whose elements are next to each other; the last one, if several are.
int unit_dimension(const Tile& tile) {
  for (int d = tile.rank() - 1; d >= 0; --d)
    if (tile.strides()[d] == 1 || tile.shape()[d] <= 1) return d;
  return -1;
}

struct Pieces {
  std::int64_t extent = 1, size = 1;
  std::int64_t count() const { return extent == 0 ? 0 : (extent + size - 1) / size; }
  std::pair<std::int64_t, std::int64_t> range(std::int64_t piece) const {
    return {piece * size, std::min(extent, (piece + 1) * size)};
  }
};

Pieces pieces_of(std::int64_t extent, double work, std::int64_t most) {
  const double wanted = std::clamp(work / piece_operations, 1.0, static_cast<double>(most));
  std::int64_t size = static_cast<std::int64_t>(static_cast<double>(extent) / wanted) + 1;
  if (size > piece_unit) size = (size + piece_unit - 1) / piece_unit * piece_unit;
  return {extent, std::max<std::int64_t>(1, size)};
}

class Computation {
 public:
  Computation(const std::string& text, const TypedForm& form, std::span<const Tile> tiles)
      : text_(text),
        form_(form),
        tiles_(tiles),
        work_(operations(form) + static_cast<double>(form.result.shape.elements())) {
    for (const Tile& tile : tiles) {
      // What is read of an argument without elements is checked, and then not used.
      const bool empty = tile.elements() == 0;
      first_.push_back(empty ? nothing.data() : tile.bytes_begin());
      for (int d = 0; d < tile.rank(); ++d) {
        strides_.push_back(empty ? 0 : tile.strides()[d]);
        argument_extents_.push_back(tile.shape()[d]);
      }
      units_.push_back(empty ? -1 : unit_dimension(tile));
    }
    fold_ = as<term::Fold>(form.form.value);
    checked_ = !reads_inside(form);
  }

  /// Nothing: it could not be compiled, or has to be computed by its definition to say what is
  /// wrong.
  std::optional<Tile> run(FormCompiler& compiler) {
    if (form_.result.shape.elements() == 0)
      return MutableTile::uninitialized(form_.result.dtype, form_.result.shape).publish();
    const bool partial = is_folded_in_parts();
    const FormCache::Code code = code_of(compiler, partial);
    if (code == nullptr) return std::nullopt;
    return partial ? combined(*code) : whole(*code);
  }

 private:
  alignas(8) static constexpr std::array<std::byte, 8> nothing = {};

  std::int64_t extent(int index) const { return form_.extents[static_cast<std::size_t>(index)]; }

  bool is_folded_in_parts() const {
    return fold_ != nullptr && !gives_position(fold_->monoid) && !fold_->indices.empty() &&
           form_.result.shape.elements() <= few_elements && work_ >= 2 * piece_operations &&
           extent(fold_->indices[0]) >= long_fold;
  }

  FormCache::Code code_of(FormCompiler& compiler, bool partial) const {
    std::string structure = text_;
    structure += '\0';
    structure +=
        static_cast<char>('0' + 2 * static_cast<int>(checked_) + static_cast<int>(partial));
    for (std::size_t i = 0; i < tiles_.size(); ++i)
      for (const int said : {static_cast<int>(tiles_[i].dtype()), tiles_[i].rank(), units_[i]})
        structure += static_cast<char>('1' + said);
    return form_cache().of(structure, [&]() -> FormCache::Code {
      const OpenAccount none(nullptr);  // code is not the statement's that comes first
      return compiler.compile({form_, units_, checked_, partial});
    });
  }

  /// False if it reads outside of an argument.
  bool run_piece(const CompiledForm& code, std::byte* result,
                 std::pair<std::int64_t, std::int64_t> range) const {
    const CompiledForm::Arguments arguments{
        .first = first_.data(),
        .strides = strides_.data(),
        .argument_extents = argument_extents_.data(),
        .extents = form_.extents.data(),
        .result = result,
        .is_stopped = [] { return is_stopped(); },
    };
    refuse_if_stopped(what);
    const CompiledForm::End end = code.run(arguments, range.first, range.second);
    if (end == CompiledForm::End::stopped) {
      refuse_if_stopped(what);
      TESSERA_INVARIANT(false, "{} stopped without a reason", text_);
    }
    return end == CompiledForm::End::done;
  }

  /// Runs all pieces, by several threads if there are several.
  template <class Result>
  bool run_pieces(const CompiledForm& code, const Pieces& pieces, const Result& result_of) const {
    if (pieces.count() == 1) return run_piece(code, result_of(0), pieces.range(0));
    std::atomic<bool> inside = true;
    share_work(pieces.count(), [&](std::int64_t piece) {
      if (inside && !run_piece(code, result_of(piece), pieces.range(piece))) inside = false;
    });
    return inside;
  }

  std::optional<Tile> whole(const CompiledForm& code) const {
    MutableTile result = MutableTile::uninitialized(form_.result.dtype, form_.result.shape);
    const int index = code.shared_index();
    const Pieces pieces = index < 0 ? Pieces{} : pieces_of(extent(index), work_, most_pieces);
    if (!run_pieces(code, pieces, [&](std::int64_t) { return result.bytes_begin(); }))
      return std::nullopt;
    return std::move(result).publish();
  }

  std::optional<Tile> combined(const CompiledForm& code) const {
    const DType dtype = state_dtype(fold_->monoid, form_.dtype(fold_->value));
    const Pieces pieces = pieces_of(extent(fold_->indices[0]), work_, most_partial_pieces);
    std::vector<MutableTile> parts;
    for (std::int64_t piece = 0; piece < pieces.count(); ++piece)
      parts.push_back(MutableTile::uninitialized(dtype, form_.result.shape));
    if (!run_pieces(code, pieces, [&](std::int64_t piece) {
          return parts[static_cast<std::size_t>(piece)].bytes_begin();
        }))
      return std::nullopt;
    const auto both =
        scalar_function(combination_of(fold_->monoid))->evaluate[static_cast<int>(dtype)];
    visit_dtype(dtype, [&]<class T>() {
      T* states = parts[0].data<T>();
      for (std::size_t piece = 1; piece < parts.size(); ++piece) {
        const T* more = parts[piece].data<T>();
        for (std::int64_t i = 0; i < parts[0].elements(); ++i) {
          const Scalar values[] = {states[i], more[i]};
          states[i] = both(values).template as<T>();
        }
      }
    });
    return std::move(parts[0]).publish().cast(form_.result.dtype);
  }

  const std::string& text_;
  const TypedForm& form_;
  const std::span<const Tile> tiles_;
  const double work_;
  const term::Fold* fold_ = nullptr;
  bool checked_ = false;
  std::vector<const std::byte*> first_;
  std::vector<std::int64_t> strides_, argument_extents_;
  std::vector<int> units_;
};

}  // namespace

FormCache& form_cache() {
  // Never freed: threads may compute until the process ends.
  static FormCache& cache = *new FormCache(most_forms);
  return cache;
}

Tile compute(const std::string& text, const TypedForm& form, std::span<const Tile> arguments) {
  if (FormCompiler* compiler = form_compiler())
    if (std::optional<Tile> result = Computation(text, form, arguments).run(*compiler))
      return *std::move(result);
  return interpret(form, arguments);
}

}  // namespace tessera
