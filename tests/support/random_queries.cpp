#include "support/random_queries.h"

#include <fmt/format.h>

#include <algorithm>

#include "support/query_tables.h"

namespace tessera::testing {
namespace {

enum class Kind { integer, number, truth, text, vector, matrix };

using Column = ColumnName<Kind>;
using Table = TableName<Kind>;

const std::vector<Table> tables{
    {"m", {{"r", Kind::integer}, {"c", Kind::integer}, {"x", Kind::matrix}}},
    {"h", {{"r", Kind::integer}, {"c", Kind::integer}, {"y", Kind::matrix}}},
    {"w", {{"k", Kind::integer}, {"v", Kind::vector}, {"d", Kind::number}}},
    {"s", {{"a", Kind::integer}, {"b", Kind::number}, {"t", Kind::text}, {"f", Kind::truth}}},
    {"none", {{"a", Kind::integer}, {"x", Kind::matrix}}},
};

class Generator : Choices {
 public:
  explicit Generator(std::mt19937& chance) : Choices(chance) {}

  std::string query() {
    if (below(12) == 0) return select() + (below(2) ? " UNION ALL " : " UNION ") + select();
    return select();
  }

 private:
  /// The kinds of a UNION's parts have to fit: the first part decides.
  std::string select() {
    columns_.clear();
    std::string from;
    const int count = 1 + (below(3) > 0 ? 0 : 1) + (below(8) == 0 ? 1 : 0);
    for (int i = 0; i < count; ++i) {
      const Table& table = below(20) == 0 ? tables[4] : tables[static_cast<std::size_t>(below(4))];
      const std::string alias = fmt::format("t{}", i);
      from += fmt::format("{}{} AS {}", i == 0 ? "" : ", ", table.name, alias);
      for (const Column& column : table.columns)
        columns_.push_back({alias + "." + column.name, column.kind});
    }
    std::vector<std::string> conditions;
    for (int i = 1; i < count; ++i)
      if (below(5) > 0) conditions.push_back(join_condition(i));
    for (int i = below(3); i > 0; --i) conditions.push_back(truth(2));
    std::string where;
    for (const std::string& condition : conditions)
      where += (where.empty() ? " WHERE " : " AND ") + condition;
    if (kinds_.empty()) {
      grouped_ = below(3) == 0;
      for (int i = 1 + below(3); i > 0; --i) kinds_.push_back(random_kind());
    }
    return grouped_ ? grouped_select(from, where) : plain_select(from, where);
  }

  std::string plain_select(const std::string& from, const std::string& where) {
    std::string items;
    for (Kind kind : kinds_) items += (items.empty() ? "" : ", ") + expression(kind, 2);
    return fmt::format("SELECT {}{} FROM {}{}", below(8) == 0 ? "DISTINCT " : "", items, from,
                       where);
  }

  std::string grouped_select(const std::string& from, const std::string& where) {
    std::vector<std::string> groups;
    for (int i = below(3); i > 0; --i)
      groups.push_back(below(4) == 0 ? integer(1) : column(Kind::integer));
    std::string items, by;
    for (const std::string& group : groups) by += (by.empty() ? " GROUP BY " : ", ") + group;
    for (Kind kind : kinds_) items += (items.empty() ? "" : ", ") + aggregate(kind, groups);
    const std::string having = below(6) == 0 ? " HAVING COUNT(*) > 1" : "";
    return fmt::format("SELECT {} FROM {}{}{}{}", items, from, where, by, having);
  }

  std::string aggregate(Kind kind, const std::vector<std::string>& groups) {
    if (kind == Kind::integer && !groups.empty() && below(2)) return one_of(groups);
    if (kind == Kind::integer && below(2)) return "COUNT(*)";
    static const std::vector<std::string> folds{"SUM", "MIN", "MAX"};
    if (kind == Kind::text)
      return below(2) ? "MIN(" + expression(kind, 0) + ")" : "MAX(" + expression(kind, 0) + ")";
    if (kind == Kind::truth) return fmt::format("COUNT(*) > {}", below(3));
    if (kind == Kind::number && below(3) == 0) return "AVG(" + integer(1) + ")";
    return one_of(folds) + "(" + expression(kind, 1) + ")";
  }

  std::string join_condition(int table) {
    std::vector<std::string> mine, others;
    for (const Column& known : columns_) {
      if (known.kind != Kind::integer) continue;
      const bool own = known.name.starts_with(fmt::format("t{}.", table));
      const int number = known.name[1] - '0';
      if (own) mine.push_back(known.name);
      if (number < table) others.push_back(known.name);
    }
    if (mine.empty() || others.empty()) return "TRUE";
    std::string right = one_of(others);
    if (below(5) == 0) right += fmt::format(" {} {}", below(2) ? "+" : "-", 1 + below(2));
    return one_of(mine) + (below(8) == 0 ? " <= " : " = ") + right;
  }

  Kind random_kind() {
    static const std::vector<Kind> often{Kind::integer, Kind::integer, Kind::number, Kind::truth,
                                         Kind::text,    Kind::vector,  Kind::matrix, Kind::matrix};
    return one_of(often);
  }

  std::string column(Kind kind) {
    const std::vector<std::string> fit = names_of(kind, columns_);
    return fit.empty() ? literal(kind) : one_of(fit);
  }

  std::string literal(Kind kind) {
    switch (kind) {
      case Kind::integer: return std::to_string(below(4));
      case Kind::number: return fmt::format("{}.5", below(3));
      case Kind::truth: return below(2) ? "TRUE" : "FALSE";
      case Kind::text: return below(2) ? "'ann'" : "'zoe'";
      case Kind::vector: return fmt::format("[{}, 2]", below(3));
      case Kind::matrix: return fmt::format("[[1, {}], [0, 2]]", below(3));
    }
    return "0";
  }

  std::string expression(Kind kind, int depth) {
    if (depth == 0 || below(4) == 0) return column(kind);
    switch (kind) {
      case Kind::integer: return integer(depth);
      case Kind::number: return number(depth);
      case Kind::truth: return truth(depth);
      case Kind::text:
        return below(3) == 0 ? fmt::format("CASE WHEN {} THEN {} ELSE {} END", truth(depth - 1),
                                           column(kind), literal(kind))
                             : column(kind);
      case Kind::vector:
        return below(2)
                   ? fmt::format("({} + {})", column(kind), expression(Kind::vector, depth - 1))
                   : fmt::format("row_sum({})", expression(Kind::matrix, depth - 1));
      case Kind::matrix: return matrix(depth);
    }
    return "0";
  }

  std::string integer(int depth) {
    if (depth == 0) return column(Kind::integer);
    static const std::vector<std::string> operators{"+", "-", "*"};
    if (below(8) == 0) return cast(depth);
    if (below(3) == 0)
      return fmt::format("({} {} {})", expression(Kind::integer, depth - 1), below(2) ? "//" : "%",
                         2 + below(2));
    return fmt::format("({} {} {})", expression(Kind::integer, depth - 1), one_of(operators),
                       below(2) ? literal(Kind::integer) : expression(Kind::integer, depth - 1));
  }

  /// Most fit; of those that are made large only zero does.
  std::string cast(int depth) {
    return fmt::format("CAST({}{} AS {})", expression(Kind::number, depth - 1),
                       below(10) == 0 ? " * 1e30" : "", below(2) ? "INT" : "BIGINT");
  }

  std::string number(int depth) {
    static const std::vector<std::string> operators{"+", "-", "*"};
    if (below(4) == 0) return fmt::format("sum_elements({})", expression(Kind::matrix, depth - 1));
    return fmt::format("({} {} {})", expression(Kind::number, depth - 1), one_of(operators),
                       expression(below(2) ? Kind::integer : Kind::number, depth - 1));
  }

  std::string truth(int depth) {
    static const std::vector<std::string> comparisons{"=", "<>", "<", "<=", ">", ">="};
    if (below(25) == 0)  // an error where the divisor is zero
      return fmt::format("({} {} {} = 1)", column(Kind::integer), below(2) ? "//" : "%",
                         column(Kind::integer));
    if (below(25) == 0)  // wraps around
      return fmt::format("({} * 4611686018427387904 {} {})", column(Kind::integer),
                         one_of(comparisons), column(Kind::integer));
    switch (below(6)) {
      case 0:
        return depth > 0 ? fmt::format("({} OR {})", truth(depth - 1), truth(depth - 1))
                         : column(Kind::truth);
      case 1: return depth > 0 ? fmt::format("(NOT {})", truth(depth - 1)) : column(Kind::truth);
      case 2:
        return fmt::format("({} {} {})", column(Kind::text), one_of(comparisons),
                           literal(Kind::text));
      case 3:
        return fmt::format("({} {} {})", expression(Kind::number, 1), one_of(comparisons),
                           literal(Kind::number));
      default: break;
    }
    return fmt::format("({} {} {})", expression(Kind::integer, 1), one_of(comparisons),
                       expression(Kind::integer, 1));
  }

  std::string matrix(int depth) {
    const std::string left = expression(Kind::matrix, depth - 1);
    switch (below(6)) {
      case 0: return fmt::format("matmul({}, {})", left, expression(Kind::matrix, depth - 1));
      case 1: return fmt::format("t({})", left);
      case 2:
        return fmt::format("({} * {})", left, literal(below(2) ? Kind::integer : Kind::number));
      case 3:
        return fmt::format("({} + {})", left, column(below(2) ? Kind::vector : Kind::integer));
      case 4: return fmt::format("relu({})", left);
      default: break;
    }
    return fmt::format("({} - {})", left, expression(Kind::matrix, depth - 1));
  }

  std::vector<Column> columns_;
  std::vector<Kind> kinds_;
  bool grouped_ = false;
};

}  // namespace

std::string tables_for_random_queries(std::mt19937& chance, int apart) {
  Choices choices(chance);
  const auto below = [&](int count) { return choices.below(count); };
  const auto matrix = [&] {
    return fmt::format("[[{}, {}], [{}, {}]]", below(5) - 2, below(5), below(3), below(5) - 1);
  };
  std::string m, h, w, s;
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 2; ++c) {
      m += fmt::format("{}({}, {}, {})", m.empty() ? "" : ", ", r * apart, c, matrix());
      // Some are missing, some are there twice.
      for (int times = below(3); times > 0; --times)
        h += fmt::format("{}({}, {}, {})", h.empty() ? "" : ", ", r * 2 * apart, c, matrix());
    }
  for (int k = 0; k < 4; ++k)
    w += fmt::format("{}({}, [{}, {}], {}.25)", k == 0 ? "" : ", ", k * apart, below(4),
                     below(4) - 2, below(3));
  static const char* names[] = {"ann", "bob", "zoe"};
  for (int i = 0; i < 6; ++i)
    s += fmt::format("{}({}, {}.5, '{}', {})", i == 0 ? "" : ", ", below(6) - 2, below(4) - 1,
                     names[below(3)], below(2) ? "TRUE" : "FALSE");
  if (h.empty()) h = fmt::format("(0, 1, {})", matrix());
  return fmt::format(
      "CREATE TABLE m (r INT, c INT, x MATRIX[2][2]);\n"
      "CREATE TABLE h (r INT, c INT, y MATRIX[2][2]);\n"
      "CREATE TABLE w (k INT, v VECTOR[2], d DOUBLE);\n"
      "CREATE TABLE s (a INT, b DOUBLE, t TEXT, f BOOLEAN);\n"
      "CREATE TABLE none (a INT, x MATRIX[2][2]);\n"
      "INSERT INTO m VALUES {};\nINSERT INTO h VALUES {};\nINSERT INTO w VALUES {};\n"
      "INSERT INTO s VALUES {};\n",
      m, h, w, s);
}

std::string random_query(std::mt19937& chance) { return Generator(chance).query(); }

}  // namespace tessera::testing
