// SPDX-License-Identifier: Apache-2.0
// paths/wrapper_kind.hpp — kinds of wrappers: names, settings and construction.
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

/// Documentation of one setting, for `paths kinds`, the reference and the schema of configs.
struct SettingHelp {
  std::string name;
  /// "time", "bytes", "element", ...: a key of OF_TYPE in scripts/schema.py, or values such as
  /// "integer from 1 to 100" and "pull, push or both".
  std::string type;
  std::string fallback;  ///< default as written in a config; "required" if there is none
  std::string help;      ///< description of the setting in one sentence
};

/// Kind of collective in a high-level config. The joins of the collective are wrappers of the kind
/// with the same name.
struct CollectiveKind {
  std::string help;                        ///< description of the collective in one sentence
  std::vector<SettingHelp> settings = {};  ///< settings of the collective and of its joins
  /// Reads and checks `settings`. Reports mistakes to the reader.
  void (*read)(base::MapReader&) = nullptr;
  /// Name of the setting by which a join selects the slot of the root; "" if no contributor is the
  /// root.
  std::string root_slot = {};

  /// Returns the entries of `map` that are settings of this kind, in the order of `settings`.
  base::Settings own_settings(const base::Settings& map) const;
};

/// Position of a wrapper in a plan, for the function that reads the settings of the wrapper.
class WrapperPlace {
 public:
  /// Requires: `plan` outlives this object.
  WrapperPlace(const Plan& plan, std::uint32_t wrapper, std::uint32_t host, std::uint32_t slots)
      : plan_(plan), wrapper_(wrapper), host_(host), slots_(slots) {}

  const Plan& plan() const { return was_asked_ = true, plan_; }
  std::uint32_t host() const { return was_asked_ = true, host_; }
  std::uint32_t slots() const { return was_asked_ = true, slots_; }  ///< number of contributors
  /// Returns the wrapper's index in the plan. Creation of the wrapper needs the index, but the
  /// check of settings does not. Therefore a call of this function does not change was_asked().
  std::uint32_t wrapper() const { return wrapper_; }
  /// Returns whether the check of settings called plan(), host() or slots(). If false, the result
  /// of the check depends only on the settings.
  bool was_asked() const { return was_asked_; }

 private:
  const Plan& plan_;
  std::uint32_t wrapper_, host_, slots_;
  mutable bool was_asked_ = false;
};

using MakeWrapper = std::function<std::unique_ptr<Wrapper>(Deployment&)>;

/// Kind of wrapper: its name, its settings, and how to construct it. wrappers/all.cpp lists all
/// kinds.
struct WrapperKind {
  std::string name;
  std::string help;
  std::vector<SettingHelp> settings;
  std::vector<std::string> roles = {};  ///< words that may follow the wrapper's name on a path
  Job job = Job::other;
  /// Whether each contributor to a join of this kind gets back a value as large as its
  /// contribution.
  bool answers_in_kind = false;
  /// Whether results of this kind of wrapper may cover only some of the contributions to a round.
  bool may_answer_partial_values = false;
  /// Whether wrappers of this kind access an element of another host in shared memory. Such a
  /// wrapper carries out operations instead of the last wrapper of its path. Only forwards and
  /// event collectors may be between these two wrappers.
  bool maps = false;
  /// Whether wrappers of this kind end paths and refuse operations that change the element.
  bool only_reads = false;
  /// Name of the setting that names the element for fetched tuples; "" if the kind is not a
  /// prefetch.
  std::string fetches_into = {};
  std::optional<CollectiveKind> collective = {};
  /// Returns the template of tuples below the wrapper, derived from the settings and the template
  /// above. nullptr if the setting `template` describes the tuples both above and below the
  /// wrapper.
  pastset::Template (*template_below)(const base::Settings& settings,
                                      const pastset::Template& above) = nullptr;
  /// Reads and checks the settings. Reports mistakes to the reader. The caller must call finish()
  /// of the reader. Returns a function that creates the wrapper. If there were mistakes, that
  /// function must not be called.
  std::function<MakeWrapper(base::MapReader&, const WrapperPlace&)> read;

  /// Whether wrappers of this kind are joins. All paths through a join must have the same stages
  /// below it.
  bool joins() const { return job == Job::join; }
  /// Whether wrappers of this kind end a path. Each path needs such a wrapper.
  bool ends() const { return job == Job::store; }
  /// Whether the path continues on the host in the setting `to`.
  bool crosses() const { return job == Job::crossing; }
  /// Returns whether the wrapper starts operations itself. The path of such a wrapper has no
  /// thread.
  bool drives_own_path() const { return job == Job::prefetch || job == Job::push; }
};

class WrapperKinds {
 public:
  void add(WrapperKind kind);
  const WrapperKind* find(std::string_view name) const;
  /// Returns the kind named `name`. Requires: the kind exists, as is true for every name in a
  /// checked plan.
  const WrapperKind& at(std::string_view name) const;
  std::vector<std::string_view> names() const;  ///< names of all kinds, in the order of add()
  std::vector<std::string_view> collectives()
      const;  ///< names of the kinds with a set `collective`
  const std::vector<WrapperKind>& all() const { return kinds_; }

 private:
  std::vector<WrapperKind> kinds_;
};

}  // namespace paths
