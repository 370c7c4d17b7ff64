// SPDX-License-Identifier: Apache-2.0
// paths/wrapper_kind.hpp — what a kind of wrapper is called, how it is configured and made.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/settings.hpp"
#include "eventspace/job.hpp"
#include "pastset/template.hpp"
#include "paths/wrapper.hpp"

namespace paths {

using eventspace::Job;
struct Plan;

/// One setting as people read of it in `paths show --kinds`, in the reference and in the schema.
struct SettingHelp {
  std::string name;
  std::string type;  ///< "time", "bytes", "rate", "word", "number", "integer", "flag", "template",
                     ///< "element", "host", "list of elements", "condition", ...
  std::string fallback;  ///< as it would be written; "required" when there is none
  std::string help;      ///< one sentence
};

/// What a collective of the high level is whose joins are of one kind of wrapper, by which it is
/// called. A passive description, of that kind.
struct CollectiveKind {
  std::string help;                        ///< one sentence
  std::vector<SettingHelp> settings = {};  ///< of its own; its joins have them as they are written
  /// Reads and checks those. Mistakes go to the reader.
  void (*read)(base::MapReader&) = nullptr;
  /// The joins' setting for which of those who enter is the root, where it is one of them.
  std::string root_slot = {};

  /// Of what a map says: the kind's own settings, in the order in which it tells of them.
  base::Settings own_settings(const base::Settings& map) const;
};

/// The surroundings of a wrapper, for the reader of its settings.
class WrapperPlace {
 public:
  /// `plan` outlives it.
  WrapperPlace(const Plan& plan, std::uint32_t wrapper, std::uint32_t host, std::uint32_t slots)
      : plan_(plan), wrapper_(wrapper), host_(host), slots_(slots) {}

  const Plan& plan() const { return was_asked_ = true, plan_; }
  std::uint32_t host() const { return was_asked_ = true, host_; }
  std::uint32_t slots() const { return was_asked_ = true, slots_; }  ///< contributors that enter it
  /// Index in the plan. The wrapper that is made needs it; settings are right or wrong without it.
  std::uint32_t wrapper() const { return wrapper_; }
  /// False while only the settings have decided what was read.
  bool was_asked() const { return was_asked_; }

 private:
  const Plan& plan_;
  std::uint32_t wrapper_, host_, slots_;
  mutable bool was_asked_ = false;
};

using MakeWrapper = std::function<std::unique_ptr<Wrapper>(Deployment&)>;

/// A passive description; wrappers/all.cpp lists one for every kind.
struct WrapperKind {
  std::string name;
  std::string help;
  std::vector<SettingHelp> settings;
  std::vector<std::string> roles = {};  ///< words a path may write behind the wrapper's name
  Job job = Job::other;
  /// Of a join: what it answers each contributor is as large as what that one gave.
  bool answers_in_kind = false;
  /// What it answers may cover only some of the contributions to a round.
  bool may_answer_partial_values = false;
  /// Does itself what the end of its path would, an element of another host: only crossings may be
  /// between.
  bool maps = false;
  /// Of one that ends paths: refuses what would change the element.
  bool only_reads = false;
  /// Of a prefetch: its setting with the element for what comes up.
  std::string fetches_into = {};
  std::optional<CollectiveKind> collective = {};
  /// The template of what goes on below, where that is not the setting `template` but made of it.
  pastset::Template (*template_below)(const base::Settings& settings,
                                      const pastset::Template& above) = nullptr;
  /// Reads and checks the settings (mistakes go to the reader; finish() is the caller's) and
  /// returns how to make the wrapper; what it returns is not called when there were mistakes.
  std::function<MakeWrapper(base::MapReader&, const WrapperPlace&)> read;

  bool joins() const { return job == Job::join; }  ///< its paths must agree on everything below
  bool ends() const { return job == Job::store; }  ///< nothing may follow; a path must end so
  bool crosses() const { return job == Job::crossing; }  ///< to the host that its `to` names
  /// Drives its path itself: the path has no thread.
  bool drives_own_path() const { return job == Job::prefetch || job == Job::push; }
};

class WrapperKinds {
 public:
  void add(WrapperKind kind);
  const WrapperKind* find(std::string_view name) const;
  std::vector<std::string_view> names() const;        ///< in the order of adding
  std::vector<std::string_view> collectives() const;  ///< those of collectives, likewise
  const std::vector<WrapperKind>& all() const { return kinds_; }

 private:
  std::vector<WrapperKind> kinds_;
};

}  // namespace paths
