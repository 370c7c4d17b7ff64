// SPDX-License-Identifier: Apache-2.0
// wrappers/push.cpp — service context that sends the tuples of an element.
#include "wrappers/push.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "base/errors.hpp"
#include "eventspace/record.hpp"
#include "paths/host/requests/dispatcher.hpp"
#include "paths/plan/element_setting.hpp"
#include "paths/plan/plan.hpp"

namespace wrappers {

void Push::handle(paths::Operation&& operation, paths::Next next, paths::Responder& responder) {
  next.handle(std::move(operation), std::move(responder));
}

void Push::start() {
  const paths::Plan& plan = deployment_.plan();
  for (std::uint32_t path = 0; path < plan.paths.size(); ++path) {
    const auto& begun = plan.paths[path];
    if (begun.threads > 0 || plan.stages[begun.stage].wrapper != wrapper_) continue;
    ENSURE(!following_);
    path_ = path;
    following_ = deployment_.services().spawn("push", [this] { follow(); });
  }
}

void Push::stop() {
  if (!following_) return;
  following_.cancel();
  following_.join();
  send_rest();
}

void Push::follow() {
  constexpr auto unlimited = std::numeric_limits<std::uint64_t>::max();
  // The mark is sent after the try block, because a fiber must not block inside a catch block.
  pastset::ErrorMark mark = "";
  try {
    if (!settings_.asks) return answer({0, unlimited});
    while (true) answer(next_ask());
  } catch (const pastset::Deleted&) {
    return;  // the element was deleted, so nothing is left to send
  } catch (const pastset::ElementError& error) {
    mark = paths::mark_of(error);
  }
  // Sends the mark even if only the element of requests is marked, because a host may still wait
  // for a requested tuple.
  end(mark);
}

/// Waits until there is a request that was not served yet, and returns the newest such request.
/// Throws: pastset::Marked if the element of requests has an error mark, after its last request.
paths::Ask Push::next_ask() {
  const pastset::Stored newest = settings_.asks->newest(next_ask_);
  next_ask_ = newest.number + 1;
  return paths::read_ask(newest.payload);
}

void Push::answer(const paths::Ask& ask) {
  for (std::uint64_t sent = 0; sent < ask.count; ++sent)
    send_up_to(settings_.from->newest(std::max(next_, ask.from)));
}

void Push::send_up_to(const pastset::Stored& newest) {
  for (; settings_.every && next_ < newest.number; ++next_)
    send(settings_.from->observe(next_).payload);
  next_ = newest.number + 1;
  send(newest.payload);
}

void Push::send_rest() {
  if (has_ended_) return;
  try {
    const auto mark = settings_.from->error_mark();
    const auto newest = settings_.from->try_newest();
    if (newest && newest->number >= next_) send_up_to(*newest);
    if (mark) end(*mark);
  } catch (const pastset::Deleted&) {
    // The element was deleted first, so there is nothing left to send.
  } catch (const pastset::ElementError& error) {
    end(paths::mark_of(error));
  }
}

void Push::end(const pastset::ErrorMark& mark) {
  has_ended_ = true;
  deployment_.dispatcher().release_background(
      path_, std::make_shared<paths::TravelError>(paths::error_of_mark(mark)));
}

void Push::send(base::Payload tuple) {
  const paths::Stage* stage = deployment_.instance().stage(deployment_.plan().paths[path_].stage);
  ENSURE(stage != nullptr);
  const paths::Next next(deployment_, *stage, nullptr);
  paths::Operation operation;
  operation.one_way = true;
  operation.kept = settings_.every || settings_.asks;  // receivers need every tuple
  operation.path = path_;
  operation.slot = deployment_.plan().paths[path_].slot;
  operation.sequence = sent_++;
  operation.payload = std::move(tuple);
  eventspace::EventRecord record;
  record.place = next.stage().id;
  record.sequence = operation.sequence;
  record.kind = static_cast<std::uint8_t>(eventspace::EventKind::prefetch);
  record.flags = eventspace::event_one_way;
  record.bytes = eventspace::capped_bytes(operation.payload.size());
  record.down_nanos = deployment_.runtime().now().count();
  try {
    next(std::move(operation));
  } catch (const paths::TravelError&) {
    // The far host is gone. The readers that wait on that host are gone, too.
  }
  record.up_nanos = deployment_.runtime().now().count();
  deployment_.recorder().add(record);
}

paths::WrapperKind push_kind() {
  paths::WrapperKind kind;
  kind.name = "push";
  kind.help = "Begins a path: sends an element's tuples to the far end, unrequested or on request.";
  kind.settings = {
      {"from", "element", "required", "The element of this host whose tuples it sends."},
      {"asks", "element of asks", "none",
       "Element of this host with the requests of others; none: tuples are sent unrequested."},
      {"every", "true or false", "false",
       "true: sends every tuple; false: sends the newest each time."},
  };
  kind.job = paths::Job::push;
  kind.read = [](base::MapReader& reader, const paths::WrapperPlace& place) -> paths::MakeWrapper {
    const std::string from = paths::read_element(reader, "from", place);
    const std::string asks =
        reader.has("asks") ? paths::read_element(reader, "asks", place) : std::string();
    if (!asks.empty()) paths::check_element(reader, "asks", asks, place, paths::ask_template());
    const bool every = reader.flag("every", false);
    if (every && !asks.empty())
      reader.mistake("every", "expected either asks or every, found both");
    return [=, wrapper = place.wrapper()](paths::Deployment& deployment) {
      PushSettings settings{deployment.element(from),
                            asks.empty() ? nullptr : deployment.element(asks), every};
      return std::make_unique<Push>(deployment, wrapper, std::move(settings));
    };
  };
  return kind;
}

}  // namespace wrappers
