// SPDX-License-Identifier: Apache-2.0
// pastset/shared/space.cpp — list of the elements of a shared space, and places for their memory
#include "pastset/shared/space.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "pastset/shared/element.hpp"
#include "pastset/shared/element_reader.hpp"

namespace pastset {
namespace {

TemplateMismatch wrong_template(std::string_view name, const std::string& present,
                                const Template& wanted) {
  return TemplateMismatch(
      fmt::format("element '{}' has template \"{}\", not \"{}\"", name, present, wanted.text()));
}

/// Rounds the arena bytes of an element up to a whole extent, so that one tuple of these bytes
/// fits.
SharedSizes whole_extents(SharedSizes sizes) {
  sizes.arena_bytes = extent_bytes(sizes.arena_bytes);
  return sizes;
}

/// Throws SharedSpaceFull if no shared space can contain an element with these sizes.
void refuse_what_cannot_be(const SharedMapping& mapping, const std::string& name,
                           const std::string& text, std::uint64_t keep_newest,
                           const SharedSizes& whole) {
  const bool is_right = !name.empty() && name.size() < shared::name_bytes &&
                        text.size() < shared::template_bytes && whole.slots >= 3 &&
                        whole.line >= 1 && keep_newest <= whole.slots - 2 &&
                        std::max({whole.slots, whole.line, whole.arena_bytes}) <= shared_bytes_max;
  if (!is_right)
    throw SharedSpaceFull(fmt::format(
        "shared space '{}' cannot have an element '{}' of template \"{}\" that keeps {} of {} "
        "slots, with {} places in line. Names have 1 to {} bytes, and templates at most {}. An "
        "element "
        "has at least 3 slots, 2 more than it keeps, and a place in line",
        mapping.name(), name, text, keep_newest, whole.slots, whole.line, shared_name_bytes_max,
        shared_template_bytes_max));
}

}  // namespace

std::unique_ptr<SharedSpace> SharedSpace::make(const std::string& name, const Options& options,
                                               std::span<const Entered> elements) {
  std::unique_ptr<SharedSpace> space(new SharedSpace(SharedMapping::make(name, options)));
  for (const Entered& one : elements)
    space->enter(one.name, one.tuple_template, one.options, one.sizes);
  space->mapping_->open(options.access);
  return space;
}
std::unique_ptr<SharedSpace> SharedSpace::map(const std::string& name, const Options& options) {
  return std::unique_ptr<SharedSpace>(new SharedSpace(SharedMapping::map(name, options)));
}
std::unique_ptr<SharedSpace> SharedSpace::map(base::Descriptor memory, const Options& options) {
  return std::unique_ptr<SharedSpace>(
      new SharedSpace(SharedMapping::map(std::move(memory), options)));
}

std::size_t SharedSpace::bytes_of(std::span<const SharedSizes> elements) {
  std::size_t bytes = shared::segment_head_bytes;
  for (const SharedSizes& one : elements)
    bytes += in_pages(shared::region_bytes(one)) + whole_extents(one).arena_bytes;
  return in_pages(bytes);
}

SharedSpace::SharedSpace(std::shared_ptr<SharedMapping> mapping)
    : mapping_(std::move(mapping)), listener_(std::make_shared<Doorbell>(mapping_)) {}

SharedSpace::~SharedSpace() = default;

std::shared_ptr<Element> SharedSpace::enter(const std::string& name, const Template& tuple_template,
                                            const ElementOptions& options,
                                            const SharedSizes& sizes) {
  std::shared_ptr<Element> replaced;  // maybe the last handle, so destroyed after the unlock
  const runtime::Lock lock(mutex_);
  if (std::shared_ptr<Element> present = handle_of(name)) {
    if (present->tuple_template() == tuple_template) return present;
    throw wrong_template(name, present->tuple_template().text(), tuple_template);
  }
  const SharedMapping::Directory held(*mapping_);
  std::optional<std::uint32_t> index = index_of(name);
  if (index) {
    const std::string text = read_text(mapping_->segment().elements[*index].tuple_template);
    if (text != tuple_template.text()) throw wrong_template(name, text, tuple_template);
  } else {
    index = create(name, tuple_template, options, sizes);
  }
  std::shared_ptr<Element> element = bind(*index, options.x_function);
  replaced = std::exchange(elements_[name], element);
  return element;
}

std::shared_ptr<Element> SharedSpace::find(std::string_view name) {
  std::shared_ptr<Element> replaced;
  const runtime::Lock lock(mutex_);
  if (std::shared_ptr<Element> present = handle_of(name)) return present;
  const SharedMapping::Directory held(*mapping_);
  const std::optional<std::uint32_t> index = index_of(name);
  if (!index) return nullptr;
  std::shared_ptr<Element> element = bind(*index, {});
  replaced = std::exchange(elements_[std::string(name)], element);
  return element;
}

void SharedSpace::delete_element(std::string_view name) {
  if (const std::shared_ptr<Element> element = find(name)) element->delete_element();
}

std::vector<std::string> SharedSpace::names() const {
  const SharedMapping::Directory held(*mapping_);
  std::vector<std::string> names;
  for (const shared::Element& one : mapping_->segment().elements)
    if (one.state == shared::Element::live) names.push_back(read_text(one.name));
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<SharedSpace::Shown> SharedSpace::show() const {
  const SharedMapping::Directory held(*mapping_);
  std::vector<Shown> all;
  for (std::uint32_t i = 0; i < shared_elements_max; ++i)
    if (mapping_->segment().elements[i].state == shared::Element::live) all.push_back(shown(i));
  return all;
}

SharedSpace::Shown SharedSpace::shown(std::uint32_t index) const {
  const shared::Element& one = mapping_->segment().elements[index];
  SharedLog log(*mapping_, index);
  Shown shown;
  shown.name = read_text(one.name);
  shown.tuple_template = read_text(one.tuple_template);
  std::optional<SharedLog::Held> locked;
  if (mapping_->may_write()) {
    while (!shown.held_by && !log.try_take(SharedMapping::brief_patience))
      shown.held_by = one.lock.holder();
    if (shown.held_by) return shown;
    locked.emplace(log);
  }
  shown.numbers = log.range().numbers_now();
  shown.delta = one.delta;
  shown.keep_newest = one.keep_newest;
  shown.blocked_movers = one.line_count;
  shown.slots = one.slots;
  shown.arena_bytes = one.arena_bytes;
  shown.arena_bytes_used = log.tuples().memory().bytes_used();
  shown.mark = log.users().mark().value_or("").text;
  const auto processes = mapping_->processes().all();
  for (std::uint32_t process = 0; process < shared::processes_max; ++process)
    if ((one.listeners >> process & 1) != 0) shown.listeners.push_back(processes[process].pid);
  return shown;
}

std::shared_ptr<Element> SharedSpace::handle_of(std::string_view name) const {
  const auto found = elements_.find(name);
  return found != elements_.end() && !found->second->is_deleted() ? found->second : nullptr;
}

std::optional<std::uint32_t> SharedSpace::index_of(std::string_view name) const {
  for (std::uint32_t i = 0; i < shared_elements_max; ++i) {
    const shared::Element& one = mapping_->segment().elements[i];
    if (one.state == shared::Element::live && read_text(one.name) == name) return i;
  }
  return std::nullopt;
}

std::shared_ptr<Element> SharedSpace::bind(std::uint32_t index, XFunction x_function) {
  const shared::Element& one = mapping_->segment().elements[index];
  std::string name = read_text(one.name), wrong;
  const std::optional<Template> tuple_template =
      Template::parse(read_text(one.tuple_template), &wrong);
  if (!tuple_template)
    throw SharedSpaceError(
        fmt::format("shared space '{}': the template of element '{}' was "
                    "overwritten: {}",
                    mapping_->name(), name, wrong));
  if (!mapping_->may_write())
    return std::make_shared<SharedElementReader>(mapping_, listener_, index, std::move(name),
                                                 *tuple_template);
  return std::make_shared<SharedElement>(mapping_, listener_, index, std::move(name),
                                         *tuple_template, std::move(x_function));
}

namespace {

struct Region {
  std::uint64_t begin = 0, end = 0;
};

/// Returns the first region of `bytes` bytes that no live element uses.
Region free_region(std::vector<Region> taken, std::uint64_t bytes) {
  std::sort(taken.begin(), taken.end(),
            [](const Region& a, const Region& b) { return a.begin < b.begin; });
  std::uint64_t begin = shared::segment_head_bytes;
  for (const Region& one : taken) {
    if (one.begin >= begin && one.begin - begin >= bytes) break;
    begin = std::max(begin, in_pages(one.end));
  }
  return {begin, begin + bytes};
}

/// Writes all fields of an element except name, template, generation and state. The order of the
/// writes matters: if the process dies between two writes, the sizes written so far still fit the
/// region.
void describe(shared::Element& one, const Region& region, const ElementOptions& options,
              const SharedSizes& sizes) {
  const std::uint32_t changes = one.changes;
  one.line = 1;
  one.slots = 3;
  one.region = region.begin;
  one.region_bytes = region.end - region.begin;
  one.slots = sizes.slots;
  one.line = sizes.line;
  one.arena_bytes = sizes.arena_bytes;
  for (shared::Long* zero :
       {&one.oldest, &one.first, &one.last, &one.next_ticket, &one.chunk_used, &one.chunk_newest})
    *zero = 0;
  for (shared::Word* zero : {&one.line_count, &one.listeners, &one.mark_state, &one.is_guest,
                             &one.chunk, &one.movers, &one.takers})
    *zero = 0;
  for (shared::Who* nobody : {&one.lost_mover, &one.lost_taker}) write_text(*nobody, "");
  one.changes = changes + 1;
  one.delta = options.delta;
  one.keep_newest = options.keep_newest;
}

}  // namespace

/// Makes an element: an entry in the list of elements, and a region in memory.
/// Requires: the lock of the list of processes and elements is held.
std::uint32_t SharedSpace::create(const std::string& name, const Template& tuple_template,
                                  const ElementOptions& options, const SharedSizes& sizes) {
  if (!mapping_->may_write())
    throw SharedSpaceError(
        fmt::format("shared space '{}', which may only be read here, has no "
                    "element '{}'",
                    mapping_->name(), name));
  if (const auto owner = mapping_->processes().dead_owner())
    throw ProcessDied(
        fmt::format("shared space '{}' gets no element '{}': {}, which owned it, has "
                    "died",
                    mapping_->name(), name, *owner));
  const SharedSizes whole = whole_extents(sizes);
  const std::string text = tuple_template.text();
  refuse_what_cannot_be(*mapping_, name, text, options.keep_newest, whole);
  shared::Segment& segment = mapping_->segment();
  std::vector<Region> taken;
  std::uint64_t end = 0, arena_bytes = whole.arena_bytes;
  std::uint32_t chosen = shared_elements_max;
  for (std::uint32_t i = 0; i < shared_elements_max; ++i) {
    const shared::Element& one = segment.elements[i];
    if (one.state != shared::Element::live) {
      chosen = std::min(chosen, i);
      continue;
    }
    const SharedLog checked(*mapping_, i);
    taken.push_back({one.region, one.region + one.region_bytes});
    end = std::max(end, taken.back().end);
    arena_bytes += one.arena_bytes;
  }
  const Region region = free_region(std::move(taken), shared::region_bytes(whole));
  end = in_pages(std::max(end, region.end));
  if (chosen == shared_elements_max || end > mapping_->bytes() ||
      arena_bytes > mapping_->bytes() - end)
    throw SharedSpaceFull(fmt::format(
        "shared space '{}' of {} bytes has no room for element '{}': with it there would be {} for "
        "slots and places in line and {} for larger tuples, and it has at most {} elements",
        mapping_->name(), mapping_->bytes(), name, end, arena_bytes, shared_elements_max));
  shared::Element& one = segment.elements[chosen];
  // Handles of a deleted element with this index may still read the entry, so it is locked.
  const SharedMapping::Locked locked(*mapping_, one.lock, name);
  segment.regions_end = end;
  describe(one, region, options, whole);
  mapping_->arena().extents().forget_beyond(chosen, 0);
  // Erases the tuples and the line of elements that used this memory before.
  std::memset(mapping_->at(region.begin), 0, shared::region_bytes(whole));
  write_text(one.name, name);
  write_text(one.tuple_template, text);
  ++one.generation;
  one.state = shared::Element::live;
  return chosen;
}

}  // namespace pastset
