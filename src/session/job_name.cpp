#include "session/job_name.h"

#include "base/running_hash.h"
#include "lang/sql/printer.h"
#include "tile/dispatch.h"

namespace tessera::session {
namespace {

/// A hash of all that it is told.
class Fingerprint {
 public:
  void add(const void* bytes, std::size_t count) {
    hash_.add(&count, sizeof count);
    if (count > 0) hash_.add(bytes, count);
  }
  void add(std::string_view text) { add(text.data(), text.size()); }
  void add(std::int64_t number) { add(&number, sizeof number); }
  template <class T>
  void add(std::span<const T> numbers) {
    add(numbers.data(), numbers.size_bytes());
  }
  std::uint64_t value() const { return hash_.value(); }

 private:
  RunningHash hash_;
};

/// The operators of all versions and who reads whom: results are stored under their numbers.
void add_plan(const query::Unrolled& plan, Fingerprint& all) {
  std::unordered_map<const query::Template*, std::int64_t> number;
  for (const auto& made : plan.templates) {
    number.emplace(made.get(), static_cast<std::int64_t>(number.size()));
    all.add(query::explain(*made->root));
    for (const query::NodePtr& op : made->operators) {
      for (const query::Column& column : op->schema) all.add(sql::to_string(column.type));
      for (const query::NodePtr& input : query::inputs_of(*op))
        all.add(made->number.contains(input.get()) ? made->number.at(input.get()) : -1);
    }
  }
  for (std::size_t k = 0; k < plan.instances.size(); ++k) {
    const query::Instance instance = plan.instances[k];
    all.add(number.at(instance.of));
    all.add(instance.parameters);
    all.add(instance.inputs);
  }
  for (int wanted : plan.wanted) all.add(wanted);
}

}  // namespace

std::string job_name(const std::vector<query::Request>& requests, const query::Unrolled& plan,
                     const std::vector<query::Value>& tables,
                     const std::vector<sql::Literal>& given, query::Definitions& definitions,
                     frames::Limits limits) {
  Fingerprint all;
  all.add(limits.min_size);
  all.add(limits.max_size);
  for (const query::Request& request : requests) {
    all.add(sql::to_string(*request.query));
    all.add(std::span(request.values));
  }
  for (const std::string& table : plan.tables)
    for (const query::VersionRule& rule : *definitions.rules(table)) all.add(rule.text());
  add_plan(plan, all);
  for (std::size_t t = 0; t < tables.size(); ++t) {
    all.add(plan.stored[t]);
    if (!tables[t].table) continue;
    if (const auto* input = std::get_if<op::Input>(&operator_of(tables[t].table->plan)))
      all.add(fmt::format("{}", input->facts.version));
  }
  for (const sql::Literal& value : given)
    if (const auto* given_tile = std::get_if<Tile>(&value.value)) {
      const Tile tile = given_tile->contiguous();
      all.add(to_string(tile.type()));
      visit_dtype(tile.dtype(), [&]<class T>() {
        all.add(tile.data<T>(), static_cast<std::size_t>(tile.elements()) * sizeof(T));
      });
    }
  return fmt::format("j{:016x}", all.value());
}

}  // namespace tessera::session
