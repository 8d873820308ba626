#include "kernel/kernel_bytes.h"

#include "base/check.h"

// A call is 0 and the number of one that came before, or else 1 or 2, its kernel's name and its
// parameters. 2: the kernel is not registered, so that no other program can find it by its name.

namespace tessera {
namespace {

enum : std::int64_t { again, registered, unregistered };

bool is_registered(const Kernel& kernel) {
  try {
    return find_kernel(kernel.name).get() == &kernel;
  } catch (const TypeError&) {
    return false;
  }
}

void put_value(PackedWriter& out, const ParamValue& value) {
  out.put_short(static_cast<std::int64_t>(value.index()));
  std::visit(
      [&]<class Value>(const Value& held) {
        if constexpr (std::is_same_v<Value, bool> || std::is_same_v<Value, std::int64_t>) {
          out.put_short(held);
        } else if constexpr (std::is_same_v<Value, std::vector<std::int64_t>>) {
          out.put_short(std::ssize(held));
          for (const std::int64_t number : held) out.put_short(number);
        } else {
          out.put(held);
        }
      },
      value);
}

ParamValue read_value(PackedReader& in) {
  switch (in.short_below(5)) {
    case 0: return in.short_below(2) != 0;
    case 1: return in.short_integer();
    case 2: return in.number<double>();
    case 3: {
      std::vector<std::int64_t> numbers(in.short_count());
      for (std::int64_t& number : numbers) number = in.short_integer();
      return numbers;
    }
    default: return in.text();
  }
}

}  // namespace

void KernelWriter::put(const KernelCall& call) {
  PackedWriter params;
  params.put_short(std::ssize(call.params().values()));
  for (const auto& [name, value] : call.params().values()) {
    params.put(name);
    put_value(params, value);
  }
  const auto [known, added] =
      numbers_.try_emplace({&call.kernel(), params.bytes()}, std::ssize(calls_));
  if (!added) {
    out_.put_short(again).put_short(known->second);
    return;
  }
  calls_.push_back(call);
  const bool by_name = is_registered(call.kernel());
  TESSERA_REQUIRE(PlanError, by_name || !sealed_,
                  "kernel \"{}\" cannot be written: it is not registered, and was added after the "
                  "plan that the reader knows",
                  call.kernel().name);
  out_.put_short(by_name ? registered : unregistered).put(call.kernel().name);
  out_.put_bytes(params.bytes());
}

KernelCall KernelReader::call() {
  const std::int64_t form = in_.short_below(3);
  if (form == again) return calls_[static_cast<std::size_t>(in_.short_below(std::ssize(calls_)))];
  calls_.push_back(new_call(form == registered));
  return calls_.back();
}

KernelCall KernelReader::new_call(bool by_name) {
  const std::string name = in_.text();
  TESSERA_REQUIRE(PlanError, by_name,
                  "the plan uses kernel \"{}\", which cannot be read: it is not registered, and "
                  "only the program that wrote it knows it",
                  name);
  Params params;
  for (std::size_t left = in_.short_count(); left > 0; --left) {
    const std::string parameter = in_.text();
    params.set(parameter, read_value(in_));
  }
  try {
    return {name, params};
  } catch (const TypeError& error) {
    throw PlanError(
        fmt::format("the plan has a kernel that is not registered here: {}", error.what()));
  }
}

}  // namespace tessera
