// SPDX-License-Identifier: Apache-2.0
// pastset/shared/mapping.cpp — shared memory without a file, and cleanup after dead processes
#include "pastset/shared/mapping.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <new>
#include <set>
#include <system_error>
#include <utility>

#include "base/file_size.hpp"
#include "pastset/shared/log.hpp"
#include "pastset/shared/names.hpp"
#include "runtime/polling/moment.hpp"
#include "runtime/processes/process_end.hpp"

namespace pastset {
namespace {

using shared::identity_in;
using shared::Segment;

constexpr int segment_seals = F_SEAL_SHRINK | F_SEAL_GROW;

[[noreturn]] void fail_with(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

void check_name(const std::string& name) {
  const bool is_right =
      !name.empty() && name.size() < shared::name_bytes &&
      std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c < 0x7f && c != '/'; });
  if (!is_right)
    throw SharedSpaceError(
        fmt::format("a shared space cannot be called '{}': at most {} letters, no blanks, no '/'",
                    name, shared::name_bytes - 1));
}

void check_bytes(const std::string& name, std::size_t bytes) {
  if (bytes < shared::segment_head_bytes)
    throw SharedSpaceError(
        fmt::format("shared space '{}' of {} bytes is too small; expected {} at least", name, bytes,
                    shared::segment_head_bytes));
  if (bytes > shared_bytes_max)
    throw SharedSpaceError(fmt::format("shared space '{}' is to have {} bytes; it can have {}",
                                       name, bytes, shared_bytes_max));
}

bool may_be_written(const base::Descriptor& memory) {
  return (fcntl(memory.get(), F_GETFL) & O_ACCMODE) == O_RDWR;
}

}  // namespace

std::shared_ptr<SharedMapping> SharedMapping::make(const std::string& name,
                                                   const Options& options) {
  check_name(name);
  for (const shared::Found& one : shared::find_spaces())
    if (one.name == name && !shared::is_orphan(one))
      throw SharedSpaceError(
          fmt::format("there is a shared space '{}' already: {}", name, one.path));
  check_bytes(name, options.bytes);
  base::Descriptor memory(memfd_create(fmt::format("{}{}", shared::memory_prefix, name).c_str(),
                                       MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!memory) fail_with("no shared memory");
  const std::size_t mapped_bytes = SharedArena::mapped_bytes(options.bytes);
  if (fchmod(memory.get(), S_IRUSR | S_IWUSR) != 0 ||
      !base::set_file_size(memory.get(), mapped_bytes))
    fail_with(fmt::format("no shared memory of {} bytes", mapped_bytes));
  if (fcntl(memory.get(), F_ADD_SEALS, segment_seals) != 0)
    fail_with("shared memory cannot be sealed");
  std::shared_ptr<SharedMapping> mapping(
      new SharedMapping(std::move(memory), mapped_bytes, options));
  Segment& segment = mapping->segment();
  write_text(segment.name, name);
  segment.version = Segment::right_version;
  segment.layout = Segment::right_layout;
  segment.bytes = mapping->bytes();
  segment.regions_end = shared::segment_head_bytes;
  segment.user = geteuid();
  segment.magic = Segment::right_magic;
  mapping->join();
  segment.owner = mapping->me_ + 1;
  return mapping;
}

void SharedMapping::open(SharedAccess access) {
  if (access != SharedAccess::own_processes) {
    const std::string path = fmt::format("/proc/self/fd/{}", memory_.get());
    const int how = access == SharedAccess::others_may_write ? O_RDWR : O_RDONLY;
    base::Descriptor for_others(::open(path.c_str(), how | O_CLOEXEC));
    if (!for_others) fail_with(path);
    door_ = std::make_unique<runtime::DescriptorDoor>(name(), std::move(for_others));
  }
  segment().is_open = 1;
}

std::shared_ptr<SharedMapping> SharedMapping::map(const std::string& name, const Options& options) {
  const auto others = shared::parse_others_name(name);
  if (others && others->number != geteuid()) {
    base::Descriptor memory = shared::ask_for(*others);
    if (memory) return map(std::move(memory), others->number, options);
    throw SharedSpaceError(fmt::format("user '{}' has no shared space '{}' that others may map",
                                       others->user, others->name));
  }
  return map_own(others ? others->name : name, options);
}

std::shared_ptr<SharedMapping> SharedMapping::map_own(const std::string& name,
                                                      const Options& options) {
  for (int tried = 0;; ++tried) {
    std::vector<shared::Found> found = shared::find_named(name);
    if (found.empty())
      throw SharedSpaceError(fmt::format("there is no shared space '{}' of this user", name));
    if (found.size() > 1 && !std::all_of(found.begin(), found.end(), shared::is_orphan))
      std::erase_if(found, shared::is_orphan);
    if (found.size() > 1)
      throw SharedSpaceError(fmt::format("there are {} shared spaces '{}': {} ({}) and {} ({})",
                                         found.size(), name, found[0].name, found[0].path,
                                         found[1].name, found[1].path));
    base::Descriptor memory = shared::open_found(found[0], O_RDWR);
    if (memory) return map(std::move(memory), options);
    // The space was found in /proc under a process that has possibly just ended. Other processes
    // may still map the space, so the search is repeated.
    if (tried == 20) fail_with(fmt::format("shared space '{}', {}", name, found[0].path));
  }
}

std::shared_ptr<SharedMapping> SharedMapping::map(base::Descriptor memory, const Options& options) {
  return map(std::move(memory), geteuid(), options);
}

std::shared_ptr<SharedMapping> SharedMapping::map(base::Descriptor memory, uid_t user,
                                                  const Options& options) {
  struct stat status {};
  if (fstat(memory.get(), &status) != 0) fail_with("a shared space");
  if (status.st_uid != user)
    throw SharedSpaceError(
        fmt::format("a shared space of user {}; expected one of user {}", status.st_uid, user));
  const int found = fcntl(memory.get(), F_GET_SEALS);
  // The seals must keep other processes from making the memory smaller. Otherwise a read beyond the
  // new end could kill this process.
  if (found < 0 || (found & segment_seals) != segment_seals)
    throw SharedSpaceError("memory that is no shared space: its size may change");
  const auto bytes = static_cast<std::size_t>(status.st_size);
  if (bytes < shared::segment_head_bytes)
    throw SharedSpaceError(fmt::format("a shared space of {} bytes; it takes {} at least", bytes,
                                       shared::segment_head_bytes));
  std::shared_ptr<SharedMapping> mapping(new SharedMapping(std::move(memory), bytes, options));
  mapping->check_head(user);
  if (mapping->may_write()) mapping->join();
  return mapping;
}

std::vector<std::string> SharedMapping::names() {
  std::set<std::string> names;
  for (shared::Found& one : shared::find_spaces())
    if (shared::is_open(one)) names.insert(std::move(one.name));
  return {names.begin(), names.end()};
}

std::vector<std::string> SharedMapping::others() { return shared::others_names(); }

SharedMapping::SharedMapping(base::Descriptor memory, std::size_t mapped_bytes,
                             const Options& options)
    : memory_(std::move(memory)),
      may_write_(may_be_written(memory_)),
      mapped_bytes_(mapped_bytes),
      bytes_(SharedArena::bytes_of_mapped(mapped_bytes)),
      lock_patience_(options.lock_patience),
      process_name_(options.process.empty() ? program_invocation_short_name : options.process),
      pid_(static_cast<std::uint32_t>(getpid())) {
  runtime::count_forks();
  forks_ = runtime::forks_until_here();
  const int how = may_write_ ? PROT_READ | PROT_WRITE : PROT_READ;
  void* const mapped = mmap(nullptr, mapped_bytes_, how, MAP_SHARED, memory_.get(), 0);
  if (mapped == MAP_FAILED) fail_with("shared memory cannot be mapped");
  base_ = static_cast<std::byte*>(mapped);
  // Leaves the arena out of core dumps, because a dump would allocate all its pages.
  madvise(base_ + bytes_, mapped_bytes_ - bytes_, MADV_DONTDUMP);
  arena_ = std::make_unique<SharedArena>(*this);
}

SharedMapping::~SharedMapping() {
  if (!is_ours() && door_) door_->leave_to_parent();
  try {
    if (me_ < shared::processes_max && is_ours()) leave();
  } catch (const ElementError&) {
    // The next process that maps the space finds that this process is gone, and cleans up.
  }
  munmap(base_, mapped_bytes_);
}

bool SharedMapping::is_ours() const { return forks_ == runtime::forks_until_here(); }

void SharedMapping::check_head(uid_t user) const {
  const Segment& it = segment();
  if (it.magic != Segment::right_magic)
    throw SharedSpaceError("memory that is no shared space: it does not begin as one");
  const auto check = [&](const char* what, std::uint64_t found, std::uint64_t expected) {
    if (found != expected)
      throw SharedSpaceError(fmt::format("shared space '{}' has {} {}; this program expects {}",
                                         name(), what, found, expected));
  };
  check("version", it.version, Segment::right_version);
  check("layout", it.layout, Segment::right_layout);
  check("user", it.user, user);
  check("size", it.bytes, bytes_);
  check("memory", SharedArena::mapped_bytes(it.bytes), mapped_bytes_);
}

std::string SharedMapping::name() const { return read_text(segment().name); }

// ---- processes of a space --------------------------------------------------------------------

void SharedMapping::join() {
  const auto identity = runtime::ProcessIdentity::of_caller();
  if (identity.started == 0)
    throw SharedSpaceError(fmt::format(
        "shared space '{}': /proc does not say when process {} has started, so that others could "
        "not tell whether it lives",
        name(), pid_));
  const Directory held(*this);
  const auto all = processes();
  // Frees the entries of processes that have ended and that no other process has cleared yet.
  for (const runtime::ProcessIdentity& one : all)
    if (one.pid != 0 && !one.is_alive()) clear_all_of(one);
  me_ = free_place();
  if (me_ == shared::processes_max)
    throw SharedSpaceError(
        fmt::format("{} processes map shared space '{}', as many as can", me_, name()));
  shared::Process& mine = segment().processes[me_];
  mine.pid = identity.pid;
  mine.started = identity.started;
  mine.bell.is_asleep = 0;
  write_text(mine.name, process_name_);
  mine.state = shared::Process::here;
  ++segment().process_changes;
  ring(~std::uint32_t{0});
}

std::uint32_t SharedMapping::free_place() const {
  std::uint32_t place = 0;
  while (place < shared::processes_max &&
         segment().processes[place].state != shared::Process::nobody)
    ++place;
  return place;
}

bool SharedMapping::lives(std::uint32_t pid) const {
  // The lock is read before the entries, because a process that attaches writes its entry before it
  // releases the lock.
  const bool holds_directory = segment().lock.holder() == pid;
  bool has_place = false;
  for (const runtime::ProcessIdentity& one : processes()) {
    if (one.pid != pid) continue;
    if (one.is_alive()) return true;
    has_place = true;
  }
  // A live process without an entry is attaching to the space, or has just detached from it.
  return !has_place && holds_directory && runtime::ProcessIdentity::of(pid).is_alive();
}

std::vector<runtime::ProcessIdentity> SharedMapping::processes() const {
  std::vector<runtime::ProcessIdentity> all(shared::processes_max);
  for (std::uint32_t i = 0; i < all.size(); ++i) all[i] = identity_in(segment(), i);
  return all;
}

std::string SharedMapping::process_name(std::uint32_t process) const {
  return process < shared::processes_max ? read_text(segment().processes[process].name) : "";
}

std::optional<std::uint32_t> SharedMapping::owner() const {
  const std::uint32_t owner = segment().owner;
  if (owner == 0 || owner > shared::processes_max) return std::nullopt;
  return owner - 1;
}

std::optional<std::string> SharedMapping::dead_owner() const {
  if (segment().owner_is_dead.load(std::memory_order_acquire) != 0)
    return read_text(segment().owner_died);
  if (may_write_) return std::nullopt;
  // A process that may only read gets no notifications of deaths. It may also be the only process
  // that still maps the space. It therefore checks here whether the owner is alive.
  const std::optional<std::uint32_t> owner = this->owner();
  if (!owner || identity_in(segment(), *owner).is_alive()) return std::nullopt;
  return who(*owner);
}

std::string SharedMapping::who(std::uint32_t process) const {
  return fmt::format("process {} ({})", segment().processes[process].pid.load(),
                     process_name(process));
}

void SharedMapping::ring(std::uint32_t processes) const {
  for (std::uint32_t i = 0; processes != 0; ++i, processes >>= 1)
    if ((processes & 1) != 0) segment().processes[i].bell.ring();
}

// ---- locks, and cleanup after dead processes -----------------------------------------------

SharedMapping::Locked::Locked(const SharedMapping& mapping, runtime::SharedLock& lock,
                              std::string_view of)
    : lock_(lock) {
  if (!mapping.try_take(lock, mapping.lock_patience())) throw mapping.held_for_long(lock, of);
}

std::optional<bool> SharedMapping::try_take(runtime::SharedLock& lock, base::Nanos patience) const {
  if (!is_ours())
    throw SharedSpaceError(
        fmt::format("shared space '{}' was mapped by process {}, before a fork: process {} has to "
                    "map it for itself",
                    name(), pid_, getpid()));
  using Found = runtime::SharedLock::Found;
  const Found found = lock.lock(pid_, *this, patience);
  if (found == Found::stuck) return std::nullopt;
  return found == Found::holder_died;
}

SharedSpaceError SharedMapping::held_for_long(const runtime::SharedLock& lock,
                                              std::string_view of) const {
  return SharedSpaceError(
      fmt::format("shared space '{}': process {} has held the lock of {} for more than {}", name(),
                  lock.holder().value_or(0), of, base::format_time(lock_patience_)));
}

/// Takes the lock of the list of processes and elements. If a process died while it held the lock,
/// no repair is needed: an entry or element is valid only after its state is set.
SharedMapping::Directory::Directory(const SharedMapping& mapping) {
  if (mapping.may_write()) locked_.emplace(mapping, mapping.segment().lock, "the space");
}

/// Holds the lock of the list of processes (Directory) during the whole call. Otherwise a new
/// process could take the entry of the dead process between the check and the removal.
bool SharedMapping::clear(const runtime::ProcessIdentity& process) {
  const Directory held(*this);
  return clear_all_of(process);
}

bool SharedMapping::clear_all_of(const runtime::ProcessIdentity& process) {
  const auto all = processes();
  bool is_all_cleared = true;
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    if (all[i] != process || i == me_) continue;
    if (!lives(process.pid)) {  // no live process of the space has this pid
      segment().arena_lock.leave_for(process.pid);
      for (shared::Element& element : segment().elements) element.lock.leave_for(process.pid);
    }
    is_all_cleared &= clear_place(i);
  }
  return is_all_cleared;
}

/// Detaches this process. Does not hold the lock of the list of processes (Directory) while it
/// waits for an element: other processes may die in that time, and must be cleared. If the entry of
/// this process cannot be freed now, another process clears the entry after the end of this
/// process.
void SharedMapping::leave() {
  {
    const Directory held(*this);
    if (segment().owner == me_ + 1) segment().owner = 0;
  }
  const base::Nanos end = runtime::steady_now() + lock_patience_;
  bool is_all_cleared = true;
  for (std::uint32_t i = 0; i < shared_elements_max; ++i) {
    const auto view = [&]() -> std::optional<SharedLog> {
      const Directory held(*this);  // no other process changes the sizes while the view is made
      if (segment().elements[i].state == shared::Element::nothing) return std::nullopt;
      return SharedLog(*this, i);
    };
    is_all_cleared &=
        clear_in(view, me_, "", std::max(end - runtime::steady_now(), brief_patience));
  }
  arena_->forget(me_);
  const Directory held(*this);
  if (is_all_cleared) free_place_of(me_);
}

/// Removes what a process has left in one element: its waiting moves and its bits. Returns false if
/// another process holds the element.
template <class View>
bool SharedMapping::clear_in(View view, std::uint32_t process, const std::string& who,
                             base::Nanos patience) const {
  try {
    std::optional<SharedLog> log = view();
    if (!log) return true;
    if (!log->try_take(patience)) return false;
    const SharedLog::Held held(*log);
    log->forget(process, who);
  } catch (const ElementError&) {
    // An overwritten element has nothing to clear.
  }
  return true;
}

void SharedMapping::free_place_of(std::uint32_t process) {
  segment().processes[process].state = shared::Process::nobody;
  ++segment().process_changes;
  ring(~std::uint32_t{0});
}

/// Removes what a dead process has left, and frees its entry last. If this process dies during the
/// call, or if an element is held, a later call completes the work.
/// Requires: the lock of the list of processes (Directory) is held.
bool SharedMapping::clear_place(std::uint32_t process) {
  bool is_all_cleared = true;
  const std::string name = who(process);
  if (segment().owner == process + 1 && segment().owner_is_dead == 0) {
    write_text(segment().owner_died, name);
    segment().owner_is_dead = 1;
  }
  arena_->forget(process);
  for (std::uint32_t i = 0; i < shared_elements_max; ++i) {
    if (segment().elements[i].state == shared::Element::nothing) continue;
    const auto view = [&] { return std::optional<SharedLog>(SharedLog(*this, i)); };
    is_all_cleared &= clear_in(view, process, name, brief_patience);
  }
  if (is_all_cleared) free_place_of(process);
  return is_all_cleared;
}

}  // namespace pastset
