// A deep network trained by recursive SQL, each time in a process of its own so that its peak can
// be seen: bench/framed.py runs this and compares.

#include <fmt/format.h>

#include <cmath>

#include "guarded.h"
#include "lang/sql/parser.h"
#include "query/versions/framing.h"
#include "resident.h"
#include "session/stored_definitions.h"
#include "support/network.h"
#include "tessera/session.h"
#include "timing.h"

namespace tessera::bench {
namespace {

using testing::Network;

Network network_of(int width, int batch, int tile) {
  Network network;
  network.sizes.assign(9, width);  // the input and eight hidden layers
  network.sizes.push_back(10);
  network.batch = batch;
  network.tile = tile;
  network.rate = 0.000001;
  // So that signals neither vanish nor grow from layer to layer.
  network.scale = 2 / std::sqrt(static_cast<double>(width));
  return network;
}

void make(const std::string& folder, const Network& network) {
  Session session(Database::open(folder));
  session.execute(testing::data_statements(network));
  session.execute(testing::pass_statements(network));
}

/// The weights after some iterations; a sum over each layer tells whether two ways agree.
void train(const std::string& folder, int iterations, int frame_size) {
  SessionOptions options;
  options.frame_size = frame_size;
  Session session(Database::open(folder), options);
  std::vector<double> sums;
  const double seconds = seconds_of([&] {
    session.execute(fmt::format("EXECUTE (FOR j IN 1...9: SELECT SUM(sum_elements(MAT * MAT)) "
                                "FROM W[{}][j])",
                                iterations),
                    [&](const StatementResult& result) {
                      if (result.table) sums.push_back(std::get<double>(result.table->at(0, 0)));
                    });
  });
  fmt::print("{{\"seconds\": {:.4f}, \"resident\": {}, \"sums\": [{:.17g}]}}\n", seconds,
             peak_resident(), fmt::join(sums, ", "));
}

/// Unrolls and cuts, and runs nothing.
void cut(const std::string& folder, int iterations, int frame_size) {
  const Database database = Database::open(folder);
  session::StoredDefinitions catalogue(database.snapshot());
  std::vector<query::Request> requests;
  for (int layer = 1; layer <= 9; ++layer)
    requests.push_back(
        {sql::parse_query(fmt::format("SELECT * FROM W[{}][{}]", iterations, layer))});
  query::Unrolled plan;
  query::Framing framing;
  const double unrolling = seconds_of([&] { plan = query::unroll(requests, catalogue); });
  const double cutting = seconds_of([&] {
    framing = query::framed(plan, {}, {frame_size / 4, frame_size});
  });
  fmt::print(
      "{{\"operators\": {}, \"versions\": {}, \"frames\": {}, \"breakers\": {:.1f}, \"unroll\": "
      "{:.4f}, "
      "\"cut\": {:.4f}, \"resident\": {}}}\n",
      plan.operators(), plan.instances.size(), framing.frames.size(), framing.expected_breakers,
      unrolling, cutting, peak_resident());
}

int main_of(const std::vector<std::string>& arguments) {
  const std::string& what = arguments.at(0);
  const std::string& folder = arguments.at(1);
  const auto number = [&](std::size_t which) { return std::stoi(arguments.at(which)); };
  if (what == "make") make(folder, network_of(number(2), number(3), number(4)));
  if (what == "cut") cut(folder, number(2), number(3));
  if (what == "train") train(folder, number(2), number(3));
  return 0;
}

}  // namespace
}  // namespace tessera::bench

int main(int argc, char** argv) {
  return tessera::bench::guarded(argc, argv, tessera::bench::main_of);
}
