#pragma once

#include <stdexcept>
#include <string>

namespace tessera {

/// Everything Tessera throws. The message says what happened, where, the values involved, and
/// what to do about it; `kind()` names the class for front ends that print it.
class Error : public std::runtime_error {
 public:
  Error(const char* kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  const char* kind() const noexcept { return kind_; }

 private:
  const char* kind_;
};

/// Text that cannot be read. `line` and `column` count from 1.
class ParseError : public Error {
 public:
  ParseError(const std::string& message, int at_line, int at_column)
      : Error("ParseError", message), line(at_line), column(at_column) {}
  int line;
  int column;
};

/// Shapes, dtypes, arities or names that do not fit together.
struct TypeError : Error {
  explicit TypeError(const std::string& message) : Error("TypeError", message) {}
};

/// A plan that breaks an integrity constraint: a duplicate key, a hole, a negative key.
struct PlanError : Error {
  explicit PlanError(const std::string& message) : Error("PlanError", message) {}
};

/// Well-typed data on which an operation has no answer: a singular matrix, a division by zero.
struct ValueError : Error {
  explicit ValueError(const std::string& message) : Error("ValueError", message) {}
};

struct IoError : Error {
  explicit IoError(const std::string& message) : Error("IoError", message) {}
};

struct OutOfMemory : Error {
  explicit OutOfMemory(const std::string& message) : Error("OutOfMemory", message) {}
};

struct Interrupted : Error {
  explicit Interrupted(const std::string& message) : Error("Interrupted", message) {}
};

/// Another process of the cluster has failed, and says why itself.
struct ClusterError : Error {
  explicit ClusterError(const std::string& message) : Error("ClusterError", message) {}
};

/// Our own bug: please report it.
struct InternalError : Error {
  explicit InternalError(const std::string& message) : Error("InternalError", message) {}
};

}  // namespace tessera
