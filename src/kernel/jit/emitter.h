#pragma once

#include <llvm/IR/Module.h>

#include <functional>
#include <unordered_map>

#include "kernel/jit/scalar_code.h"
#include "kernel/jit/schedule.h"

namespace tessera::jit {

/// Writes a function for a form, with the parameters of `FormFunction`.
///
/// Code lies in scopes: the function, loops, branches. A term is computed in the outermost scope
/// where all indices that it reads have values, and is then known in all scopes inside. So code may
/// be added to an outer scope while an inner one is written: a scope ends, and is entered from the
/// one around it, only when all of it is written.
class Emitter {
 public:
  Emitter(const Schedule& schedule, llvm::Module& module);
  void emit(const std::string& name);

 private:
  enum Parameter { result, first, strides, argument_extents, extents, begin, end, is_stopped };

  struct Scope {
    Scope* outer = nullptr;
    llvm::BasicBlock* current = nullptr;  // where its code goes on
    int index = -1;                       // that has a value here
    llvm::Value* position = nullptr;      // the value
    bool is_branch = false;
    bool has_loops = false;
    std::unordered_map<const TermNode*, llvm::Value*> known = {};
  };
  /// While it lives, code goes to another scope.
  class In {
   public:
    In(Emitter& emitter, Scope& scope) : emitter_(emitter), before_(emitter.here_) {
      emitter.enter(&scope);
    }
    ~In() { emitter_.enter(before_); }
    In(const In&) = delete;
    In& operator=(const In&) = delete;

   private:
    Emitter& emitter_;
    Scope* before_;
  };
  struct Loop {
    Scope body;
    llvm::BasicBlock *header = nullptr, *after = nullptr;
    llvm::PHINode* position = nullptr;
    llvm::Value *from = nullptr, *step = nullptr;
    int values_before = 0;
  };
  /// Where a fold keeps what it has folded so far.
  struct State {
    DType dtype;
    llvm::Value* value;            // an address
    llvm::Value* place = nullptr;  // likewise, of folds that give a position
  };
  struct Strip {
    llvm::Value *from, *to;
  };

  // Scopes and loops (emit_loops.cpp)
  void enter(Scope* scope);
  void continue_in(llvm::BasicBlock* block);
  llvm::BasicBlock* new_block(const char* name);
  llvm::Value* local(llvm::Type* type, std::int64_t count = 1);
  void open(Loop& loop, int index, llvm::Value* from, llvm::Value* to, llvm::Value* step = nullptr);
  void close(Loop& loop);
  void count_steps(llvm::Value* steps);
  /// A loop that can be long: in strips, with a look for a stop behind each.
  void in_strips(llvm::Value* from, llvm::Value* to, std::int64_t size,
                 const std::function<void(const Strip&)>& body);
  void lane_loop(int index, const Strip& strip, const std::function<void()>& body);
  void plain_loops(const std::vector<int>& indices, const std::function<void()>& body);
  void branch(llvm::Value* condition, const std::function<void()>& yes,
              const std::function<void()>& no);
  llvm::Value* extent(int index);
  llvm::Value* parameter_element(Parameter parameter, std::int64_t place);

  // The result (emit_form.cpp)
  void emit_results(int depth, const Strip* strip);
  void emit_lanes(const Strip& strip);
  llvm::Value* result_address();

  // Terms (emit_terms.cpp)
  llvm::Value* value(const Term& term);
  llvm::Value* value_as(const Term& term, DType dtype);
  llvm::Value* of(const term::Number& node, const Term& term);
  llvm::Value* of(const term::Position& node, const Term& term);
  llvm::Value* of(const term::Element& node, const Term& term);
  llvm::Value* of(const term::Applied& node, const Term& term);
  llvm::Value* of(const term::Cast& node, const Term& term);
  llvm::Value* of(const term::Choice& node, const Term& term);
  llvm::Value* of(const term::Fold& node, const Term& term);
  llvm::Value* found(const Term& term) const;
  Scope* home(const Term& term) const;
  /// The scope where an index has its value.
  Scope& scope_of(int index) const;
  bool is_bound(const Term& term) const;
  /// Whether it is to be computed only where it is needed: it may read outside of an argument
  /// elsewhere, or takes a loop.
  bool is_on_demand(const Term& term) const;
  llvm::Value* stride(int argument, int dimension);
  int place_of(int argument, int dimension) const;

  // Folds (emit_folds.cpp)
  State new_state(const Term& fold, std::int64_t count);
  void start(const Term& fold, const State& state);
  void step(const Term& fold, const State& state);
  void update(const Term& fold, const State& state, llvm::Value* next, llvm::Value* counts);
  llvm::Value* place(const term::Fold& fold);
  llvm::Value* finished(const Term& fold, const State& state);
  void fold_across(const Term& fold, const Strip& strip);
  State at_lane(const State& states);
  llvm::Value* value_across(const Term& fold);

  const Schedule& schedule_;
  llvm::Module& module_;
  llvm::IRBuilder<> b_;
  ScalarCode code_;
  llvm::Function* function_ = nullptr;
  Scope entry_;
  Scope* here_ = nullptr;
  llvm::BasicBlock* locals_ = nullptr;   // the first block, with all allocations
  llvm::BasicBlock* stopped_ = nullptr;  // returns
  llvm::Value* budget_ = nullptr;        // steps until somebody looks for a stop
  llvm::Value* outside_ = nullptr;       // not 0: a position was not inside of its argument
  int values_ = 0;                       // that were written, as a measure of a loop's body
  std::unordered_map<const TermNode*, State> strips_;  // folds across that are known
  llvm::Value* strip_begin_ = nullptr;
  std::map<std::pair<Parameter, std::int64_t>, llvm::Value*> parameter_elements_;
};

/// What the function has to be called with, and `CompiledForm::End`.
using FormFunction = int (*)(std::byte* result, const std::byte* const* first,
                             const std::int64_t* strides, const std::int64_t* argument_extents,
                             const std::int64_t* extents, std::int64_t begin, std::int64_t end,
                             bool (*is_stopped)());

}  // namespace tessera::jit
