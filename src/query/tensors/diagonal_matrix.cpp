#include "query/tensors/diagonal_matrix.h"

#include "query/tensors/bind_comprehension.h"

namespace tessera::query {

/// [ ((i, i), v) | (i, v) <- vector ]
calculus::Array diagonal_matrix(const calculus::Array& vector) {
  const auto expression = [](auto node) {
    return std::make_shared<const sql::Expression>(sql::Expression{std::move(node), {}});
  };
  const auto name = [&](const char* variable) { return expression(sql::Name{{}, variable}); };
  const auto index = [&] { return expression(sql::Tuple{{name("i"), name("i")}}); };
  sql::Comprehension diagonal;
  diagonal.head = expression(sql::Tuple{{index(), name("v")}});
  sql::Pattern element{{}, {{"i"}, {"v"}}, true};
  diagonal.qualifiers.push_back({sql::Generator{element, name("vector")}, {}});
  return bind_comprehension(*expression(std::make_shared<const sql::Comprehension>(diagonal)),
                            [&](const sql::Expression&) { return vector; });
}

}  // namespace tessera::query
