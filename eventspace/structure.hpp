// SPDX-License-Identifier: Apache-2.0
// eventspace/structure.hpp — the parts of a plan to which the records of a run refer.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "eventspace/job.hpp"

namespace eventspace {

inline constexpr std::uint32_t no_stage = 0xffffffff;

/// Hosts, wrappers, stages and paths of a plan, indexed by their numbers. A trace contains its
/// structure, so that its records can be read without the config. This is necessary because a
/// record names its event collector only by the number of the collector's stage.
struct Structure {
  struct Host {
    std::string name;
    std::uint32_t cluster = 0;
    std::uint32_t first_thread = 0;  ///< rank of the host's first thread
    std::uint32_t threads = 0;
    friend bool operator==(const Host&, const Host&) = default;
  };
  struct Wrapper {
    std::string name;  ///< "" = no name, because a path defines the wrapper
    std::string kind;
    std::uint32_t host = 0;
    std::uint32_t slots = 0;  ///< number of contributors that enter the wrapper
    std::string settings;     ///< settings as the config writes them
    std::string position;     ///< file, line and column: "configs/a.yaml:12:5"
    /// Clusters whose values a condition check combines, in the order in which it combines them.
    std::vector<std::uint32_t> combines = {};
    Job job = Job::other;
    /// For a join: whether its reply to a contributor is as long as the value of this contributor.
    bool answers_in_kind = false;
    friend bool operator==(const Wrapper&, const Wrapper&) = default;
  };
  struct Stage {
    std::uint32_t wrapper = 0;
    std::uint32_t below = no_stage;
    std::uint32_t slot = 0;  ///< slot of this stage's operations in the stage `below`
    std::uint32_t role = 0;  ///< emulated link: 0 = delays requests, 1 = delays replies
    friend bool operator==(const Stage&, const Stage&) = default;
  };
  struct Path {
    std::string graph;  ///< name of the collective or element
    std::uint32_t host = 0;
    std::uint32_t first_thread = 0;  ///< index of the first thread among the threads of `host`
    std::uint32_t threads = 0;       ///< 0 = no thread: a wrapper begins the path
    std::uint32_t slot = 0;          ///< slot of the first thread at `stage`
    std::uint32_t stage = no_stage;  ///< first stage of the path
    friend bool operator==(const Path&, const Path&) = default;
  };

  /// Number of streams of a link from one cluster to another cluster. It limits how many frames the
  /// link carries at the same time.
  struct Streams {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    std::uint32_t count = 0;  ///< 0 = unlimited
    friend bool operator==(const Streams&, const Streams&) = default;
  };

  std::vector<std::string> clusters;
  std::vector<Host> hosts;
  std::vector<Wrapper> wrappers;
  std::vector<Stage> stages;
  std::vector<Path> paths;
  std::vector<Streams> streams;  ///< links with a limited or known number of streams

  const Wrapper& wrapper_of(std::uint32_t stage) const { return wrappers[stages[stage].wrapper]; }
  std::uint32_t host_of(std::uint32_t stage) const { return wrapper_of(stage).host; }
  std::uint32_t thread_count() const;
  std::uint32_t host_of_thread(std::uint32_t rank) const;
  std::string thread_name(std::uint32_t rank) const;  ///< host and thread: "alpha-0/3"
  friend bool operator==(const Structure&, const Structure&) = default;
};

/// Returns the setting `key` of a wrapper as the config has it, such as "5ms"; "" if the wrapper
/// has no such setting.
std::string_view setting_of(const Structure::Wrapper& wrapper, std::string_view key);

/// Returns the values of the setting `key`, which is a list or a single value.
std::vector<std::string_view> settings_of(const Structure::Wrapper& wrapper, std::string_view key);

/// Whether a setting of the wrapper has the element name `element` as its whole value. False if
/// `element` is empty.
bool names_element(const Structure::Wrapper& wrapper, std::string_view element);

/// Sets Wrapper::job (purpose of the wrapper, job.hpp) from the wrapper's kind. Needed for old
/// traces, which do not contain the job.
void set_job_by_kind(Structure::Wrapper& wrapper);

std::string to_json(const Structure& structure);
/// Reads a structure. If an old trace does not contain Structure::Wrapper::job, sets it from the
/// wrapper's kind.
/// Throws: std::runtime_error with the reason: for example, the text is no JSON, or a number refers
/// to no host, wrapper, stage or cluster.
Structure structure_from_json(std::string_view text);

}  // namespace eventspace
