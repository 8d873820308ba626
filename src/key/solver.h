#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "key/expression.h"
#include "key/interval.h"

namespace tessera {

/// Z3, and how much it may be asked: about what it does in a time if the machine is idle. That
/// is counted in Z3's own steps, so that a busy machine gets the same answers; the clock ends it
/// only where steps take many times as long as they mostly do. Nothing is asked of Z3 before the
/// first query, because starting it takes longer than most questions do.
class KeySolver {
 public:
  using Clock = std::chrono::steady_clock;

  explicit KeySolver(Clock::duration time);
  ~KeySolver();
  KeySolver(const KeySolver&) = delete;
  KeySolver& operator=(const KeySolver&) = delete;

 private:
  friend class KeyQuery;
  struct Context;
  std::shared_ptr<Context> context();

  std::int64_t steps_left_;
  Clock::time_point deadline_;
  std::shared_ptr<Context> context_;  // until it was interrupted: then it may stay so for a while
};

/// One question: are there integers that satisfy certain conditions? Terms and conditions belong
/// to the query they are made by.
class KeyQuery {
 public:
  struct Term {
    int index;
  };
  struct Condition {
    int index;
  };
  struct Point {
    int index;
    std::vector<Term> components;
  };

  explicit KeyQuery(KeySolver& solver);
  ~KeyQuery();
  KeyQuery(const KeyQuery&) = delete;
  KeyQuery& operator=(const KeyQuery&) = delete;

  Term constant(std::int64_t value);
  Term unknown(const Interval& values);
  /// Of a division by 0 nothing is known.
  Term apply(Arithmetic op, Term a, Term b);
  Term choose(Condition condition, Term then, Term otherwise);

  Point point(std::vector<Term> components);
  Point unknown_point(const Bounds& bounds);
  Point constant_point(const Key& key);
  Term value(const KeyExpr& expr, const Point& point);

  Condition compare(Comparison op, Term a, Term b);
  Condition holds(const KeyPredicate& predicate, const Point& point);
  Condition equal(const Point& a, const Point& b);
  Condition all(const std::vector<Condition>& conditions);
  Condition any(const std::vector<Condition>& conditions);
  Condition negation(Condition condition);

  void require(Condition condition);
  /// Whether there are such integers; unknown where Z3 has done what it may, or gives up.
  Answer satisfiable();
  /// Values that satisfy the conditions, after a yes.
  std::int64_t solution(Term term) const;
  Key solution(const Point& point) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tessera
