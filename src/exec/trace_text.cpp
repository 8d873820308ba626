#include "exec/trace_text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace tessera::exec {
namespace {

constexpr std::int64_t memory_every = 1'000'000;  // nanoseconds

std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

double microseconds(std::int64_t nanoseconds) { return static_cast<double>(nanoseconds) * 1e-3; }

/// "task" and "transfer" are tasks; the others are what happens in them, or beside them.
const char* category(const ObservedRun& run, const RunEvent& event) {
  switch (event.kind) {
    case RunEvent::Kind::task:
      return run.graph().tasks[event.task].kind == TaskKind::transfer ? "transfer" : "task";
    case RunEvent::Kind::read: return "read";
    case RunEvent::Kind::written: return "written";
    case RunEvent::Kind::spilled: return "spilled";
    case RunEvent::Kind::sent: return "sent";
    case RunEvent::Kind::received: return "received";
  }
  return "";
}

/// What the event is called where it is not by its operator.
std::string shown(const RunEvent& event) {
  switch (event.kind) {
    case RunEvent::Kind::task: return "task";
    case RunEvent::Kind::read: return event.op < 0 ? "read" : "read back";
    case RunEvent::Kind::written: return "result";
    case RunEvent::Kind::spilled: return "spill";
    case RunEvent::Kind::sent: return fmt::format("send to site {}", event.other_site);
    case RunEvent::Kind::received: return fmt::format("receive from site {}", event.other_site);
  }
  return "";
}

}  // namespace

void TraceText::add_object(const std::string& object) {
  // The file puts a comma before all of these together.
  if (!text_.empty()) text_ += ',';
  text_ += '\n';
  text_ += object;
}

void TraceText::name_tracks(const RunEvent& event) {
  const auto name = [&](const char* what, const std::string& value) {
    add_object(fmt::format(R"({{"name":"{}","ph":"M","pid":{},"tid":{},"args":{{"name":{}}}}})",
                           what, event.site, event.thread, quoted(value)));
  };
  if (sites_.insert(event.site).second) {
    name("process_name", rank_ < 0 ? fmt::format("site {}", event.site)
                                   : fmt::format("site {} (rank {})", event.site, rank_));
    add_object(fmt::format(
        R"({{"name":"process_sort_index","ph":"M","pid":{0},"args":{{"sort_index":{0}}}}})",
        event.site));
  }
  if (threads_.emplace(event.site, event.thread).second)
    name("thread_name", fmt::format("thread {}", event.thread));
}

const std::string& TraceText::name_of(const ObservedRun& run, int op) {
  const auto [place, added] = names_[&run].try_emplace(op);
  if (added) place->second = quoted(run.operator_text(op));
  return place->second;
}

void TraceText::add(const ObservedRun& run, const RunEvent& event, std::int64_t begin) {
  name_tracks(event);
  const bool is_task = event.kind == RunEvent::Kind::task;
  const char* kind = category(run, event);
  std::string arguments;
  if (event.key >= 0) arguments += fmt::format(R"("key":"{}",)", to_string(run.key(event.key)));
  if (!is_task && event.op >= 0) arguments += fmt::format(R"("of":{},)", name_of(run, event.op));
  if (is_task)
    arguments +=
        fmt::format(R"("flops":{:.0f},"work_bytes":{:.0f},)", event.flops, event.work_bytes);
  if (event.is_result) arguments += R"("result":true,)";
  if (event.failed) arguments += R"("failed":true,)";
  add_object(fmt::format(
      R"({{"name":{},"cat":"{}","ph":"X","pid":{},"tid":{},"ts":{:.3f},"dur":{:.3f},"args":{{{}"bytes":{},"elements":{}}}}})",
      is_task ? name_of(run, event.op) : quoted(shown(event)), kind, event.site, event.thread,
      microseconds(begin), microseconds(event.end - event.begin), arguments, event.bytes,
      event.elements));
}

void TraceText::add_memory(std::int64_t held, std::int64_t time) {
  if (held == held_ || (held > 0 && time < memory_told_ + memory_every)) return;
  held_ = held;
  memory_told_ = time;
  add_object(
      fmt::format(R"({{"name":"memory held","ph":"C","pid":{},"ts":{:.3f},"args":{{"bytes":{}}}}})",
                  std::max(rank_, 0), microseconds(time), held));
}

}  // namespace tessera::exec
