// SPDX-License-Identifier: Apache-2.0
// pastset/shared/space.hpp — a PastSet in memory that several processes of a machine map.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pastset/shared/doorbell.hpp"
#include "pastset/shared/log.hpp"
#include "pastset/space.hpp"

namespace pastset {

/// A space (pastset/space.hpp) whose elements are SharedElements: what one process moves, another
/// observes, without a message. See docs/shared-space.md.
///
/// Owns:    its place among the processes that map the memory, and two OS threads that sleep.
///          Payloads that were read keep the memory after it.
/// Sharing: any context may call anything at any time; not in a child of a fork, which maps for
///          itself.
/// Blocks:  for a few instructions while another process enters.
/// Throws:  SharedSpaceError; SharedSpaceFull.
class SharedSpace {
 public:
  using Options = SharedMapping::Options;
  /// An element that a space has from the beginning.
  struct Entered {
    std::string name;
    Template tuple_template;
    ElementOptions options = {};
    SharedSizes sizes = {};
  };
  /// A new one; there is none of that name. It is gone when no process maps it any more. Whoever
  /// finds it finds these elements in it, as they are said to be here.
  static std::unique_ptr<SharedSpace> make(const std::string& name, const Options& options = {},
                                           std::span<const Entered> elements = {});
  /// One that is there. Another user's may be one that can only be read: its elements are
  /// SharedOnlookers then, and enter() makes none.
  static std::unique_ptr<SharedSpace> map(const std::string& name, const Options& options = {});
  /// The same of a descriptor that was handed over (descriptor()).
  static std::unique_ptr<SharedSpace> map(base::Descriptor memory, const Options& options = {});
  /// How many one takes that has elements of these sizes.
  static std::size_t bytes_of(std::span<const SharedSizes> elements);
  ~SharedSpace();
  SharedSpace(const SharedSpace&) = delete;
  SharedSpace& operator=(const SharedSpace&) = delete;

  /// As Space::enter(); sizes count only for who makes it, as all options but the X-function do.
  std::shared_ptr<Element> enter(const std::string& name, const Template& tuple_template,
                                 const ElementOptions& options = {}, const SharedSizes& sizes = {});
  std::shared_ptr<Element> find(std::string_view name);  ///< null when there is none
  void delete_element(std::string_view name);
  std::vector<std::string> names() const;

  int descriptor() const { return mapping_->descriptor(); }
  const SharedMapping& mapping() const { return *mapping_; }

  /// As a person wants to know of an element.
  struct Shown {
    std::string name, tuple_template;
    SharedLog::Numbers numbers;
    std::uint64_t delta = 0, keep_newest = 0, blocked_movers = 0;
    std::uint64_t slots = 0, arena_bytes = 0, arena_bytes_used = 0;
    std::string mark;
    std::vector<std::uint32_t> listeners;  ///< processes that wait, by pid
    std::optional<std::uint32_t> held_by;  ///< a pid, for so long that nothing more can be told
  };
  std::vector<Shown> show() const;

 private:
  explicit SharedSpace(std::shared_ptr<SharedMapping> mapping);
  std::optional<std::uint32_t> index_of(std::string_view name) const;
  std::shared_ptr<Element> handle_of(std::string_view name) const;
  std::shared_ptr<Element> bind(std::uint32_t index, XFunction x_function);
  Shown shown(std::uint32_t index) const;
  std::uint32_t create(const std::string& name, const Template& tuple_template,
                       const ElementOptions& options, const SharedSizes& sizes);

  const std::shared_ptr<SharedMapping> mapping_;
  const std::shared_ptr<Doorbell> listener_;
  mutable runtime::Mutex mutex_;
  std::map<std::string, std::shared_ptr<Element>, std::less<>> elements_;  // entered here
};

}  // namespace pastset
