#pragma once

#include <stop_token>

#include "query/binding/binder.h"
#include "query/versions/instances.h"
#include "query/versions/version_rule.h"

namespace tessera::query {

/// Everything that statements want to have computed, as one graph: instances in an order in which
/// each comes after those it reads. The operators of instance k are numbered from first[k] on.
struct Unrolled {
  Instances instances;
  std::vector<std::shared_ptr<const Template>> templates;  // that they are of
  std::vector<std::int64_t> first;                         // one more than there are instances
  std::vector<std::string> stored;                         // the tables that are read
  std::vector<std::string> tables;                         // the versioned ones
  std::vector<int> wanted;                                 // the instances that are asked for
  double binding_seconds = 0;                              // of unrolling: to bind their queries
  std::int64_t operators() const { return first.back(); }
};

/// What unrolling has to know of a database.
class Definitions {
 public:
  virtual ~Definitions() = default;
  virtual std::optional<Schema> stored(const std::string& name) = 0;  // of a table
  virtual std::string exact_name(const std::string& name) = 0;        // as it was created
  virtual std::optional<Resolver::View> view(const std::string& name) = 0;
  /// The rules of a versioned table; none if there is no such.
  virtual const std::vector<VersionRule>* rules(const std::string& name) = 0;
  /// The name under which a version is stored, if it was materialised.
  virtual std::optional<std::string> materialised(const std::string& version) = 0;
  /// Whether any version of a table is stored.
  virtual bool has_materialised(const std::string& table) = 0;
  /// What a message says that has not found this name: names like it, or all there are.
  virtual std::string instead_of(const std::string& name) = 0;
};

/// A query to be computed, with the values of the loop variables it may use.
struct Request {
  sql::QueryPtr query;
  std::vector<std::string> names = {};
  std::vector<std::int64_t> values = {};
  std::vector<std::string> target_columns =
      {};  // what its columns will be called, if that is known
};

/// Follows references until everything is a stored table. TypeError if a version is defined by no
/// rule, or by itself: then with the cycle; or by others without an end; or if rules of a table
/// disagree on its columns.
/// At most a million versions are looked at for one statement; Interrupted if that is asked for.
Unrolled unroll(const std::vector<Request>& requests, Definitions& definitions,
                const std::stop_token& stop = {});

}  // namespace tessera::query
