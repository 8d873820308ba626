#include "support/scalar_queries.h"

#include <fmt/format.h>

#include "support/query_tables.h"

namespace tessera::testing {
namespace {

enum class Kind { integer, number, truth, text };

using Column = ColumnName<Kind>;
using Table = TableName<Kind>;

const std::vector<Table> tables{
    {"p", {{"a", Kind::integer}, {"b", Kind::number}, {"t", Kind::text}}},
    {"q", {{"a", Kind::integer}, {"k", Kind::integer}, {"u", Kind::text}}},
    {"r", {{"x", Kind::number}, {"y", Kind::number}, {"k", Kind::integer}}},
    {"none", {{"a", Kind::integer}, {"b", Kind::number}, {"t", Kind::text}}},
};

/// Stand for where NULLs come in an order, which SQLite has to be told.
constexpr char nulls_last = '\x01', nulls_first = '\x02';

class Generator : Choices {
 public:
  explicit Generator(std::mt19937& chance) : Choices(chance) {}

  ScalarQuery query() {
    for (int i = 1 + below(3); i > 0; --i) kinds_.push_back(random_kind());
    std::string text = select(2);
    for (int i = below(6) == 0 ? 1 + below(2) : 0; i > 0; --i)
      text += (below(2) ? " UNION ALL " : " UNION ") + select(1);
    ScalarQuery result;
    result.ordered = below(3) == 0;
    if (result.ordered) {
      for (std::size_t c = 0; c < kinds_.size(); ++c) {
        const bool falls = below(3) == 0;
        text += fmt::format("{} c{}{}", c == 0 ? " ORDER BY" : ",", c, falls ? " DESC" : "");
        text += falls ? nulls_first : nulls_last;
      }
      if (below(2)) {
        text += fmt::format(" LIMIT {}", below(6));
        if (below(2)) text += fmt::format(" OFFSET {}", below(4));
      }
    }
    if (below(10) == 0 && !result.ordered) {
      std::string columns;
      for (std::size_t c = 0; c < kinds_.size(); ++c)
        columns += fmt::format("{}c{}", c == 0 ? "" : ", ", c);
      text = fmt::format("WITH w AS ({}) SELECT {} FROM w", text, columns);
    }
    for (char c : text) {
      const bool first = c == nulls_first, last = c == nulls_last;
      if (!first && !last) result.text.ours += c;
      result.text.sqlite += first ? " NULLS FIRST" : last ? " NULLS LAST" : std::string(1, c);
    }
    return result;
  }

 private:
  Kind random_kind() {
    return one_of<Kind>({Kind::integer, Kind::integer, Kind::number, Kind::truth, Kind::text});
  }

  /// A SELECT of the kinds that were chosen, whose columns are called c0, c1 and so on.
  std::string select(int depth) {
    const std::vector<Column> outside = columns_;
    columns_.clear();
    std::string from, where;
    const int count = 1 + (below(2) ? 0 : 1) + (below(8) == 0 ? 1 : 0);
    for (int i = 0; i < count; ++i) from += source(i, depth);
    for (int i = below(3); i > 0; --i)
      where += (where.empty() ? " WHERE " : " AND ") + truth(depth);
    std::string items, groups, having;
    const bool grouped = below(3) == 0;
    std::vector<Column> by;
    if (grouped) {
      for (int i = below(3); i > 0; --i) {
        const Column& column = one_of(columns_);
        by.push_back(below(4) == 0 && column.kind == Kind::integer
                         ? Column{fmt::format("({} + 1)", column.name), Kind::integer}
                         : column);
        groups += (groups.empty() ? " GROUP BY " : ", ") + by.back().name;
      }
      if (!by.empty() && below(3) == 0)
        having =
            fmt::format(" HAVING {}", below(2) ? "COUNT(*) > 1" : "MAX(" + integer(0) + ") >= 0");
    }
    for (std::size_t c = 0; c < kinds_.size(); ++c)
      items += fmt::format("{}{} AS c{}", c == 0 ? "" : ", ",
                           grouped ? aggregate(kinds_[c], by) : expression(kinds_[c], depth), c);
    columns_ = outside;
    return fmt::format("SELECT {}{} FROM {}{}{}{}", below(6) == 0 ? "DISTINCT " : "", items, from,
                       where, groups, having);
  }

  /// A table of the FROM clause, with the condition that joins it to those before.
  std::string source(int number, int depth) {
    const std::string alias = fmt::format("{}{}", static_cast<char>('s' + depth), number);
    const Table& table = below(12) == 0 ? tables[3] : tables[below(3)];
    std::string text = table.name;
    if (below(6) == 0) {
      std::string names;
      for (const Column& column : table.columns) names += (names.empty() ? "" : ", ") + column.name;
      text = fmt::format("(SELECT {}{} FROM {})", below(2) ? "DISTINCT " : "", names, table.name);
    }
    std::string before;
    for (const Column& known : columns_)
      if (known.kind == Kind::integer) before = below(2) || before.empty() ? known.name : before;
    for (const Column& column : table.columns)
      columns_.push_back({alias + "." + column.name, column.kind});
    if (number == 0) return fmt::format("{} AS {}", text, alias);
    std::string own;
    for (const Column& column : table.columns)
      if (column.kind == Kind::integer) own = alias + "." + column.name;
    if (before.empty() || below(4) == 0) return fmt::format(" CROSS JOIN {} AS {}", text, alias);
    return fmt::format(" JOIN {} AS {} ON {} {} {}", text, alias, before, below(5) == 0 ? "<" : "=",
                       own);
  }

  std::string aggregate(Kind kind, const std::vector<Column>& by) {
    const std::vector<std::string> fit = names_of(kind, by);
    if (!fit.empty() && below(2)) return one_of(fit);
    const std::string distinct = below(5) == 0 ? "DISTINCT " : "";
    switch (kind) {
      case Kind::integer:
        if (below(3) == 0) return "COUNT(*)";
        if (below(3) == 0)
          return fmt::format("COUNT({}{})", distinct, expression(random_kind(), 1));
        return fmt::format("{}({}{})", one_of<std::string>({"SUM", "MIN", "MAX"}), distinct,
                           expression(Kind::integer, 1));
      case Kind::number:
        return fmt::format("{}({}{})", one_of<std::string>({"SUM", "MIN", "MAX", "AVG"}), distinct,
                           expression(Kind::number, 1));
      case Kind::truth: return fmt::format("(COUNT(*) > {})", below(4));
      case Kind::text: break;
    }
    return fmt::format("{}({})", below(2) ? "MIN" : "MAX", expression(Kind::text, 1));
  }

  std::string column(Kind kind) {
    const std::vector<std::string> fit = names_of(kind, columns_);
    return fit.empty() || below(12) == 0 ? literal(kind) : one_of(fit);
  }

  std::string literal(Kind kind) {
    switch (kind) {
      case Kind::integer: return std::to_string(below(5));
      case Kind::number: return fmt::format("{}.25", below(3));
      case Kind::truth: return below(2) ? "TRUE" : "FALSE";
      case Kind::text: break;
    }
    return one_of<std::string>({"'ann'", "'zoe'", "''", "'it''s'"});
  }

  std::string expression(Kind kind, int depth) {
    if (depth <= 0) return column(kind);
    switch (below(9)) {
      case 0: return conditional(kind, depth - 1);
      case 1:
        return fmt::format("coalesce({}, {})", maybe_null(kind, depth - 1),
                           expression(kind, depth - 1));
      case 2: return subquery(kind);
      default: break;
    }
    switch (kind) {
      case Kind::integer: return integer(depth);
      case Kind::number: return number(depth);
      case Kind::truth: return truth(depth);
      case Kind::text: break;
    }
    return below(4) == 0 ? fmt::format("CAST({} AS TEXT)", integer(depth - 1)) : column(kind);
  }

  std::string maybe_null(Kind kind, int depth) {
    return below(5) == 0 ? "NULL" : expression(kind, depth);
  }

  std::string conditional(Kind kind, int depth) {
    std::string text = "CASE";
    const bool compares = below(3) == 0;
    if (compares) text += " " + integer(depth);
    for (int i = 1 + below(2); i > 0; --i)
      text += fmt::format(" WHEN {} THEN {}", compares ? integer(0) : truth(depth),
                          i == 1 ? expression(kind, depth) : maybe_null(kind, depth));
    if (below(2)) text += " ELSE " + maybe_null(kind, depth);
    return text + " END";
  }

  /// One row and one column, of a table of its own.
  std::string subquery(Kind kind) {
    const Table& table = below(4) == 0 ? tables[3] : tables[below(3)];
    for (const Column& column : table.columns) {
      if (column.kind != kind) continue;
      if (below(3) == 0)
        return fmt::format("(SELECT {} FROM {} ORDER BY {} LIMIT 1)", column.name, table.name,
                           column.name);
      return fmt::format("(SELECT {}({}) FROM {})", below(2) ? "MIN" : "MAX", column.name,
                         table.name);
    }
    return column(kind);
  }

  std::string integer(int depth) {
    if (depth <= 0) return column(Kind::integer);
    const std::string left = expression(Kind::integer, depth - 1);
    switch (below(7)) {
      case 0: return fmt::format("(abs({}) % {})", left, 2 + below(3));
      case 1: return fmt::format("(- {})", left);
      case 2: return fmt::format("CAST({} AS BIGINT)", number(depth - 1));
      default: break;
    }
    return fmt::format("({} {} {})", left, one_of<std::string>({"+", "-", "*"}),
                       maybe_null(Kind::integer, depth - 1));
  }

  std::string number(int depth) {
    if (depth <= 0) return column(Kind::number);
    const std::string left = expression(Kind::number, depth - 1);
    switch (below(6)) {
      case 0: return fmt::format("({} / {}.0)", left, 1 << below(3));
      case 1: return fmt::format("CAST({} AS DOUBLE)", integer(depth - 1));
      case 2: return fmt::format("(- {})", left);
      default: break;
    }
    return fmt::format("({} {} {})", left, one_of<std::string>({"+", "-", "*"}),
                       expression(below(2) ? Kind::integer : Kind::number, depth - 1));
  }

  std::string truth(int depth) {
    const Kind kind = one_of<Kind>({Kind::integer, Kind::number, Kind::text});
    if (depth > 0) switch (below(9)) {
        case 0: return fmt::format("({} OR {})", truth(depth - 1), truth(depth - 1));
        case 1: return fmt::format("({} AND {})", truth(depth - 1), truth(depth - 1));
        case 2: return fmt::format("(NOT {})", truth(depth - 1));
        case 3:
          return fmt::format("({} IS {}NULL)", expression(kind, depth), below(2) ? "NOT " : "");
        case 4:
          return fmt::format("({} {}IN ({}, {}))", expression(kind, depth - 1),
                             below(2) ? "NOT " : "", maybe_null(kind, 0), column(kind));
        case 5:
          return fmt::format("({} {}BETWEEN {} AND {})", expression(kind, depth - 1),
                             below(2) ? "NOT " : "", column(kind), maybe_null(kind, 0));
        default: break;
      }
    return fmt::format("({} {} {})", expression(kind, depth - 1),
                       one_of<std::string>({"=", "<>", "<", "<=", ">", ">="}),
                       maybe_null(kind, depth - 1));
  }

  std::vector<Column> columns_;  // that can be named
  std::vector<Kind> kinds_;      // of the columns of the result
};

}  // namespace

std::string tables_of_scalars(std::mt19937& chance) {
  Choices choices(chance);
  const auto below = [&](int count) { return choices.below(count); };
  static const char* texts[] = {"ann", "bob", "zoe", "", "it''s", "Ann"};
  std::string p, q, r;
  for (int i = 0; i < 6; ++i) {
    const char* comma = i == 0 ? "" : ", ";
    p += fmt::format("{}({}, {}.25, '{}')", comma, below(7) - 3, below(5) - 2, texts[below(6)]);
    q += fmt::format("{}({}, {}, '{}')", comma, below(5), i, texts[below(6)]);
    r += fmt::format("{}({}.5, -{}.75, {})", comma, below(3), below(2), below(4));
  }
  return fmt::format(
      "CREATE TABLE p (a INT, b DOUBLE, t TEXT);\nCREATE TABLE q (a INT, k INT, u TEXT);\n"
      "CREATE TABLE r (x DOUBLE, y DOUBLE, k INT);\nCREATE TABLE none (a INT, b DOUBLE, t TEXT);\n"
      "INSERT INTO p VALUES {};\nINSERT INTO q VALUES {};\nINSERT INTO r VALUES {};\n",
      p, q, r);
}

ScalarQuery random_scalar_query(std::mt19937& chance) { return Generator(chance).query(); }

}  // namespace tessera::testing
