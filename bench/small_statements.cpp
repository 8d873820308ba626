// What a statement costs that has nothing to do: medians, in one session on a temporary database,
// each against the time that it may take; and what the shell adds to it.

#include "shell/shell.h"
#include "timing.h"

namespace {

using namespace tessera;

constexpr int repetitions = 301;

double median_of(const std::function<void()>& statement, const std::function<void()>& after = {}) {
  std::vector<double> seconds;
  for (int i = 0; i < repetitions; ++i) {
    seconds.push_back(bench::seconds_of(statement));
    if (after) after();
  }
  return bench::median(seconds);
}

bool report(const std::string& name, double seconds, double bar) {
  bench::report(name, fmt::format("{:g} ms", bar * 1e3), {seconds, bar}, seconds / bar, "<= 1.0");
  return seconds <= bar;
}

}  // namespace

int main() {
  Session session(Database::temporary());
  (void)session.execute(
      "CREATE TABLE A (i INT, k INT, mat MATRIX[2][2]);"
      "CREATE TABLE B (k INT, j INT, mat MATRIX[2][2]);"
      "INSERT INTO A VALUES (0, 0, [[1, 2], [3, 4]]);"
      "INSERT INTO B VALUES (0, 0, [[5, 6], [7, 8]]);"
      "CREATE TENSOR X AS [[1, 2], [3, 4]];");
  const std::string product =
      "SELECT A.i, B.j, SUM(matrix_multiply(A.mat, B.mat)) AS mat FROM A, B WHERE A.k = B.k "
      "GROUP BY A.i, B.j";
  const std::string literals = "SELECT [[1, 2], [3, 4]] @ [[5, 6], [7, 8]]";
  const auto run = [&](const std::string& text) {
    return [&session, text] { (void)session.execute(text); };
  };

  bool all = true;
  all &= report("SELECT 1 + 1", median_of(run("SELECT 1 + 1")), 0.2e-3);
  all &= report("a 2x2 product of literals", median_of(run(literals)), 0.6e-3);
  all &= report("a 2x2 product of tables", median_of(run(product)), 0.6e-3);
  all &= report("a 2x2 product as a new tensor",
                median_of(run("CREATE TENSOR C AS X @ X"), run("DROP TENSOR C")), 2e-3);
  all &= report("a 2x2 product as a new table",
                median_of(run("CREATE TABLE C AS " + product), run("DROP TABLE C")), 2e-3);

  shell::Shell shell;
  shell.output().to_file("/dev/null");
  Session& its_session = shell.session();
  const auto [with, without] = bench::compare(
      repetitions, [&] { (void)shell.run_text("SELECT 1 + 1;"); },
      [&] { (void)its_session.execute("SELECT 1 + 1;"); });
  all &= report("what the shell adds", with - without, 0.3e-3);
  return all ? 0 : 1;
}
