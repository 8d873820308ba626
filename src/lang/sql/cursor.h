#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "lang/lexer.h"
#include "lang/sql/ast.h"

namespace tessera::sql {

using lang::Token;

/// Where a parser is in its text. Cheap to copy, to look ahead.
class Cursor {
 public:
  explicit Cursor(std::string_view text, std::span<const Literal> values = {})
      : lexer_(text), token_(lexer_.next()), values_(values) {}

  const Token& token() const { return token_; }
  Location location() const { return token_.location; }
  Location end_of_last() const { return end_of_last_; }  // of the token before this one
  Token next() const { return lang::Lexer(lexer_).next(); }

  bool at_end() const { return token_.kind == Token::Kind::end; }
  bool at_symbol(std::string_view symbol) const {
    return token_.kind == Token::Kind::symbol && token_.text == symbol;
  }
  bool at_word(std::string_view word) const;  // as a keyword: not quoted
  bool at_name() const;                       // quoted, or not reserved
  bool at_where_call() const;                 // the function, not the clause

  void advance();
  /// Of a symbol of several characters only the first is taken.
  void advance_by_character();
  bool take_symbol(std::string_view symbol);
  bool take_word(std::string_view word);
  /// Between the parts of a list; a comma after which the list ends is an error.
  bool take_comma();
  /// `what` says in plain words what the symbol or word is for, as in "')' after the columns".
  void expect_symbol(std::string_view symbol, std::string_view what);
  void expect_word(std::string_view word, std::string_view what);
  std::string expect_name(std::string_view what);
  std::string expect_string(std::string_view what);
  std::int64_t expect_integer(std::string_view what);
  /// At a `?`: what it stands for.
  const Literal& take_value();
  int values_taken() const { return values_taken_; }

  /// A ParseError at this token: "syntax error at or near ...: expected ...", and a hint.
  [[noreturn]] void fail_expected(std::string_view what) const;

  /// Held while something nested is read: a limit to how deep that goes keeps parsers, and all who
  /// walk what they make, from running out of stack.
  class Nested {
   public:
    explicit Nested(Cursor& cursor);
    ~Nested() { --cursor_.nesting_; }
    Nested(const Nested&) = delete;
    Nested& operator=(const Nested&) = delete;

   private:
    Cursor& cursor_;
  };

  /// Held while what stands between [ and ] is read, where parentheses may have a tuple in them.
  class Brackets {
   public:
    explicit Brackets(Cursor& cursor) : cursor_(cursor) { ++cursor_.brackets_; }
    ~Brackets() { --cursor_.brackets_; }
    Brackets(const Brackets&) = delete;
    Brackets& operator=(const Brackets&) = delete;

   private:
    Cursor& cursor_;
  };
  bool in_brackets() const { return brackets_ > 0; }

  /// Held while an index of a tensor is read, where :: is no cast but an empty part of a slice; and
  /// again for what stands in parentheses there.
  class Slices {
   public:
    Slices(Cursor& cursor, bool allowed)
        : cursor_(cursor), before_(std::exchange(cursor.slices_, allowed)) {}
    ~Slices() { cursor_.slices_ = before_; }
    Slices(const Slices&) = delete;
    Slices& operator=(const Slices&) = delete;

   private:
    Cursor& cursor_;
    const bool before_;
  };
  bool in_slice() const { return slices_; }

  /// Held while a chain is read, as of 1 + 2 + 3: this makes a tree as deep as the chain is long
  /// without any nesting. The depth of a chain is that of its deepest part and its own links.
  class Chain {
   public:
    explicit Chain(Cursor& cursor) : cursor_(cursor), outside_(cursor.links_) { cursor.links_ = 0; }
    ~Chain();
    Chain(const Chain&) = delete;
    Chain& operator=(const Chain&) = delete;

   private:
    Cursor& cursor_;
    int outside_;
  };
  /// `links` and `remedy`: what a chain that is too long has too many of, and what to do then.
  void add_link(Location location, std::string_view links, std::string_view remedy);

 private:
  lang::Lexer lexer_;
  Token token_;
  std::span<const Literal> values_;
  int values_taken_ = 0;
  Location end_of_last_ = {};
  int nesting_ = 0;
  int brackets_ = 0;
  bool slices_ = false;
  int links_ = 0;  // of the deepest chain since the last one was begun
};

inline constexpr int most_nesting = 250;
inline constexpr int most_links = 1000;

}  // namespace tessera::sql
