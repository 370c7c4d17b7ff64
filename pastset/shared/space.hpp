// SPDX-License-Identifier: Apache-2.0
// pastset/shared/space.hpp — a PastSet in memory that several processes of a machine map
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pastset/shared/doorbell.hpp"
#include "pastset/shared/log/log.hpp"
#include "pastset/space.hpp"

namespace pastset {

/// A space (pastset/space.hpp) in shared memory: one process observes tuples that another process
/// moves, without a message. Its elements are SharedElements. See docs/reference/shared-space.md.
///
/// Owns:        this process's entry in the shared memory, and two OS threads that mostly sleep.
///              Payloads that were read keep the memory mapped after the space is destroyed.
/// Thread-safe: yes. The child of a fork must map the space itself.
/// Blocks:      for a few instructions while another process calls enter().
/// Throws:      SharedSpaceError; SharedSpaceFull.
class SharedSpace {
 public:
  using Options = SharedMapping::Options;
  /// An element that exists before other processes can find the space.
  struct Entered {
    std::string name;
    Template tuple_template;
    ElementOptions options = {};
    SharedSizes sizes = {};
  };
  /// Makes a new space. The space disappears when no process maps it any more. When other processes
  /// can first find the space, it contains exactly the given `elements`.
  /// Requires: there is no space of that name.
  static std::unique_ptr<SharedSpace> make(const std::string& name, const Options& options = {},
                                           std::span<const Entered> elements = {});
  /// Maps an existing space. A space of another user may be read-only: its elements are then
  /// SharedElementReaders, and enter() cannot make new elements.
  static std::unique_ptr<SharedSpace> map(const std::string& name, const Options& options = {});
  /// Maps a space from a descriptor that another process handed over (descriptor()).
  static std::unique_ptr<SharedSpace> map(base::Descriptor memory, const Options& options = {});
  /// Returns the bytes that a space needs for elements of these sizes.
  static std::size_t bytes_of(std::span<const SharedSizes> elements);
  ~SharedSpace();
  SharedSpace(const SharedSpace&) = delete;
  SharedSpace& operator=(const SharedSpace&) = delete;

  /// Like Space::enter(). If the element exists already, the sizes and all options except the
  /// X-function have no effect.
  std::shared_ptr<Element> enter(const std::string& name, const Template& tuple_template,
                                 const ElementOptions& options = {}, const SharedSizes& sizes = {});
  std::shared_ptr<Element> find(std::string_view name);  ///< nullptr if there is none
  void delete_element(std::string_view name);
  std::vector<std::string> names() const;

  int descriptor() const { return mapping_->descriptor(); }
  const SharedMapping& mapping() const { return *mapping_; }

  /// State of an element, for display.
  struct Shown {
    std::string name, tuple_template;
    SharedLog::Numbers numbers;
    std::uint64_t delta = 0, keep_newest = 0, blocked_movers = 0;
    std::uint64_t slots = 0, arena_bytes = 0, arena_bytes_used = 0;
    std::string mark;
    std::vector<std::uint32_t> listeners;  ///< pids of processes that wait for changes
    /// Pid of a process that held the element for so long that only `name` and `tuple_template`
    /// could be read; nullopt if all members could be read.
    std::optional<std::uint32_t> held_by;
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
  std::map<std::string, std::shared_ptr<Element>, std::less<>>
      elements_;  // elements that this process entered, by name
};

}  // namespace pastset
