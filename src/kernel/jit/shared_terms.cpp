#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <tuple>
#include <unordered_map>

#include "kernel/jit/schedule.h"

namespace tessera::jit {
namespace {

/// Indices that have the same extent, whatever the shapes are.
class ExtentClasses {
 public:
  explicit ExtentClasses(const IndexForm& form) : form_(form) {
    for (std::size_t i = 0; i < form.indices.size(); ++i) class_.push_back(static_cast<int>(i));
    for (std::size_t i = 0; i < form.indices.size(); ++i)
      if (const auto extent = form.indices[i].extent)
        join(static_cast<int>(i), by_extent_.emplace(*extent, static_cast<int>(i)).first->second);
    for (std::size_t i = 0; i < form.indices.size(); ++i)
      if (const auto like = form.indices[i].like)
        join_dimension(static_cast<int>(i), like->argument,
                       static_cast<std::size_t>(like->dimension));
    visit(form.value);
  }
  int of(int index) const {
    while (class_[static_cast<std::size_t>(index)] != index)
      index = class_[static_cast<std::size_t>(index)];
    return index;
  }
  /// An index of that extent, as it is said of one of them.
  IndexForm::Index index_like(int index, const std::string& name) const {
    IndexForm::Index found{name};
    for (std::size_t i = 0; i < class_.size(); ++i) {
      if (of(static_cast<int>(i)) != of(index)) continue;
      if (form_.indices[i].extent) found.extent = form_.indices[i].extent;
      if (form_.indices[i].like) found.like = form_.indices[i].like;
    }
    return found;
  }

 private:
  void join(int a, int b) { class_[static_cast<std::size_t>(of(a))] = of(b); }
  /// One whose extent is given may be shorter than the dimension.
  void join_dimension(int index, int argument, std::size_t dimension) {
    if (form_.indices[static_cast<std::size_t>(index)].extent) return;
    join(index, by_dimension_.emplace(std::pair(argument, dimension), index).first->second);
  }
  void visit(const Term& term) {
    if (const auto* read = as<term::Element>(term))
      for (std::size_t d = 0; d < read->at.size(); ++d)
        if (const auto* index = as<term::Position>(read->at[d]))
          join_dimension(index->index, read->argument, d);
    for (const Term& part : parts_of(term)) visit(part);
  }

  const IndexForm& form_;
  std::vector<int> class_;
  std::map<std::int64_t, int> by_extent_;
  std::map<std::pair<int, std::size_t>, int> by_dimension_;
};

int height_of(const Term& term) {
  int height = 0;
  for (const Term& part : parts_of(term)) height = std::max(height, height_of(part));
  return height + (as<term::Fold>(term) != nullptr ? 1 : 0);
}

class Sharing {
 public:
  explicit Sharing(const IndexForm& form) : form_(form), classes_(form) {}

  SharedTerms run() {
    std::map<int, int> renamed;
    for (int i = 0; i < form_.rank; ++i) renamed[i] = add_index(i);
    SharedTerms shared;
    shared.form.value = of(form_.value, renamed);
    shared.form.rank = form_.rank;
    shared.form.indices = std::move(indices_);
    shared.given = std::move(given_);
    return shared;
  }

 private:
  int add_index(int given) {
    given_.push_back(given);
    indices_.push_back(classes_.index_like(given, "i" + std::to_string(given_.size() - 1)));
    return static_cast<int>(given_.size()) - 1;
  }

  /// Folds with as many folds inside of each other are in none of the others, so that they may have
  /// the same indices.
  int folded_index(int given, int height, std::size_t place) {
    const auto key = std::tuple(height, place, classes_.of(given));
    if (const auto known = folded_.find(key); known != folded_.end()) return known->second;
    return folded_[key] = add_index(given);
  }

  Term of(const Term& term, std::map<int, int> renamed) {
    std::vector<int> indices;
    if (const auto* fold = as<term::Fold>(term)) {
      const int height = height_of(term);
      for (std::size_t i = 0; i < fold->indices.size(); ++i) {
        indices.push_back(folded_index(fold->indices[i], height, i));
        renamed[fold->indices[i]] = indices.back();
      }
    }
    std::vector<Term> parts;
    for (const Term& part : parts_of(term)) parts.push_back(of(part, renamed));
    Term made;
    if (const auto* read = as<term::Position>(term))
      made = position(renamed.at(read->index));
    else if (const auto* fold = as<term::Fold>(term))
      made = tessera::fold(fold->monoid, indices, parts[0], parts.size() > 1 ? parts[1] : nullptr);
    else
      made = parts.empty() ? term : with_parts(term, parts);
    return known_.emplace(description(made, parts), made).first->second;
  }

  /// The same for equal terms whose parts are shared already.
  static std::string description(const Term& term, const std::vector<Term>& parts) {
    std::vector<std::uint64_t> said = {term->node.index()};
    if (const auto* number = as<term::Number>(term)) {
      said.push_back(static_cast<std::uint64_t>(number->value.dtype()));
      said.push_back(number->value.dtype() == DType::i64
                         ? static_cast<std::uint64_t>(number->value.as<std::int64_t>())
                         : std::bit_cast<std::uint64_t>(number->value.as<double>()));
    }
    if (const auto* index = as<term::Position>(term)) said.push_back(index->index);
    if (const auto* read = as<term::Element>(term)) said.push_back(read->argument);
    if (const auto* function = as<term::Applied>(term))
      said.push_back(reinterpret_cast<std::uintptr_t>(function->function));
    if (const auto* cast = as<term::Cast>(term))
      said.push_back(static_cast<std::uint64_t>(cast->dtype));
    if (const auto* fold = as<term::Fold>(term)) {
      said.push_back(static_cast<std::uint64_t>(fold->monoid));
      said.push_back(fold->indices.size());
      for (int index : fold->indices) said.push_back(index);
    }
    for (const Term& part : parts) said.push_back(reinterpret_cast<std::uintptr_t>(part.get()));
    return {reinterpret_cast<const char*>(said.data()), said.size() * sizeof(said[0])};
  }

  const IndexForm& form_;
  const ExtentClasses classes_;
  std::vector<IndexForm::Index> indices_;
  std::vector<int> given_;
  std::map<std::tuple<int, std::size_t, int>, int> folded_;
  std::unordered_map<std::string, Term> known_;
};

}  // namespace

SharedTerms with_shared_terms(const IndexForm& form) { return Sharing(form).run(); }

}  // namespace tessera::jit
