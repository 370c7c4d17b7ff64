// SPDX-License-Identifier: Apache-2.0
// paths/config/read_liveness.cpp — checks of the intervals at which hosts send signs of life
#include "paths/config/read_liveness.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string_view>

namespace paths {
namespace {

/// Minimum of the setting `beat`, as a multiple of the round trip time of the longest link.
constexpr int trips_per_beat = 4;
/// Default of the setting `silent`, as a multiple of `beat`.
constexpr int beats_per_silence = 15;
/// Maximum of the setting `beat`. With this beat, the default of `silent` is less than time_max.
constexpr base::Nanos beat_max = std::chrono::hours(10'000);
static_assert(beats_per_silence * beat_max < base::time_max);

base::Nanos latency_of(const base::Settings& link) {
  const base::Settings* const latency = link.is_map() ? link.find("latency") : nullptr;
  if (latency == nullptr || !latency->is_scalar()) return base::Nanos(0);
  return base::parse_time(latency->text()).value_or(base::Nanos(0));
}

/// Returns the longest round trip over a link that the plan emulates.
base::Nanos longest_round_trip(const Plan& plan) {
  base::Nanos longest{0};
  for (const Plan::PlanWrapper& wrapper : plan.wrappers)
    if (wrapper.kind == "emulate_link") longest = std::max(longest, latency_of(wrapper.settings));
  if (plan.ways)
    for (const auto& [pair, link] : plan.ways->links) longest = std::max(longest, latency_of(link));
  return 2 * longest;
}

/// Reports a mistake if `found`, the duration of the setting `key`, is shorter than `least`.
void check(const base::Settings& liveness, std::string_view key, base::Nanos found,
           base::Nanos least, const char* what, base::Mistakes& mistakes) {
  const base::Settings* const written = liveness.find(key);
  if (written == nullptr || found >= least) return;
  mistakes.add(written->position(),
               fmt::format("liveness: {}: expected at least {}, {}, found {}", key,
                           base::format_time(least), what, base::format_time(found)));
}

}  // namespace

void read_liveness(base::MapReader& network, Plan& plan) {
  if (!network.has("liveness")) return;
  const base::Settings liveness = network.take("liveness");
  if (!liveness.is_map())
    return network.mistake("liveness",
                           "expected a map with `beat` and `silent`, found " + liveness.describe());
  plan.liveness.is_written = true;
  base::MapReader reader(liveness, network.mistakes(), "liveness");
  const auto beat = reader.time("beat");
  // If the value of `beat` is not a duration, reader.time() has reported the mistake. The beat is 0
  // after each mistake, so that finish_liveness() does not check it.
  plan.liveness.beat = beat.value_or(reader.has("beat") ? base::Nanos(0) : plan.liveness.beat);
  if (beat && *beat <= base::Nanos(0))
    reader.mistake(
        "beat", fmt::format("expected more than 0, found {}", liveness.find("beat")->describe()));
  if (plan.liveness.beat > beat_max) {
    reader.mistake("beat", fmt::format("expected at most {}, found {}", base::format_time(beat_max),
                                       liveness.find("beat")->describe()));
    plan.liveness.beat = base::Nanos(0);
  }
  plan.liveness.silent = reader.time("silent").value_or(plan.liveness.silent);
  reader.finish();
}

void finish_liveness(const base::Settings& network, Plan& plan, base::Mistakes& mistakes) {
  const base::Nanos trips = trips_per_beat * longest_round_trip(plan);
  const base::Settings* const written = network.is_map() ? network.find("liveness") : nullptr;
  const bool has_keys = written != nullptr && written->is_map();
  Plan::Liveness& times = plan.liveness;
  if (times.beat <= base::Nanos(0)) return;  // read_liveness() has reported the wrong `beat`
  if (!has_keys || written->find("beat") == nullptr)
    times.beat = std::clamp(trips, times.beat, beat_max);
  if (!has_keys || written->find("silent") == nullptr)
    times.silent = std::max(times.silent, beats_per_silence * times.beat);
  if (!has_keys) return;
  constexpr const char* longest_link = "four round trips of the longest link";
  check(*written, "beat", times.beat, trips, longest_link, mistakes);
  check(*written, "silent", times.silent, trips, longest_link, mistakes);
  if (times.silent >= trips)
    check(*written, "silent", times.silent, times.beat, "the beat", mistakes);
}

}  // namespace paths
