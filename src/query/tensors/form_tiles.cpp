#include "query/tensors/form_tiles.h"

#include <algorithm>

#include "query/tensors/tensor_tiling.h"
#include "store/formats/format.h"

namespace tessera::query {
namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

/// The index that each dimension is read at by itself; -1 where the position is something else.
std::vector<int> plain_indices(const term::Element& read, const TypedForm& form) {
  const Shape& shape = form.arguments[at(read.argument)].shape;
  std::vector<int> indices;
  for (int d = 0; d < shape.rank(); ++d) {
    const auto* index = as<term::Position>(read.at[at(d)]);
    const bool plain = index != nullptr && form.extents[at(index->index)] == shape[d];
    indices.push_back(plain ? index->index : -1);
  }
  return indices;
}

/// The extents of tiles, as the arguments have them where they are read.
class Extents {
 public:
  Extents(const TypedForm& form, const std::vector<Tensor>& arguments)
      : extents(form.extents.size(), 0),
        whole(form.extents.size(), false),
        form_(form),
        arguments_(arguments),
        from_(form.extents.size(), -1) {
    collect(form.form.value);
  }

  std::vector<std::int64_t> extents;  // 0: no argument says
  std::vector<bool> whole;            // what may not be cut

 private:
  void collect(const Term& term) {
    if (const auto* read = as<term::Element>(term)) take(*read);
    if (const auto* fold = as<term::Fold>(term))
      if (fold->monoid == Monoid::argmin || fold->monoid == Monoid::argmax)
        for (int index : fold->indices) whole[at(index)] = true;
    for (const Term& part : parts_of(term)) collect(part);
  }
  void take(const term::Element& read) {
    const TensorType& type = arguments_[at(read.argument)].type;
    const std::vector<int> indices = plain_indices(read, form_);
    const double size = elements(type.shape);
    for (int d = 0; d < type.rank(); ++d) {
      if (indices[at(d)] < 0) continue;
      std::int64_t& known = extents[at(indices[at(d)])];
      double& from = from_[at(indices[at(d)])];
      if (size > from || (size == from && type.tile[d] < known)) known = type.tile[d];
      from = std::max(from, size);
    }
  }

  const TypedForm& form_;
  const std::vector<Tensor>& arguments_;
  std::vector<double> from_;  // how large the argument is that says it
};

class Localized {
 public:
  Localized(const TypedForm& form, const FormTiles& tiles) : form_(form), tiles_(tiles) {
    result_.form = form.form;
    result_.form.value = visited(form.form.value);
    for (int index = 0; std::cmp_less(index, form.extents.size()); ++index) set_extent(index);
  }
  TileForm take() { return std::move(result_); }

 private:
  int argument(const TileForm::Argument& wanted) {
    for (std::size_t a = 0; a < result_.arguments.size(); ++a)
      if (result_.arguments[a] == wanted) return static_cast<int>(a);
    result_.arguments.push_back(wanted);
    return static_cast<int>(result_.arguments.size()) - 1;
  }

  /// An index that is a position by itself stays; as a number it is that of the whole array.
  Term visited(const Term& term) {
    if (const auto* index = as<term::Position>(term)) {
      if (tiles_.tiles[at(index->index)] == 1) return term;
      return element(argument({-1, index->index, {index->index}}), {term});
    }
    const auto* read = as<term::Element>(term);
    std::vector<Term> parts = parts_of(term);
    if (read == nullptr) {
      for (Term& part : parts) part = visited(part);
      return with_parts(term, parts);
    }
    const std::vector<int> plain = plain_indices(*read, form_);
    for (std::size_t d = 0; d < parts.size(); ++d) {
      if (plain[d] >= 0) continue;
      parts[d] = visited(parts[d]);
      if (as<term::Position>(parts[d]) != nullptr)  // less than the dimension has
        parts[d] = applied("add", {parts[d], integer(0)});
    }
    return element(argument({read->argument, -1, plain}), parts);
  }

  /// From an argument that has it as a dimension, as the last tiles may be smaller.
  void set_extent(int index) {
    IndexForm::Index& known = result_.form.indices[at(index)];
    known.extent = form_.extents[at(index)];
    const bool counts_tiles = index < form_.form.rank || tiles_.tiles[at(index)] > 1;
    auto has = [&](const TileForm::Argument& one) {
      return std::find(one.at.begin(), one.at.end(), index) != one.at.end();
    };
    auto found = std::find_if(result_.arguments.begin(), result_.arguments.end(), has);
    if (found == result_.arguments.end()) {
      if (!counts_tiles) return;
      found = result_.arguments.begin() + argument({-1, index, {index}});
    }
    known.extent = std::nullopt;
    known.like = {{static_cast<int>(found - result_.arguments.begin()),
                   static_cast<int>(std::find(found->at.begin(), found->at.end(), index) -
                                    found->at.begin())}};
    if (found->positions_of < 0) known.like = std::nullopt;  // it is read there
  }

  const TypedForm& form_;
  const FormTiles& tiles_;
  TileForm result_;
};

}  // namespace

bool FormTiles::cut(const std::vector<int>& indices) const {
  return std::any_of(indices.begin(), indices.end(),
                     [&](int index) { return tiles[at(index)] > 1; });
}

FormTiles tiles_of(const TypedForm& form, const std::vector<Tensor>& arguments) {
  const Extents found(form, arguments);
  FormTiles result{found.extents, {}};
  const Shape chosen = store::chosen_tile(form.result.dtype, form.result.shape);
  double result_tile = 1;
  for (int index = 0; index < form.form.rank; ++index) {
    std::int64_t& extent = result.extents[at(index)];
    if (extent == 0) extent = chosen[index];
    result_tile *= static_cast<double>(extent);
  }
  for (int index = 0; std::cmp_less(index, form.extents.size()); ++index) {
    const std::int64_t all = form.extents[at(index)];
    std::int64_t& extent = result.extents[at(index)];
    if (index < form.form.rank && result_tile > large_tile)
      extent = std::min(extent, chosen[index]);
    if (extent == 0 || found.whole[at(index)]) extent = all;
    extent = std::max<std::int64_t>(1, std::min(extent, all));
    result.tiles.push_back(all == 0 ? 1 : (all - 1) / extent + 1);
  }
  return result;
}

TileForm tile_form(const TypedForm& form, const FormTiles& tiles) {
  return Localized(form, tiles).take();
}

}  // namespace tessera::query
