#pragma once

#include <span>
#include <string>
#include <string_view>

// Which words mean something to SQL. Few are reserved; all others are keywords only where the
// grammar asks for them, and names everywhere else.

namespace tessera::sql {

/// Words are compared without regard to the case of ASCII letters.
bool same_word(std::string_view a, std::string_view b);
std::string in_lower_case(std::string_view word);

/// A word that is never a name unless it is quoted.
bool is_reserved(std::string_view word);

/// A word that is no alias unless AS stands before it, because a reader takes it for the beginning
/// of what comes next.
bool needs_as(std::string_view word);

/// A word that a clause of a query begins with: FROM, WHERE, ...
bool begins_clause(std::string_view word);

/// Aggregates of the language itself: `name = value` in their parentheses is a comparison. In those
/// of any other function it is a parameter; there, a comparison is written with == or in
/// parentheses of its own.
bool is_plain_aggregate(std::string_view function);
std::span<const std::string_view> plain_aggregate_words();

/// The words that a statement can begin with.
std::span<const std::string_view> statement_words();

/// The one of these that the word was most likely meant to be; empty if none is near.
std::string_view nearest(std::string_view word, std::span<const std::string_view> known);

/// What to do about a word or symbol that other dialects know and this one does not, or that stands
/// where it cannot; empty if there is nothing to say.
std::string_view remedy_for(std::string_view unexpected);

}  // namespace tessera::sql
