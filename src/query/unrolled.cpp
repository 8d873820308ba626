#include "query/unrolled.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/check.h"
#include "base/stop.h"
#include "query/known_versions.h"
#include "query/references.h"
#include "query/version_range.h"

namespace tessera::query {
namespace {

using lang::fail_type;

/// A table that a query reads, once its indices are known.
struct Wanted {
  int table = -1;        // which versioned table
  Indices indices = {};  // of the version
  std::string stored = {};
  Place place = {};
};

class Unroller {
 public:
  Unroller(Definitions& definitions, const std::stop_token& stop)
      : definitions_(definitions), stop_(stop) {}

  Unrolled run(const std::vector<Request>& requests) {
    for (const Request& request : requests) {
      Frame frame;
      frame.query = request.query.get();
      frame.names = request.names;
      frame.values = request.values;
      frame.target_columns = request.target_columns;
      result_.wanted.push_back(complete(std::move(frame)));
    }
    result_.first.push_back(0);
    result_.first.reserve(result_.instances.size() + 1);
    for (std::size_t k = 0; k < result_.instances.size(); ++k)
      result_.first.push_back(result_.first.back() +
                              std::ssize(result_.instances[k].of->operators));
    result_.instances.shrink_to_fit();
    return std::move(result_);
  }

 private:
  /// An instance whose inputs are being looked for. They are kept on a stack of our own: recursion
  /// through versions is as deep as there are iterations.
  struct Frame {
    const sql::Query* query = nullptr;
    const VersionRule* rule = nullptr;
    std::vector<std::string> names;
    std::vector<std::int64_t> values;
    std::vector<std::string> target_columns = {};
    int table = -1;
    Indices indices = {};
    /// What it reads: a list for each reference, in order.
    std::vector<std::vector<Wanted>> wanted = {};
    std::size_t next_list = 0, next = 0;
  };

  int complete(Frame first) {
    std::vector<Frame> stack;
    find_inputs(first);
    const Place asked = first.query->place;
    stack.push_back(std::move(first));
    for (;;) {
      refuse_if_stopped(stop_, "versions were unrolled");
      if (const Wanted* wanted = next_missing(stack.back())) {
        Frame frame = frame_of(*wanted, stack.size() > 1 ? asked : wanted->place);
        if (!open_.emplace(frame.table, frame.indices).second) fail_cycle(stack, frame, asked);
        count_version(asked);
        lang::in_other_text(frame.rule->head(), asked, [&] { find_inputs(frame); });
        stack.push_back(std::move(frame));
        continue;
      }
      const int number = stack.back().rule == nullptr
                             ? finished(stack.back())
                             : lang::in_other_text(stack.back().rule->head(), asked,
                                                   [&] { return finished(stack.back()); });
      const Frame done = std::move(stack.back());
      stack.pop_back();
      if (done.table >= 0) {
        known_[done.table].add(number);
        open_.erase({done.table, done.indices});
      }
      if (stack.empty()) return number;
    }
  }

  /// A version more is looked at, or is read by a union.
  void count_version(Place place) {
    if (++versions_ > most_versions)
      fail_type(place,
                "the statement reads more than {} versions: MATERIALIZE some of them, and go on "
                "from there",
                most_versions);
    if (versions_ % 1024 == 0) refuse_if_stopped(stop_, "versions were looked for");
  }

  [[noreturn]] void fail_cycle(const std::vector<Frame>& stack, const Frame& again, Place place) {
    const auto begin = std::find_if(stack.begin(), stack.end(), [&](const Frame& open) {
      return open.table == again.table && open.indices == again.indices;
    });
    const auto end = stack.end();
    std::string cycle;
    for (auto frame = begin; frame != end; ++frame) {
      if (end - begin > 12 && frame - begin == 6) {
        cycle += fmt::format(" -> ({} more)", end - begin - 12);
        frame = end - 6;
      }
      cycle += (cycle.empty() ? "" : " -> ") +
               version_name(result_.tables[frame->table], frame->indices);
    }
    cycle += " -> " + version_name(result_.tables[begin->table], begin->indices);
    fail_type(place, "a version is defined by itself: {}", cycle);
  }

  /// The next table of a frame that is a version which nobody has looked at.
  const Wanted* next_missing(Frame& frame) {
    for (; frame.next_list < frame.wanted.size(); ++frame.next_list, frame.next = 0)
      for (; frame.next < frame.wanted[frame.next_list].size(); ++frame.next) {
        const Wanted& wanted = frame.wanted[frame.next_list][frame.next];
        if (wanted.table >= 0 && !known_[wanted.table].find(wanted.indices)) return &wanted;
      }
    return nullptr;
  }

  Frame frame_of(const Wanted& wanted, Place place) {
    const std::vector<VersionRule>& rules = *definitions_.rules(result_.tables[wanted.table]);
    Frame frame;
    frame.table = wanted.table;
    frame.indices = wanted.indices;
    for (const VersionRule& rule : rules) {
      auto values = rule.match(wanted.indices);
      if (!values) continue;
      frame.rule = &rule;
      frame.query = &rule.query();
      frame.names = rule.parameters();
      frame.target_columns = rule.column_names();
      frame.values = std::move(*values);
      return frame;
    }
    std::string heads;
    for (const VersionRule& rule : rules) heads += (heads.empty() ? "" : ", ") + rule.head();
    fail_type(place, "{} is defined by no rule; there are: {}",
              version_name(result_.tables[wanted.table], wanted.indices), heads);
  }

  void find_inputs(Frame& frame) {
    for (const sql::TableReference* reference : references_of(*frame.query)) {
      frame.wanted.emplace_back();
      lang::at_place(reference->place, [&] { find_tables(*reference, frame); });
    }
  }

  void find_tables(const sql::TableReference& reference, Frame& frame) {
    std::vector<Wanted>& into = frame.wanted.back();
    const auto* named = std::get_if<sql::TableName>(&reference.source);
    const auto* united = std::get_if<sql::UnionOfVersions>(&reference.source);
    const std::string& name = named != nullptr ? named->name : united->name;
    const auto& ranges = named != nullptr ? named->indices : united->indices;
    if (ranges.empty()) {
      into.push_back({-1, {}, name, reference.place});
      return;
    }
    const std::vector<VersionRule>* rules = definitions_.rules(name);
    if (rules == nullptr && (definitions_.stored(name) || definitions_.view(name)))
      fail_type(reference.place, "{} has no versions: write it without an index",
                definitions_.exact_name(name));
    if (rules == nullptr)
      fail_type(reference.place, "there is no versioned table {}; there are: {}", name,
                definitions_.all_names());
    const int table = table_number(rules->front().table());
    const std::size_t arity = static_cast<std::size_t>(rules->front().arity());
    if (ranges.size() != arity)
      fail_type(reference.place, "{} has {} indices, and {} are given", name, arity, ranges.size());
    for_each_version(ranges, frame.names, frame.values, reads_, stop_, [&](const Indices& found) {
      for (std::int64_t index : found)
        if (index < 0)
          fail_type(reference.place, "{}: an index is not negative", version_name(name, found));
      const auto stored = definitions_.materialised(version_name(rules->front().table(), found));
      if (stored)
        into.push_back({-1, {}, *stored, reference.place});
      else
        into.push_back({table, found, {}, reference.place});
    });
    if (into.empty()) fail_type(reference.place, "a union of no versions of {}", name);
  }

  const std::vector<const sql::TableReference*>& references_of(const sql::Query& query) {
    const auto found = references_.find(&query);
    if (found != references_.end()) return found->second;
    return references_[&query] = references_in(query);
  }

  int table_number(const std::string& name) {
    for (std::size_t t = 0; t < result_.tables.size(); ++t)
      if (same_name(result_.tables[t], name)) return static_cast<int>(t);
    result_.tables.push_back(name);
    known_.emplace_back(result_.instances);
    return static_cast<int>(result_.tables.size()) - 1;
  }

  int stored_number(const std::string& name) {
    for (std::size_t t = 0; t < result_.stored.size(); ++t)
      if (result_.stored[t] == name) return -1 - static_cast<int>(t);
    result_.stored.push_back(name);
    return -static_cast<int>(result_.stored.size());
  }

  /// Hands the tables that were found to the binder, in the order in which it meets them, and keeps
  /// count of the inputs.
  class FoundTables : public Resolver {
   public:
    FoundTables(Unroller& unroller, const Frame& frame) : unroller_(unroller), frame_(frame) {}

    std::vector<Source> tables(const sql::TableReference& reference) override {
      const auto& list = unroller_.references_of(*frame_.query);
      const auto at = std::find(list.begin(), list.end(), &reference);
      std::vector<Wanted> named;
      const std::vector<Wanted>* wanted = nullptr;
      if (at != list.end()) {
        wanted = &frame_.wanted[static_cast<std::size_t>(at - list.begin())];
      } else {  // inside a view
        const auto* table = std::get_if<sql::TableName>(&reference.source);
        if (table == nullptr || !table->indices.empty())
          fail_type(reference.place, "a view reads no versions of tables");
        named.push_back({-1, {}, table->name, reference.place});
        wanted = &named;
      }
      std::vector<Source> sources;
      for (const Wanted& one : *wanted) sources.push_back(source(one));
      return sources;
    }
    std::optional<View> view(const std::string& name) override {
      return unroller_.definitions_.view(name);
    }

    std::vector<int> inputs;

   private:
    Source source(const Wanted& wanted) {
      const int slot = static_cast<int>(inputs.size());
      if (wanted.table >= 0) {
        const int instance = *unroller_.known_[wanted.table].find(wanted.indices);
        inputs.push_back(instance);
        return {slot, unroller_.result_.instances[instance].of->root->schema};
      }
      const auto schema = unroller_.definitions_.stored(wanted.stored);
      if (!schema)
        fail_type(wanted.place, "there is no table {}; there are: {}", wanted.stored,
                  unroller_.definitions_.all_names());
      inputs.push_back(unroller_.stored_number(unroller_.definitions_.exact_name(wanted.stored)));
      return {slot, *schema};
    }

    Unroller& unroller_;
    const Frame& frame_;
  };

  int finished(const Frame& frame) {
    // A rule is bound once for all versions whose inputs have the same types.
    std::vector<std::intptr_t> key{reinterpret_cast<std::intptr_t>(frame.query)};
    std::vector<int> inputs;
    bool reusable = frame.rule != nullptr;
    for (const auto& list : frame.wanted) {
      key.push_back(-1);
      for (const Wanted& wanted : list) {
        reusable = reusable && (wanted.table >= 0 || !definitions_.view(wanted.stored));
        if (wanted.table < 0) {
          if (!reusable) continue;
          inputs.push_back(stored_number(definitions_.exact_name(wanted.stored)));
          key.push_back(inputs.back());
        } else {
          inputs.push_back(*known_[wanted.table].find(wanted.indices));
          key.push_back(result_.instances[inputs.back()].of->types);
        }
      }
    }
    const auto known = reusable ? templates_.find(key) : templates_.end();
    const Template* of = nullptr;
    if (known != templates_.end()) {
      of = known->second;
    } else {
      FoundTables tables(*this, frame);
      BinderOptions options{frame.names, frame.target_columns};
      NodePtr root = bind(*frame.query, tables, options);
      if (frame.rule != nullptr) root = with_columns(*frame.rule, root);
      of = template_of(root);
      if (reusable && tables.inputs == inputs) templates_[key] = of;
      inputs = std::move(tables.inputs);
    }
    return result_.instances.add({of, frame.values, inputs, frame.table, frame.indices,
                                  frame.rule == nullptr ? frame.query->place : Place{}});
  }

  const Template* template_of(const NodePtr& root) {
    auto made = std::make_shared<Template>();
    made->root = root;
    std::string columns;
    for (const Column& column : root->schema)
      columns += column.name + " " + sql::to_string(column.type) + "\n";
    made->types = types_.emplace(columns, static_cast<int>(types_.size()) + 1).first->second;
    const auto visit = [&](const auto& self, const NodePtr& node) -> void {
      if (std::holds_alternative<Scan>(node->op) || made->number.contains(node.get())) return;
      for (const NodePtr& input : inputs_of(*node)) self(self, input);
      const int number = static_cast<int>(made->operators.size());
      made->number[node.get()] = number;
      made->operators.push_back(node);
    };
    visit(visit, root);
    result_.templates.push_back(made);
    return made.get();
  }

  Definitions& definitions_;
  const std::stop_token stop_;
  Unrolled result_;
  std::vector<KnownVersions> known_;        // by table
  std::set<std::pair<int, Indices>> open_;  // tables and indices of what is on the stack
  std::int64_t versions_ = 0, reads_ = 0;
  std::map<std::vector<std::intptr_t>, const Template*> templates_;
  std::map<std::string, int> types_;  // numbers of lists of columns
  std::unordered_map<const sql::Query*, std::vector<const sql::TableReference*>> references_;
};

}  // namespace

Unrolled unroll(const std::vector<Request>& requests, Definitions& definitions,
                const std::stop_token& stop) {
  return Unroller(definitions, stop).run(requests);
}

}  // namespace tessera::query
