#include "query/versions/unrolled.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>

#include "base/check.h"
#include "base/stop.h"
#include "query/versions/known_versions.h"
#include "query/versions/recursion.h"
#include "query/versions/referenced_tables.h"
#include "query/versions/rule_columns.h"
#include "query/versions/templates.h"
#include "query/versions/version_range.h"

namespace tessera::query {
namespace {

using lang::fail_type;

class Unroller {
 public:
  Unroller(Definitions& definitions, const std::stop_token& stop)
      : definitions_(definitions), stop_(stop), wanted_(definitions, stop) {}

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
    result_.templates = templates_.take();
    result_.tables = tables();
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
    std::vector<std::vector<ReferencedTable>> wanted = {};
    std::size_t next_list = 0, next = 0;
  };

  int complete(Frame first) {
    std::vector<Frame> stack;
    find_inputs(first);
    stack.push_back(std::move(first));
    for (;;) {
      refuse_if_stopped(stop_, "unrolling versions");
      if (const ReferencedTable* wanted = next_missing(stack.back())) {
        const Location asked = location_asked(stack);
        Frame frame = frame_of(*wanted, asked);
        if (!open_.emplace(frame.table, frame.indices).second) fail_cycle(stack, frame, asked);
        count_version(stack, asked);
        lang::in_other_text(frame.rule->head(), asked, [&] { find_inputs(frame); });
        stack.push_back(std::move(frame));
        if (stack.size() >= depth_to_look_at_) refuse_endless(stack, asked);
        continue;
      }
      const int number = stack.back().rule == nullptr
                             ? finished(stack.back())
                             : lang::in_other_text(stack.back().rule->head(), location_asked(stack),
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

  /// Where the statement reads what is being followed: all other places are in other texts.
  static Location location_asked(const std::vector<Frame>& stack) {
    const Frame& first = stack.front();
    return first.wanted[first.next_list][first.next].location;
  }

  void count_version(const std::vector<Frame>& stack, Location location) {
    if (++versions_ > most_versions)
      fail_type(
          location,
          "the statement reads more than {} versions, {} of them nested ({}); MATERIALIZE some "
          "of them first",
          most_versions, stack.size() - 1, path_text(path_of(stack)));
    if (versions_ % 1024 == 0) refuse_if_stopped(stop_, "resolving versions");
  }

  /// The versions on the stack, from one on.
  Path path_of(const std::vector<Frame>& stack, std::size_t from = 1) const {
    Path path;
    for (std::size_t f = from; f < stack.size(); ++f)
      path.push_back({tables()[stack[f].table], stack[f].rule, stack[f].indices});
    return path;
  }

  [[noreturn]] void fail_cycle(const std::vector<Frame>& stack, const Frame& again,
                               Location location) {
    const auto begin = std::find_if(stack.begin(), stack.end(), [&](const Frame& open) {
      return open.table == again.table && open.indices == again.indices;
    });
    const Path cycle = path_of(stack, static_cast<std::size_t>(begin - stack.begin()));
    fail_type(location, "circular definition: {} -> {}", path_text(cycle),
              version_name(tables()[again.table], again.indices));
  }

  /// A recursion may be as deep as there are iterations. It is looked at each time that it is twice
  /// as deep as before, which costs a small part of having followed it so far.
  void refuse_endless(const std::vector<Frame>& stack, Location location) {
    depth_to_look_at_ = 2 * stack.size();
    for (const std::string& table : tables())
      if (definitions_.has_materialised(table)) return;
    const Path path = path_of(stack);
    std::string heads;
    for (const VersionRule* rule : endless_rules(path))
      heads += (heads.empty() ? "" : ", ") + rule->head();
    if (heads.empty()) return;
    fail_type(location, "infinite recursion: {} -> ...; every version of {} reads another one",
              path_text(Path(path.begin(), path.begin() + 4)), heads);
  }

  /// The next table of a frame that is a version which nobody has looked at.
  const ReferencedTable* next_missing(Frame& frame) {
    for (; frame.next_list < frame.wanted.size(); ++frame.next_list, frame.next = 0)
      for (; frame.next < frame.wanted[frame.next_list].size(); ++frame.next) {
        const ReferencedTable& wanted = frame.wanted[frame.next_list][frame.next];
        if (wanted.table >= 0 && !known_[wanted.table].find(wanted.indices)) return &wanted;
      }
    return nullptr;
  }

  Frame frame_of(const ReferencedTable& wanted, Location location) {
    const std::vector<VersionRule>& rules = *definitions_.rules(tables()[wanted.table]);
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
    fail_type(location, "no rule defines {}; existing rules: {}",
              version_name(tables()[wanted.table], wanted.indices), heads);
  }

  void find_inputs(Frame& frame) {
    frame.wanted = wanted_.read_by(*frame.query, frame.names, frame.values);
    while (known_.size() < tables().size()) known_.emplace_back(result_.instances);
  }

  const std::vector<std::string>& tables() const { return wanted_.tables(); }

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
      std::vector<ReferencedTable> named;
      const auto* wanted = unroller_.wanted_.of(reference, *frame_.query, frame_.wanted);
      if (wanted == nullptr) {  // inside a view
        const auto* table = std::get_if<sql::TableName>(&reference.source);
        if (table == nullptr || !table->indices.empty())
          fail_type(reference.location, "a view cannot read versions of tables");
        named.push_back({-1, {}, table->name, reference.location});
        wanted = &named;
      }
      std::vector<Source> sources;
      for (const ReferencedTable& one : *wanted) sources.push_back(source(one));
      return sources;
    }
    std::optional<View> view(const std::string& name) override {
      return unroller_.definitions_.view(name);
    }

    std::vector<int> inputs;

   private:
    Source source(const ReferencedTable& wanted) {
      const int slot = static_cast<int>(inputs.size());
      if (wanted.table >= 0) {
        const int instance = *unroller_.known_[wanted.table].find(wanted.indices);
        inputs.push_back(instance);
        return {slot, unroller_.result_.instances[instance].of->root->schema};
      }
      const auto schema = unroller_.definitions_.stored(wanted.stored);
      if (!schema)
        fail_type(wanted.location, "table \"{}\" not found; {}", wanted.stored,
                  unroller_.definitions_.instead_of(wanted.stored));
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
      for (const ReferencedTable& wanted : list) {
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
    const Template* of = reusable ? templates_.find(key) : nullptr;
    if (of == nullptr) {
      FoundTables tables(*this, frame);
      BinderOptions options{frame.names, frame.target_columns};
      const auto begin = std::chrono::steady_clock::now();
      NodePtr root = bind(*frame.query, tables, options);
      const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
      result_.binding_seconds += taken.count();
      if (frame.rule != nullptr) {
        root = with_columns(*frame.rule, root);
        refuse_other_columns(frame, root->schema);
      }
      of = templates_.add(root);
      if (reusable && tables.inputs == inputs) templates_.keep(std::move(key), of);
      inputs = std::move(tables.inputs);
    }
    return result_.instances.add({of, frame.values, inputs, frame.table, frame.indices,
                                  frame.rule == nullptr ? frame.query->location : Location{}});
  }

  /// The first version of a table that is bound says what columns the others have.
  void refuse_other_columns(const Frame& frame, const Schema& schema) {
    const RuleColumns columns = columns_of(schema);
    const auto [known, is_first] = columns_.try_emplace(frame.table, frame.rule, columns);
    if (!is_first)
      refuse_disagreement(*known->second.first, known->second.second, *frame.rule, columns,
                          frame.query->location);
  }

  Definitions& definitions_;
  const std::stop_token stop_;
  ReferencedTables wanted_;
  Unrolled result_;
  std::vector<KnownVersions> known_;        // by table
  std::set<std::pair<int, Indices>> open_;  // tables and indices of what is on the stack
  std::int64_t versions_ = 0;
  std::size_t depth_to_look_at_ = 1000;
  Templates templates_;
  std::map<int, std::pair<const VersionRule*, RuleColumns>> columns_;  // by table
};

}  // namespace

namespace {

/// Each instance has a number for every operator, and reads stored tables and those before it.
void verify(const Unrolled& plan) {
  const auto tables = static_cast<int>(plan.stored.size());
  for (std::size_t k = 0; k < plan.instances.size(); ++k) {
    const Instance instance = plan.instances[k];
    TESSERA_INVARIANT(plan.first[k + 1] - plan.first[k] == std::ssize(instance.of->operators),
                      "instance {} of {} operators has {} numbers", k,
                      instance.of->operators.size(), plan.first[k + 1] - plan.first[k]);
    for (const int input : instance.inputs)
      TESSERA_INVARIANT(std::cmp_less(input, k) && -1 - input < tables,
                        "instance {} reads instance {}, of {} tables", k, input, tables);
  }
  for (const int wanted : plan.wanted)
    TESSERA_INVARIANT(wanted >= 0 && std::cmp_less(wanted, plan.instances.size()),
                      "instance {} of {} is asked for", wanted, plan.instances.size());
}

}  // namespace

Unrolled unroll(const std::vector<Request>& requests, Definitions& definitions,
                const std::stop_token& stop) {
  Unrolled made = Unroller(definitions, stop).run(requests);
  verify(made);
  return made;
}

}  // namespace tessera::query
