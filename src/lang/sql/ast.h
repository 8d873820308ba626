#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "lang/location.h"
#include "tessera/tile.h"

// What was written, before anybody has asked what it means: names are as in the text, unresolved.

namespace tessera::sql {

using lang::Location;

struct Expression;
struct Query;
struct Statement;
using ExpressionPtr = std::shared_ptr<const Expression>;
using QueryPtr = std::shared_ptr<const Query>;
using StatementPtr = std::shared_ptr<const Statement>;

/// INT, DOUBLE, TEXT, ..., or a tensor: MATRIX[2][3] OF FLOAT. A tensor's shape is a bound: tiles
/// at the edge of something larger may be smaller.
struct Type {
  enum class Kind { integer, bigint, real, double_precision, boolean, text, tensor };
  Kind kind = Kind::double_precision;
  DType element = DType::f64;  // of a tensor
  Shape shape = {};            // of a tensor
  friend bool operator==(const Type&, const Type&) = default;
};
std::string to_string(const Type& type);  // "MATRIX[2][3] OF FLOAT"; OF DOUBLE is left out

// ------------------------------------------------------------------------------- Expressions

struct Null {
  friend bool operator==(const Null&, const Null&) = default;
};
/// Written out, or a value that was given for a `?`: only such can be tensors.
struct Literal {
  std::variant<Null, bool, std::int64_t, double, std::string, Tile> value;
};
struct Name {
  std::string table = {};  // before the dot; empty: not said
  std::string column;
};
/// `*` or `t.*` in the list of a SELECT.
struct Star {
  std::string table = {};
};
enum class UnaryOperator { minus, logical_not };
struct Unary {
  UnaryOperator op;
  ExpressionPtr operand;
};
enum class BinaryOperator {
  add,
  subtract,
  multiply,
  divide,
  integer_divide,  // //, rounded towards minus infinity
  remainder,
  matmul,
  equal,
  not_equal,
  less,
  less_equal,
  greater,
  greater_equal,
  logical_and,
  logical_or,
};
std::string_view to_string(BinaryOperator op);  // "+", "<=", "AND"
struct Binary {
  BinaryOperator op;
  ExpressionPtr left, right;
};
/// f(a, b, axes = [0, 1]); COUNT(*); SUM(DISTINCT x).
struct Call {
  std::string name;
  std::vector<ExpressionPtr> arguments = {};
  std::vector<std::pair<std::string, ExpressionPtr>> parameters = {};
  bool distinct = false;
  bool star = false;
};
struct Case {
  ExpressionPtr operand = {};  // of CASE x WHEN ...; null: the conditions stand for themselves
  std::vector<std::pair<ExpressionPtr, ExpressionPtr>> branches;
  ExpressionPtr otherwise = {};  // null: there is no ELSE
};
struct Cast {
  ExpressionPtr operand;
  Type type;
};
struct InList {
  ExpressionPtr operand;
  std::vector<ExpressionPtr> options;
  bool negated = false;
};
struct Between {
  ExpressionPtr operand, low, high;
  bool negated = false;
};
struct IsNull {
  ExpressionPtr operand;
  bool negated = false;
};
struct ScalarSubquery {
  QueryPtr query;
};
/// [1, 2, 3] or [[1, 2], [3, 4]]: a tensor, or a list where a parameter wants one.
struct ArrayLiteral {
  std::vector<ExpressionPtr> elements;
};
/// (A @ B).T; what is written A.T is a Name, as nothing tells it from a column there.
struct Transposed {
  ExpressionPtr operand;
};
/// W[i][j-1] inside an expression over tensors.
struct Versioned {
  std::string name;
  std::vector<ExpressionPtr> indices;
};

/// a:b:c between the brackets of a tensor, each left out or not; or ..., for all dimensions that
/// have no index.
struct Slice {
  ExpressionPtr from, to, step;
  bool is_ellipsis = false;
};
/// (A @ B)[0, 1:3]: elements of what is no table, or a part of a tensor.
struct Indexed {
  ExpressionPtr operand;
  std::vector<ExpressionPtr> indices;
};

/// (i, j): the indices of an element, or several values of one, inside [ ... ].
struct Tuple {
  std::vector<ExpressionPtr> elements;
};
/// 0 .. n-1, both included: where an array comprehension says what an index runs over.
struct Range {
  ExpressionPtr from, to;
};
/// +/v: the values of a group, folded into one.
struct Aggregation {
  std::string monoid;  // "+", "*", or a word such as "max"
  ExpressionPtr operand;
};
/// [ head | qualifiers ], with what it is stored as: tensor(2, 3)[ ... ].
struct Comprehension;

struct Expression {
  std::variant<Literal, Name, Star, Unary, Binary, Call, Case, Cast, InList, Between, IsNull,
               ScalarSubquery, ArrayLiteral, Transposed, Versioned, Slice, Indexed, Tuple, Range,
               Aggregation, std::shared_ptr<const Comprehension>>
      node;
  Location location;
};

/// What a value is taken apart with: a name, `_` for what is not wanted, or a tuple of patterns.
struct Pattern {
  std::string variable = {};
  std::vector<Pattern> parts = {};  // of a tuple
  bool is_tuple = false;
  Location location = {};
};
/// p <- e goes through what is stored in e, p <<- e through all elements.
struct Generator {
  Pattern pattern;
  ExpressionPtr domain;
  bool every = false;
};
struct Let {
  Pattern pattern;
  ExpressionPtr value;
};
struct Condition {
  ExpressionPtr condition;
};
struct GroupBy {
  Pattern pattern;
  ExpressionPtr key = {};  // null: the variables of the pattern
};
struct Qualifier {
  std::variant<Generator, Let, Condition, GroupBy> node;
  Location location;
};

/// How the result of a comprehension is stored: dense dimensions, and sparse ones behind them.
struct Storage {
  bool tiled = false;  // tensor*: in tiles
  std::vector<ExpressionPtr> dense;
  std::vector<ExpressionPtr> sparse = {};
};
struct Comprehension {
  std::optional<Storage> storage = {};
  ExpressionPtr head;
  std::vector<Qualifier> qualifiers;
};

/// As it could have been written, with the parentheses that are needed.
std::string to_string(const Expression& expression);
/// What an option is turned to: ON, OFF, TRUE, FALSE, 1 or 0; none if it is something else.
std::optional<bool> on_or_off(const Expression& value);

// ----------------------------------------------------------------------------------- Queries

/// An index, or some, where a versioned table is read: `i-1`, `i-2...i-1` or `i:0...50`, the last
/// of which names the index so that those to its right can use it. Ranges include both ends.
struct IndexRange {
  std::string variable = {};
  ExpressionPtr from;
  ExpressionPtr to = {};  // null: the one index `from`
  Location location = {};
};

struct TableName {
  std::string name;
  std::vector<IndexRange> indices = {};  // of a version, all of them single ones
};
/// UNION t[0...5]: the rows of all these versions.
struct UnionOfVersions {
  std::string name;
  std::vector<IndexRange> indices;
};
struct Derived {
  QueryPtr query;
};

struct TableReference {
  std::variant<TableName, UnionOfVersions, Derived> source;
  std::string alias = {};
  std::vector<std::string> column_aliases = {};
  ExpressionPtr on = {};  // of a JOIN with what is to the left; null: a comma, or CROSS JOIN
  Location location = {};
};

struct SelectItem {
  ExpressionPtr expression;
  std::string alias = {};
};

struct Select {
  bool distinct = false;
  std::vector<SelectItem> items;
  std::vector<TableReference> from = {};
  ExpressionPtr where = {};
  std::vector<ExpressionPtr> group_by = {};
  ExpressionPtr having = {};
};
struct Values {
  std::vector<std::vector<ExpressionPtr>> rows;
};
struct UnionOf {
  QueryPtr left, right;
  bool all = false;
};

struct OrderItem {
  ExpressionPtr expression;
  bool descending = false;
};
struct CommonTable {
  std::string name;
  std::vector<std::string> columns = {};
  QueryPtr query;
  Location location = {};
};

struct Query {
  std::vector<CommonTable> with = {};
  std::variant<Select, Values, UnionOf> body;
  std::vector<OrderItem> order_by = {};
  ExpressionPtr limit = {}, offset = {};
  Location location = {};
  /// Whether it defines versions of a table: it is kept, and its places are in a text of its own.
  bool of_rule = false;
};

// -------------------------------------------------------------------------------- Statements

/// A column of CREATE TABLE; its type is not said where a query follows.
struct ColumnDefinition {
  std::string name;
  std::optional<Type> type = {};
  Location location = {};
};
/// An index where a versioned table is defined: `i:0...`, `j:1...i-1`, `j:9`, `0` or `i`.
struct IndexPattern {
  std::string variable = {};
  ExpressionPtr from;
  ExpressionPtr to = {};   // null: the one index `from`, unless it is
  bool unbounded = false;  // `from...`
  Location location = {};
};
struct CreateTable {
  std::string name;
  std::vector<IndexPattern> indices = {};
  std::vector<ColumnDefinition> columns = {};
  std::vector<std::string> primary_key = {};
  QueryPtr query = {};
  bool if_not_exists = false, or_replace = false;
};

/// Options in parentheses: WITH (format = csv, header = true).
using Options = std::vector<std::pair<std::string, ExpressionPtr>>;

/// { ... }: loops and assignments (lang/sql/program.h).
struct Program;

struct CreateTensor {
  std::string name;
  std::vector<std::string> others = {};  // that the same program makes
  std::optional<Shape> shape = {};       // of a virtual one
  std::optional<DType> element = {};
  std::optional<Shape> tile = {};
  std::optional<std::vector<int>> partition_by = {};
  bool is_virtual = false;
  std::optional<std::string> file = {};
  Options options = {};  // of the file
  ExpressionPtr expression = {};
  std::shared_ptr<const Program> program = {};  // instead of an expression
  bool if_not_exists = false, or_replace = false;

  bool is_computed() const { return expression != nullptr || program != nullptr; }
};
struct CreateView {
  std::string name;
  std::vector<std::string> columns = {};
  QueryPtr query;
};
struct Insert {
  std::string table;
  std::vector<std::string> columns = {};
  QueryPtr query;  // VALUES too
};
/// COPY t FROM 'file', COPY t TO 'file', COPY (SELECT ...) TO 'file'.
struct Copy {
  std::string table = {};
  QueryPtr query = {};
  bool from = false;
  std::string file;
  Options options = {};
};
enum class ObjectKind { table, tensor, view };
struct Drop {
  ObjectKind kind;
  std::string name;
  bool if_exists = false;
  std::vector<IndexRange> indices =
      {};  // of a versioned table: the versions whose rows are dropped
};
struct Rename {
  ObjectKind kind;
  std::string from, to;
};
struct Describe {
  std::string name;
};
struct Show {
  std::string what;  // tables, tensors, views, functions, settings, history, jobs
};
/// Forgets what a statement that was stopped has left to go on with.
struct DropJob {
  std::string name;
  bool if_exists = false;
};
struct Set {
  std::string name;
  ExpressionPtr value;  // null: back to the default
};
struct Checkpoint {};
struct Vacuum {};
/// MATERIALIZE t[50][3].
struct Materialize {
  TableName table;
  Location location = {};
};
/// A statement inside EXECUTE ( ... ), or a loop over some.
struct Loop;
using ExecuteItem = std::variant<QueryPtr, Materialize, std::shared_ptr<const Loop>>;
struct Loop {
  std::string variable;
  ExpressionPtr from, to;  // both included
  std::vector<ExecuteItem> body;
  Location location = {};
};
struct Execute {
  std::vector<ExecuteItem> items;
};
struct Explain {
  bool analyze = false;
  Options options = {};  // FORMAT, SITES, VERBOSE
  StatementPtr statement;
};

struct Statement {
  std::variant<QueryPtr, CreateTable, CreateTensor, CreateView, Insert, Copy, Drop, Rename,
               Describe, Show, DropJob, Set, Checkpoint, Vacuum, Materialize, Execute, Explain>
      node;
  Location begin, end;  // of its text, without the semicolon
  int values = 0;       // how many `?` it has
};

}  // namespace tessera::sql
