#include <functional>

#include "base/check.h"
#include "base/stop.h"
#include "kernel/form/index_form.h"
#include "kernel/form/operations.h"

namespace tessera {
namespace {

/// What a term is at given values of the indices.
using Evaluate = std::function<Scalar(std::int64_t* indices)>;

class Interpreter {
 public:
  Interpreter(const TypedForm& form, std::span<const Tile> arguments) : form_(form) {
    for (const Tile& tile : arguments) arguments_.push_back(tile.dense());
  }

  Tile run() {
    const Evaluate value = evaluation(form_.form.value);
    MutableTile result = MutableTile::uninitialized(form_.result.dtype, form_.result.shape);
    std::vector<std::int64_t> indices(form_.extents.size(), 0);
    visit_dtype(form_.result.dtype, [&]<class T>() {
      T* out = result.data<T>();
      for_each(own_indices(), indices.data(), [&] { *out++ = value(indices.data()).as<T>(); });
    });
    return std::move(result).publish();
  }

 private:
  std::vector<int> own_indices() const {
    std::vector<int> own;
    for (int index = 0; index < form_.form.rank; ++index) own.push_back(index);
    return own;
  }

  /// All values of some indices, the last of them fastest.
  template <class Body>
  void for_each(const std::vector<int>& over, std::int64_t* indices, const Body& body) const {
    for (int index : over) {
      indices[index] = 0;
      if (form_.extents[static_cast<std::size_t>(index)] == 0) return;
    }
    while (true) {
      poll_.passed(steps_of_an_element);
      body();
      std::size_t d = over.size();
      while (d > 0 &&
             ++indices[over[d - 1]] == form_.extents[static_cast<std::size_t>(over[d - 1])])
        indices[over[--d]] = 0;
      if (d == 0) return;
    }
  }

  Evaluate evaluation(const Term& term) {
    return std::visit([&](const auto& node) { return of(node, term); }, term->node);
  }
  std::vector<Evaluate> evaluations(const std::vector<Term>& terms) {
    std::vector<Evaluate> all;
    for (const Term& term : terms) all.push_back(evaluation(term));
    return all;
  }

  Evaluate of(const term::Number& node, const Term&) {
    return [value = node.value](std::int64_t*) { return value; };
  }
  Evaluate of(const term::Position& node, const Term&) {
    return [index = node.index](std::int64_t* indices) { return Scalar(indices[index]); };
  }
  Evaluate of(const term::Element& node, const Term&) {
    const Tile& tile = arguments_[static_cast<std::size_t>(node.argument)];
    return visit_dtype(tile.dtype(), [&]<class T>() -> Evaluate {
      return [&tile, first = tile.data<T>(),
              at = evaluations(node.at)](std::int64_t* indices) -> Scalar {
        const T* element = first;
        for (std::size_t d = 0; d < at.size(); ++d) {
          const auto where = at[d](indices).template as<std::int64_t>();
          const std::int64_t extent = tile.shape()[static_cast<int>(d)];
          TESSERA_REQUIRE(ValueError, where >= 0 && where < extent,
                          "index {} is out of bounds for dimension {} with size {}", where, d,
                          extent);
          element += where * tile.strides()[static_cast<int>(d)];
        }
        return *element;
      };
    });
  }
  Evaluate of(const term::Applied& node, const Term&) {
    std::vector<DType> dtypes;
    for (const Term& argument : node.arguments) dtypes.push_back(form_.dtype(argument));
    const DType working = node.function->working_dtype(dtypes);
    const auto function = node.function->evaluate[static_cast<int>(working)];
    std::vector<Evaluate> arguments = evaluations(node.arguments);
    if (arguments.size() == 1)
      return [=, a = arguments[0]](std::int64_t* indices) {
        const Scalar value = a(indices).cast(working);
        return function(&value);
      };
    return [=, a = arguments[0], b = arguments[1]](std::int64_t* indices) {
      const Scalar values[] = {a(indices).cast(working), b(indices).cast(working)};
      return function(values);
    };
  }
  Evaluate of(const term::Cast& node, const Term&) {
    return [value = evaluation(node.value), dtype = node.dtype](std::int64_t* indices) {
      return value(indices).cast(dtype);
    };
  }
  Evaluate of(const term::Choice& node, const Term& term) {
    return [condition = evaluation(node.condition), yes = evaluation(node.yes),
            no = evaluation(node.no), dtype = form_.dtype(term)](std::int64_t* indices) {
      return (condition(indices).as<bool>() ? yes : no)(indices).cast(dtype);
    };
  }
  Evaluate of(const term::Fold& node, const Term& term) {
    const DType values = form_.dtype(node.value), folded = form_.dtype(term);
    const bool places = gives_position(node.monoid);
    const DType working = state_dtype(node.monoid, values);
    const auto function =
        scalar_function(combination_of(node.monoid))->evaluate[static_cast<int>(working)];
    return [=, this, over = node.indices, value = evaluation(node.value),
            condition = node.condition == nullptr ? Evaluate() : evaluation(node.condition)](
               std::int64_t* indices) {
      Scalar state = places ? Scalar() : identity_of(node.monoid, working);
      std::int64_t place = -1, here = 0;
      for_each(over, indices, [&] {
        const std::int64_t at = here++;
        if (condition && !condition(indices).as<bool>()) return;
        const Scalar next = value(indices).cast(working);
        if (places) {
          if (place >= 0 && !better(node.monoid, next, state)) return;
          place = at;
          state = next;
        } else {
          const Scalar both[] = {state, next};
          state = function(both);
        }
      });
      return places ? Scalar(place) : state.cast(folded);
    };
  }

  static bool better(Monoid monoid, const Scalar& next, const Scalar& best) {
    return visit_dtype(best.dtype(), [&]<class T>() {
      const T a = next.as<T>(), b = best.as<T>();
      if (is_nan(b)) return false;
      return is_nan(a) || (monoid == Monoid::argmin ? a < b : a > b);
    });
  }

  static constexpr std::int64_t steps_of_an_element = 50;

  const TypedForm& form_;
  std::vector<Tile> arguments_;
  mutable StopPoll poll_{"an index form was interpreted"};
};

}  // namespace

Tile interpret(const TypedForm& form, std::span<const Tile> arguments) {
  return Interpreter(form, arguments).run();
}

}  // namespace tessera
