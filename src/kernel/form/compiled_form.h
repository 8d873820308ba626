#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "kernel/form/index_form.h"

namespace tessera {

// What compiles index forms is a plug-in (kernel/jit), which is loaded when the first one is to be
// computed. This is all that the library and the plug-in know of each other.

/// What is compiled: a form for arguments of known dtypes and ranks. Extents and strides are
/// arguments of the code, so that it serves tiles of all shapes.
struct FormToCompile {
  const TypedForm& form;  // whose extents do not count
  /// Of each argument the dimension whose elements lie next to each other; -1 if there is none.
  std::vector<int> unit_dimensions;
  /// Positions that are no index by themselves are compared with the extents. Otherwise all are
  /// known to be inside, where they are read.
  bool checked = false;
  /// The value is a fold, and only some positions of its first index are folded at once. What comes
  /// out has the dtype that is folded in, and is combined with that of the others.
  bool partial = false;
};

/// Code for a form, which lives as long as this.
class CompiledForm {
 public:
  struct Arguments {
    const std::byte* const* first;         // elements
    const std::int64_t* strides;           // in elements, of all arguments one after the other
    const std::int64_t* argument_extents;  // likewise
    const std::int64_t* extents;           // of the indices of the form
    std::byte* result;                     // row-major
    bool (*is_stopped)();                  // asked once in a while
  };
  enum class End : int {
    done,
    stopped,
    outside,  // a position was not inside of its argument; there is no result
  };

  virtual ~CompiledForm() = default;
  /// Computes what belongs to the positions from `begin` to `end` of `shared_index`.
  virtual End run(const Arguments& arguments, std::int64_t begin, std::int64_t end) const = 0;
  /// The index of the form whose positions several calls may share; -1: one call does all.
  virtual int shared_index() const = 0;
};

class FormCompiler {
 public:
  virtual ~FormCompiler() = default;
  /// By several threads at once.
  virtual std::unique_ptr<const CompiledForm> compile(const FormToCompile& form) = 0;
};

/// What the plug-in exports under this name: a compiler that lives as long as the process; null if
/// there is none for this machine.
inline constexpr const char* form_compiler_symbol = "tessera_form_compiler";
using MakeFormCompiler = FormCompiler* (*)();

/// Null if there is no plug-in, or if TESSERA_JIT=off.
FormCompiler* form_compiler();

/// Computes a form by compiled code, or else by its definition. `text` is what the form was read
/// from, by which its code is found again. The arguments are dense.
Tile compute(const std::string& text, const TypedForm& form, std::span<const Tile> arguments);

/// Whether all positions that arguments are read at are inside of them, whatever values they hold.
bool reads_inside(const TypedForm& form);

/// The operations of a term and of what it is made of. A term is computed once for all values of
/// the indices that it reads, and a fold combines once for each value that it folds.
double operations(const TypedForm& form);

}  // namespace tessera
