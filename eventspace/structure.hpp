// SPDX-License-Identifier: Apache-2.0
// eventspace/structure.hpp — what the records of a run refer to: the plan, as an analysis sees it.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "eventspace/job.hpp"

namespace eventspace {

inline constexpr std::uint32_t no_stage = 0xffffffff;

/// Hosts, wrappers, stages and paths by their numbers in the plan. Records name stages by number;
/// an event collector is a wrapper, and so a stage, like any other.
struct Structure {
  struct Host {
    std::string name;
    std::uint32_t cluster = 0;
    std::uint32_t first_thread = 0;  ///< rank of its first one
    std::uint32_t threads = 0;
    friend bool operator==(const Host&, const Host&) = default;
  };
  struct Wrapper {
    std::string name;  ///< "" for one written in place on a path
    std::string kind;
    std::uint32_t host = 0;
    std::uint32_t slots = 0;  ///< contributors that enter it
    std::string settings;     ///< as written in the config, for people
    std::string position;     ///< "configs/a.yaml:12:5"
    /// Of a condition check: the clusters whose values it combines, in that order.
    std::vector<std::uint32_t> combines = {};
    Job job = Job::other;
    /// Of a join: what goes up to each contributor is as large as what came down from it.
    bool answers_in_kind = false;
    friend bool operator==(const Wrapper&, const Wrapper&) = default;
  };
  struct Stage {
    std::uint32_t wrapper = 0;
    std::uint32_t below = no_stage;
    std::uint32_t slot = 0;  ///< at which what leaves here enters `below`
    std::uint32_t role = 0;  ///< of a link: 0 on the way down, 1 on the way up
    friend bool operator==(const Stage&, const Stage&) = default;
  };
  struct Path {
    std::string graph;  ///< the collective's or element's name
    std::uint32_t host = 0;
    std::uint32_t first_thread = 0;  ///< of that host
    std::uint32_t threads = 0;       ///< 0: begun by a prefetch
    std::uint32_t slot = 0;          ///< its first thread's slot at its first stage
    std::uint32_t stage = no_stage;  ///< where it begins
    friend bool operator==(const Path&, const Path&) = default;
  };

  /// The link from one cluster to another carries so much at once.
  struct Streams {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    std::uint32_t count = 0;  ///< 0: any number
    friend bool operator==(const Streams&, const Streams&) = default;
  };

  std::vector<std::string> clusters;
  std::vector<Host> hosts;
  std::vector<Wrapper> wrappers;
  std::vector<Stage> stages;
  std::vector<Path> paths;
  std::vector<Streams> streams;  ///< of links that have such

  const Wrapper& wrapper_of(std::uint32_t stage) const { return wrappers[stages[stage].wrapper]; }
  std::uint32_t host_of(std::uint32_t stage) const { return wrapper_of(stage).host; }
  std::uint32_t thread_count() const;
  std::uint32_t host_of_thread(std::uint32_t rank) const;
  std::string thread_name(std::uint32_t rank) const;  ///< "alpha-0/3"
  friend bool operator==(const Structure&, const Structure&) = default;
};

/// A setting of a wrapper as its config writes it, such as "5ms"; "" when it has none of that key.
std::string_view setting_of(const Structure::Wrapper& wrapper, std::string_view key);

/// Whether a value in the wrapper's settings is exactly this name of an element. False if it is "".
bool names_element(const Structure::Wrapper& wrapper, std::string_view element);

/// Sets the wrapper's job as its kind had it when traces did not say it.
void set_job_by_kind(Structure::Wrapper& wrapper);

std::string to_json(const Structure& structure);
/// Also of traces that were recorded before wrappers had jobs.
/// Throws std::runtime_error that says what is wrong: not JSON, a number that refers to nothing.
Structure structure_from_json(std::string_view text);

}  // namespace eventspace
