// SPDX-License-Identifier: Apache-2.0
// pastset/shared/mapping.cpp — shared memory without a file, and its locks
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
#include <system_error>
#include <utility>

#include "base/file_size.hpp"
#include "pastset/shared/cleanup.hpp"
#include "pastset/shared/names.hpp"
#include "runtime/processes/process_end.hpp"

namespace pastset {
namespace {

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

/// Opens the memory of the space `name` of this user (SharedMapping::map()).
base::Descriptor open_own(const std::string& name) {
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
    if (memory) return memory;
    // The space was found in /proc under a process that has possibly just ended. Other processes
    // may still map the space, so the search is repeated.
    if (tried == 20) fail_with(fmt::format("shared space '{}', {}", name, found[0].path));
  }
}

/// Throws SharedSpaceError if the first bytes of the memory are not those of a space of `user`.
void check_head(const SharedMapping& mapping, uid_t user, std::size_t mapped_bytes) {
  const Segment& it = mapping.segment();
  if (it.magic != Segment::right_magic)
    throw SharedSpaceError("memory that is no shared space: it does not begin as one");
  const auto check = [&](const char* what, std::uint64_t found, std::uint64_t expected) {
    if (found != expected)
      throw SharedSpaceError(fmt::format("shared space '{}' has {} {}; this program expects {}",
                                         mapping.name(), what, found, expected));
  };
  check("version", it.version, Segment::right_version);
  check("layout", it.layout, Segment::right_layout);
  check("user", it.user, user);
  check("size", it.bytes, mapping.bytes());
  check("memory", SharedArena::mapped_bytes(it.bytes), mapped_bytes);
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
  return map(open_own(others ? others->name : name), options);
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
  check_head(*mapping, user, bytes);
  if (mapping->may_write()) mapping->join();
  return mapping;
}

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
    if (me_ < shared::processes_max && is_ours()) shared::leave(*this);
  } catch (const ElementError&) {
    // The next process that maps the space finds that this process is gone, and cleans up.
  }
  munmap(base_, mapped_bytes_);
}

bool SharedMapping::is_ours() const { return forks_ == runtime::forks_until_here(); }

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
  const auto all = processes_.all();
  // Frees the entries of processes that have ended and that no other process has cleared yet.
  for (const runtime::ProcessIdentity& one : all)
    if (one.pid != 0 && !one.is_alive()) shared::clear_locked(*this, one);
  me_ = processes_.add(identity, process_name_);
  if (me_ == shared::processes_max)
    throw SharedSpaceError(
        fmt::format("{} processes map shared space '{}', as many as can", me_, name()));
}

// ---- locks -----------------------------------------------------------------------------------

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
  const Found found = lock.lock(pid_, processes_, patience);
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

SharedSpaceError invalid_value(const SharedMapping& mapping, const shared::Element& element,
                               const std::string& what) {
  return SharedSpaceError(
      fmt::format("element '{}' of shared space '{}': {} cannot be: overwritten",
                  read_text(element.name), mapping.name(), what));
}

}  // namespace pastset
