// What a run is said to need and to take, against what it takes.

#include <gtest/gtest.h>

#include "support/expectations.h"
#include "support/tight_memory.h"

namespace tessera {
namespace {

struct ProductShape {
  const char* name;
  Plan plan;
};

Plan turned(const Plan& plan) { return plan.transform("transpose").rekey("<i, j> -> <j, i>"); }

std::vector<ProductShape> shapes() {
  const Plan a = from_source(512, 32, 1), b = from_source(512, 32, 7000);
  return {
      {"sum of tiles", a.aggregate({}, "add")},
      {"sum of elements",
       a.transform("exp").transform("neg").transform("sum").aggregate({}, "add")},
      {"sums of columns", a.aggregate({1}, "add")},
      {"softmax", a.transform("softmax")},
      {"transpose", turned(a)},
      {"product", product(a, b)},
      {"product with a transpose", product(turned(a), b)},
      {"chain of products", product(product(a, b), a)},
      {"sum with its transpose", a.join(turned(a), {0, 1}, {0, 1}, "add")},
      {"rows joined", a.concat(1, 1)},
      {"rows joined and cut", a.concat(1, 1).transform("softmax").tile(1, 32)},
  };
}

TEST(Forecast, ARunHoldsNoMoreThanItIsSaidTo) {
  for (const ProductShape& shape : shapes())
    for (const std::int64_t tiles : {40, 120, 5000})
      for (const int threads : {1, 2, 4}) {
        const RunOptions options = within(tiles * tile_bytes, threads);
        const MemoryForecast foreseen = forecast(shape.plan, options, Results::handed_over);
        RunReport report;
        (void)run_into({shape.plan}, nowhere, options, &report);
        EXPECT_LE(report.peak_bytes, foreseen.peak) << shape.name << ", " << tiles << " tiles";
        EXPECT_LE(foreseen.peak, options.memory_limit) << shape.name << ", " << tiles << " tiles";
      }
}

TEST(Forecast, WhatIsReadAheadIsLittle) {
  // Where tiles come and go one by one, no more are in memory than keep the threads busy.
  const Plan a = from_source(512, 32, 1);
  for (const Plan& plan :
       {a.transform("softmax"), turned(a), a.transform("exp").transform("sum")}) {
    const RunOptions options = within(200 * tile_bytes, 2);
    EXPECT_LE(forecast(plan, options, Results::handed_over).peak, 40 * tile_bytes);
  }
}

TEST(Forecast, ARunDoesWithWhatItNeedsAndNotWithLess) {
  for (const ProductShape& shape : shapes())
    for (const Results results : {Results::kept, Results::handed_over}) {
      const std::int64_t needed = forecast(shape.plan, within(1 << 30), results).needed;
      const auto carry_out = [&](std::int64_t limit) {
        RunReport report;
        if (results == Results::kept)
          (void)run(shape.plan, within(limit), &report);
        else
          (void)run_into({shape.plan}, nowhere, within(limit), &report);
        return report.peak_bytes;
      };
      EXPECT_EQ(forecast(shape.plan, within(needed), results).needed, needed);
      EXPECT_LE(carry_out(needed), needed) << shape.name;
      EXPECT_THROW(carry_out(needed - 1), OutOfMemory) << shape.name;
    }
}

TEST(Forecast, AdviceIsOfUse) {
  const Plan plan = product(from_source(256, 32, 1), from_source(256, 32, 2));
  EXPECT_ERROR(OutOfMemory, run(plan, within(100'000)),
               "store the result in a database instead of reading it, or raise memory_limit to at "
               "least 524288 bytes");
  EXPECT_ERROR(
      OutOfMemory, run_into({plan}, nowhere, within(20'000)),
      "but the limit is 20.0 kB: use smaller tiles, or raise memory_limit to at least 24576 bytes");
}

}  // namespace
}  // namespace tessera
