#include "key/solver.h"

#include <z3++.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "base/stop.h"

namespace tessera {

namespace {

/// Interrupts Z3 when its time is up, or when a stop is asked for. One thread serves all queries of
/// a solver, where Z3's own timer would start one for each.
class Watchdog {
 public:
  using Clock = KeySolver::Clock;

  explicit Watchdog(z3::context& z3) : z3_(z3), thread_([this] { watch(); }) {}
  ~Watchdog() {
    set(Clock::time_point::max(), true);
    thread_.join();
  }
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  void interrupt_at(Clock::time_point time) { set(time, false); }
  /// Whether Z3 was interrupted since: what it said last then has no model that can be asked.
  bool stand_down() {
    set(Clock::time_point::max(), false);
    return interrupted_.exchange(false);  // only set while there is a time
  }

 private:
  void set(Clock::time_point time, bool done) {
    const std::lock_guard lock(mutex_);
    time_ = time;
    done_ = done;
    changed_.notify_one();
  }
  void watch() {
    std::unique_lock lock(mutex_);
    while (!done_) {
      if (time_ == Clock::time_point::max()) {
        changed_.wait(lock);
      } else if (Clock::now() < time_) {
        changed_.wait_until(lock, time_);
      } else {
        // Again and again: an interruption before Z3 has begun to work is lost.
        interrupted_ = true;
        z3_.interrupt();
        changed_.wait_for(lock, std::chrono::milliseconds(1));
      }
    }
  }

  z3::context& z3_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Clock::time_point time_ = Clock::time_point::max();
  bool done_ = false;
  std::atomic<bool> interrupted_ = false;
  std::thread thread_;
};

constexpr std::int64_t steps_a_millisecond = 350;  // of products, which are slow; sums: 1000
constexpr std::int64_t least_steps = 350;          // with fewer there is no use in asking
/// What a question costs besides: it is made before Z3 begins to count.
constexpr std::int64_t steps_to_ask = 50;
constexpr int patience = 10;  // times as long as the steps take on an idle machine

/// How many steps Z3 has made in all since its context was made.
std::int64_t steps_made(const z3::solver& solver) {
  const z3::stats statistics = solver.statistics();
  for (unsigned i = 0; i < statistics.size(); ++i)
    if (statistics.key(i) == "rlimit count") return statistics.uint_value(i);
  throw InternalError("this Z3 does not count its steps");
}

}  // namespace

struct KeySolver::Context {
  z3::context z3;
  Watchdog watchdog{z3};
};

KeySolver::KeySolver(Clock::duration time)
    : steps_left_(time / std::chrono::milliseconds(1) * steps_a_millisecond),
      deadline_(Clock::now() + patience * time) {}
KeySolver::~KeySolver() = default;

std::shared_ptr<KeySolver::Context> KeySolver::context() {
  if (!context_) context_ = std::make_shared<Context>();
  return context_;
}

struct KeyQuery::State {
  struct Division {
    Term quotient, remainder;
  };

  explicit State(KeySolver& owner)
      : solver(owner),
        context(owner.context()),
        z3(context->z3),
        assertions(z3, z3::solver::simple()) {
    // Interrupts from the keyboard belong to the program, not to its solver.
    z3::params parameters(z3);
    parameters.set("ctrl_c", false);
    assertions.set(parameters);
  }

  Term term(const z3::expr& expr) {
    terms.push_back(expr);
    return {static_cast<int>(terms.size()) - 1};
  }
  Condition condition(const z3::expr& expr) {
    conditions.push_back(expr);
    return {static_cast<int>(conditions.size()) - 1};
  }
  const z3::expr& operator[](Term term) const { return terms[term.index]; }
  const z3::expr& operator[](Condition condition) const { return conditions[condition.index]; }

  z3::expr integer(std::int64_t value) { return z3.int_val(value); }
  z3::expr fresh() { return {z3, Z3_mk_fresh_const(z3, "i", z3.int_sort())}; }

  /// The quotient and the remainder as unknowns that the division law determines: Z3 is at its
  /// best on linear equations, and both halves of a division share them.
  Division divide(Term dividend, Term divisor) {
    const auto pair = std::pair((*this)[dividend].id(), (*this)[divisor].id());
    const auto known = divisions.find(pair);
    if (known != divisions.end()) return known->second;
    const z3::expr a = (*this)[dividend], b = (*this)[divisor], q = fresh(), r = fresh();
    const z3::expr law = a == b * q + r;
    assertions.add(z3::implies(b > 0, law && r >= 0 && r < b).simplify());
    assertions.add(z3::implies(b < 0, law && r <= 0 && r > b).simplify());
    return divisions.emplace(pair, Division{term(q), term(r)}).first->second;
  }

  KeySolver& solver;
  const std::shared_ptr<KeySolver::Context> context;
  z3::context& z3;
  bool interrupted = false;  // as time was up: nothing more can be asked
  z3::solver assertions;
  std::optional<z3::model> model;
  std::vector<z3::expr> terms;
  std::vector<z3::expr> conditions;
  int points = 0;
  std::map<std::pair<unsigned, unsigned>, Division> divisions;
  std::map<std::pair<const KeyExpr::Node*, int>, Term> values;
};

namespace {

[[noreturn]] void refuse(const std::string& name) {
  throw InternalError("nothing can be asked about the opaque " + name);
}

}  // namespace

KeyQuery::KeyQuery(KeySolver& solver) : state_(std::make_unique<State>(solver)) {}
KeyQuery::~KeyQuery() = default;

KeyQuery::Term KeyQuery::constant(std::int64_t value) {
  return state_->term(state_->integer(value));
}

KeyQuery::Term KeyQuery::unknown(const Interval& values) {
  const z3::expr variable = state_->fresh();
  state_->assertions.add(variable >= state_->integer(values.low));
  state_->assertions.add(variable <= state_->integer(values.high));
  return state_->term(variable);
}

KeyQuery::Term KeyQuery::apply(Arithmetic op, Term a, Term b) {
  State& state = *state_;
  switch (op) {
    case Arithmetic::add: return state.term(state[a] + state[b]);
    case Arithmetic::subtract: return state.term(state[a] - state[b]);
    case Arithmetic::multiply: return state.term(state[a] * state[b]);
    case Arithmetic::divide: return state.divide(a, b).quotient;
    case Arithmetic::modulo: return state.divide(a, b).remainder;
  }
  return a;
}

KeyQuery::Term KeyQuery::choose(Condition condition, Term then, Term otherwise) {
  State& state = *state_;
  return state.term(z3::ite(state[condition], state[then], state[otherwise]));
}

KeyQuery::Point KeyQuery::point(std::vector<Term> components) {
  return {state_->points++, std::move(components)};
}

KeyQuery::Point KeyQuery::unknown_point(const Bounds& bounds) {
  std::vector<Term> components;
  for (const Interval& interval : bounds) components.push_back(unknown(interval));
  return point(std::move(components));
}

KeyQuery::Point KeyQuery::constant_point(const Key& key) {
  std::vector<Term> components;
  for (const std::int64_t component : key) components.push_back(constant(component));
  return point(std::move(components));
}

KeyQuery::Term KeyQuery::value(const KeyExpr& expr, const Point& point) {
  const auto place = std::pair(&expr.node(), point.index);
  const auto known = state_->values.find(place);
  if (known != state_->values.end()) return known->second;
  const Term result = std::visit(
      Match{[&](const KeyExpr::Node::Constant& form) { return constant(form.value); },
            [&](const KeyExpr::Node::Component& form) { return point.components[form.index]; },
            [&](const KeyExpr::Node::Operation& form) {
              const Term left = value(form.left, point);
              return apply(form.op, left, value(form.right, point));
            },
            [](const KeyExpr::Node::Opaque& form) -> Term { refuse(form.name); }},
      expr.node().form);
  state_->values.emplace(place, result);
  return result;
}

KeyQuery::Condition KeyQuery::compare(Comparison op, Term a, Term b) {
  State& state = *state_;
  const z3::expr &x = state[a], &y = state[b];
  switch (op) {
    case Comparison::equal: return state.condition(x == y);
    case Comparison::not_equal: return state.condition(x != y);
    case Comparison::less: return state.condition(x < y);
    case Comparison::less_equal: return state.condition(x <= y);
    case Comparison::greater: return state.condition(x > y);
    case Comparison::greater_equal: return state.condition(x >= y);
  }
  return all({});
}

KeyQuery::Condition KeyQuery::holds(const KeyPredicate& predicate, const Point& point) {
  return std::visit(
      Match{[&](const KeyPredicate::Node::Truth& form) { return form.value ? all({}) : any({}); },
            [&](const KeyPredicate::Node::Relation& form) {
              const Term left = value(form.left, point);
              return compare(form.op, left, value(form.right, point));
            },
            [&](const KeyPredicate::Node::Junction& form) {
              const Condition left = holds(form.left, point);
              const Condition right = holds(form.right, point);
              return form.conjunction ? all({left, right}) : any({left, right});
            },
            [&](const KeyPredicate::Node::Negation& form) {
              return negation(holds(form.operand, point));
            },
            [](const KeyPredicate::Node::Opaque& form) -> Condition { refuse(form.name); }},
      predicate.node().form);
}

KeyQuery::Condition KeyQuery::equal(const Point& a, const Point& b) {
  std::vector<Condition> conditions;
  for (std::size_t i = 0; i < a.components.size(); ++i)
    conditions.push_back(compare(Comparison::equal, a.components[i], b.components[i]));
  return all(conditions);
}

KeyQuery::Condition KeyQuery::all(const std::vector<Condition>& conditions) {
  z3::expr_vector parts(state_->z3);
  for (const Condition condition : conditions) parts.push_back((*state_)[condition]);
  return state_->condition(z3::mk_and(parts));
}

KeyQuery::Condition KeyQuery::any(const std::vector<Condition>& conditions) {
  z3::expr_vector parts(state_->z3);
  for (const Condition condition : conditions) parts.push_back((*state_)[condition]);
  return state_->condition(z3::mk_or(parts));
}

KeyQuery::Condition KeyQuery::negation(Condition condition) {
  return state_->condition(!(*state_)[condition]);
}

void KeyQuery::require(Condition condition) {
  if (!state_->interrupted) state_->assertions.add((*state_)[condition]);
}

Answer KeyQuery::satisfiable() {
  // Half of what is left: Z3 stops a little late, and there may be other questions to ask.
  KeySolver& solver = state_->solver;
  const std::int64_t most_steps = solver.steps_left_ / 2;
  const auto now = KeySolver::Clock::now();
  const auto most_time = (solver.deadline_ - now) / 2;
  if (most_steps < least_steps || most_time < std::chrono::milliseconds(1)) return Answer::unknown;
  if (state_->interrupted) return Answer::unknown;
  z3::params limit(state_->z3);
  limit.set("rlimit", static_cast<unsigned>(std::min<std::int64_t>(
                          most_steps, std::numeric_limits<unsigned>::max())));
  state_->assertions.set(limit);
  const std::int64_t before = steps_made(state_->assertions);
  Watchdog& watchdog = state_->context->watchdog;
  watchdog.interrupt_at(now + most_time);
  z3::check_result result = z3::unknown;
  try {
    const std::stop_callback at_once(heard_stop(), [&] { watchdog.interrupt_at(now); });
    result = state_->assertions.check();
    if (result == z3::sat) state_->model = state_->assertions.get_model();
  } catch (const z3::exception&) {
    result = z3::unknown;  // Z3 reports a limit it has hit, such as memory, in this way too
  }
  state_->interrupted = watchdog.stand_down();
  solver.steps_left_ -= steps_made(state_->assertions) - before + steps_to_ask;
  if (state_->interrupted) solver.context_.reset();
  refuse_if_stopped("keys were reasoned about");
  if (result == z3::unsat) return Answer::no;
  return result == z3::sat && !state_->interrupted ? Answer::yes : Answer::unknown;
}

std::int64_t KeyQuery::solution(Term term) const {
  return state_->model->eval((*state_)[term], true).get_numeral_int64();
}

Key KeyQuery::solution(const Point& point) const {
  Key key;
  for (const Term component : point.components) key.push_back(solution(component));
  return key;
}

}  // namespace tessera
