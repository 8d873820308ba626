#include <mutex>
#include <unordered_map>

#include "kernel/arguments.h"
#include "kernel/builtin.h"
#include "kernel/form/compiled_form.h"

// The kernel that computes what an index form says: what no other kernel does is written as one.

namespace tessera {
namespace {

/// Forms that have been read, by their text. Every call of the kernel asks for its own, tile by
/// tile, so that reading it anew would take longer than small tiles do.
class ReadForms {
 public:
  std::shared_ptr<const IndexForm> of(const std::string& text) {
    const std::lock_guard lock(mutex_);
    if (const auto known = forms_.find(text); known != forms_.end()) return known->second;
    if (forms_.size() >= most) forms_.clear();
    return forms_.emplace(text, std::make_shared<const IndexForm>(parse_index_form(text)))
        .first->second;
  }

 private:
  static constexpr std::size_t most = 1000;
  std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<const IndexForm>> forms_;
};

TypedForm form_of(Types types, const Params& params) {
  static ReadForms forms;
  return typed(*forms.of(params.text("form")), types);
}

TypedForm form_for(Tiles tiles, const Params& params) {
  std::vector<TileType> types;
  for (const Tile& tile : tiles) types.push_back(tile.type());
  return form_of(types, params);
}

}  // namespace

std::vector<Kernel> index_kernels() {
  return {{.name = "compute",
           .description =
               "what an index form says: each element of the result from elements of the "
               "arguments, by positions",
           .min_arguments = 1,
           .max_arguments = any_number,
           .parameters = {{"form", std::nullopt,
                           "the result's indices and an element of it, as in "
                           "'[i,j] sum([k] #0[i,k] * #1[k,j])'"}},
           .infer = [](Types types,
                       const Params& params) { return std::vector{form_of(types, params).result}; },
           .cost =
               [](Types types, const Params& params) {
                 const TypedForm form = form_of(types, params);
                 Cost cost{operations(form), dense_bytes(form.result)};
                 for (const TileType& type : types) cost.bytes += dense_bytes(type);
                 return cost;
               },
           .implementations = {{.name = "compiled",
                                .layouts = {LayoutPattern::dense},
                                .run =
                                    [](Tiles tiles, const Params& params) {
                                      return std::vector{compute(params.text("form"),
                                                                 form_for(tiles, params), tiles)};
                                    }},
                               {.name = "interpreted",
                                .layouts = {LayoutPattern::dense},
                                .run = [](Tiles tiles, const Params& params) {
                                  return std::vector{interpret(form_for(tiles, params), tiles)};
                                }}}}};
}

}  // namespace tessera
