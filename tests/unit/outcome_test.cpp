// How a statement has ended, as a text between processes.

#include "database/outcome.h"

#include <gtest/gtest.h>

#include "tessera/error.h"

namespace tessera {
namespace {

TEST(Outcome, ErrorsKeepTheirKindsOnTheirWay) {
  const std::string message = "no room at \"x\"\n\xff";
  const auto travel = [](auto error) {
    const Outcome sent = failure_of(std::make_exception_ptr(error));
    const Outcome arrived = outcome_of(to_text(sent));
    EXPECT_TRUE(arrived.failed());
    try {
      rethrow(arrived);
    } catch (const decltype(error)& caught) {
      return std::string(caught.kind()) + ": " + caught.what();
    } catch (const Error& other) {
      return std::string("another kind: ") + other.kind();
    }
  };
  EXPECT_EQ(travel(TypeError("a")), "TypeError: a");
  EXPECT_EQ(travel(PlanError("a")), "PlanError: a");
  EXPECT_EQ(travel(ValueError("a")), "ValueError: a");
  EXPECT_EQ(travel(OutOfMemory("a")), "OutOfMemory: a");
  EXPECT_EQ(travel(Interrupted("a")), "Interrupted: a");
  EXPECT_EQ(travel(InternalError("a")), "InternalError: a");
  EXPECT_EQ(travel(ClusterError("a")), "ClusterError: a");
  EXPECT_EQ(travel(ParseError("a", 3, 4)), "ParseError: a");
  EXPECT_EQ(outcome_of(to_text(failure_of(std::make_exception_ptr(ParseError("a", 3, 4))))).line,
            3);
  // What is no UTF-8 cannot travel as it is, and must not stop the rest.
  EXPECT_EQ(travel(IoError(message)), "IoError: no room at \"x\"\n\xef\xbf\xbd");
  EXPECT_EQ(failure_of(std::make_exception_ptr(std::runtime_error("b"))).kind, "ClusterError");
  EXPECT_EQ(outcome_of(to_text(Outcome{.result = "well"})).result, "well");
  EXPECT_FALSE(outcome_of(to_text(Outcome{.result = "well"})).failed());
}

}  // namespace
}  // namespace tessera
