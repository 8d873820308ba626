#include <dlfcn.h>

#include <cstdlib>
#include <string_view>

#include "base/memory_account.h"
#include "base/plug_in.h"
#include "kernel/form/compiled_form.h"

namespace tessera {
namespace {

FormCompiler* loaded_compiler() {
  // The compiler is the process's and not a statement's.
  const OpenAccount none(nullptr);
  const PlugIn found = load_plug_in("libtessera_jit.so", RTLD_NOW | RTLD_LOCAL);
  if (found.library == nullptr) return nullptr;
  const auto make = reinterpret_cast<MakeFormCompiler>(dlsym(found.library, form_compiler_symbol));
  return make == nullptr ? nullptr : make();
}

}  // namespace

FormCompiler* form_compiler() {
  const char* said = std::getenv("TESSERA_JIT");
  if (said != nullptr && std::string_view(said) == "off") return nullptr;
  static FormCompiler* const compiler = loaded_compiler();
  return compiler;
}

}  // namespace tessera
