// SPDX-License-Identifier: Apache-2.0
// pastset/shared/names.cpp — search for shared spaces of this user and of other users
#include "pastset/shared/names.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <pwd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <functional>
#include <iterator>
#include <set>
#include <string_view>
#include <system_error>

#include "pastset/shared/mapping.hpp"
#include "runtime/processes/descriptor_door.hpp"

namespace pastset::shared {
namespace {

/// Finds the spaces in one `/proc/PID/fd` by the prefix of their memfd names.
void look_into(const std::filesystem::path& descriptors, std::vector<Found>& found) {
  const std::string before = fmt::format("/memfd:{}", memory_prefix);
  constexpr std::string_view after = " (deleted)";
  std::error_code no;
  for (std::filesystem::directory_iterator at(descriptors, no), end; !no && at != end;
       at.increment(no)) {
    std::error_code gone;
    const std::string target = std::filesystem::read_symlink(at->path(), gone).string();
    if (gone || !target.starts_with(before) || !target.ends_with(after)) continue;
    struct stat status {};
    if (stat(at->path().c_str(), &status) != 0 || status.st_uid != geteuid()) continue;
    const auto is_it = [&](const Found& one) { return one.memory == status.st_ino; };
    if (std::any_of(found.begin(), found.end(), is_it)) continue;
    found.push_back({status.st_ino,
                     target.substr(before.size(), target.size() - before.size() - after.size()),
                     at->path().string()});
  }
}

/// Calls `ask` with the head of the space (its first bytes), and returns the result; false if the
/// head is invalid.
bool ask_head(const Found& one, const std::function<bool(const Segment&)>& ask) {
  const base::Descriptor memory = open_found(one, O_RDONLY);
  struct stat status {};
  if (!memory || fstat(memory.get(), &status) != 0 ||
      static_cast<std::size_t>(status.st_size) < segment_head_bytes)
    return false;
  void* const mapped = mmap(nullptr, segment_head_bytes, PROT_READ, MAP_SHARED, memory.get(), 0);
  if (mapped == MAP_FAILED) return false;
  const bool answer = ask(*static_cast<const Segment*>(mapped));
  munmap(mapped, segment_head_bytes);
  return answer;
}

std::string name_of(uid_t user) {
  std::array<char, 4096> memory{};
  passwd entry{};
  passwd* found = nullptr;
  getpwuid_r(user, &entry, memory.data(), memory.size(), &found);
  return found != nullptr ? found->pw_name : std::to_string(user);
}

std::optional<uid_t> number_of(const std::string& user) {
  std::array<char, 4096> memory{};
  passwd entry{};
  passwd* found = nullptr;
  getpwnam_r(user.c_str(), &entry, memory.data(), memory.size(), &found);
  if (found != nullptr) return found->pw_uid;
  uid_t number = 0;
  const char* const all = user.data() + user.size();
  const auto [end, error] = std::from_chars(user.data(), all, number);
  if (error != std::errc() || end != all) return std::nullopt;
  return number;
}

}  // namespace

std::vector<Found> find_spaces() {
  std::vector<Found> found;
  std::error_code no;
  for (std::filesystem::directory_iterator at("/proc", no), end; !no && at != end;
       at.increment(no)) {
    const std::string pid = at->path().filename().string();
    if (std::all_of(pid.begin(), pid.end(), [](char c) { return c >= '0' && c <= '9'; }))
      look_into(at->path() / "fd", found);
  }
  return found;
}

base::Descriptor open_found(const Found& found, int how) {
  base::Descriptor opened(open(found.path.c_str(), how | O_CLOEXEC));
  struct stat status {};
  if (opened && (fstat(opened.get(), &status) != 0 || status.st_ino != found.memory))
    opened.close();
  return opened;
}

bool is_open(const Found& found) {
  return ask_head(found, [](const Segment& segment) { return segment.is_open != 0; });
}

bool is_orphan(const Found& found) {
  return ask_head(found, [](const Segment& segment) {
    const auto is_live = [](const Element& element) { return element.state == Element::live; };
    const std::uint32_t owner = segment.owner;
    bool is_dead = segment.owner_is_dead != 0;
    if (owner != 0 && owner <= processes_max)
      is_dead |= !identity_in(segment, owner - 1).is_alive();
    const bool is_left =
        owner == 0 && std::none_of(segment.elements.begin(), segment.elements.end(), is_live);
    return is_dead || is_left;
  });
}

std::vector<Found> find_named(const std::string& name) {
  std::vector<Found> all = find_spaces(), found;
  for (const auto& is_it : std::array<std::function<bool(const Found&)>, 2>{
           [&](const Found& one) { return one.name == name; },
           [&](const Found& one) { return one.name.starts_with(name + "."); }}) {
    std::copy_if(all.begin(), all.end(), std::back_inserter(found),
                 [&](const Found& one) { return is_it(one) && is_open(one); });
    if (!found.empty()) return found;
  }
  return found;
}

std::vector<std::string> open_names() {
  std::set<std::string> names;
  for (Found& one : find_spaces())
    if (is_open(one)) names.insert(std::move(one.name));
  return {names.begin(), names.end()};
}

// ---- spaces of other users -------------------------------------------------------------------

std::optional<OthersName> parse_others_name(const std::string& text) {
  const std::size_t at = text.find('/');
  if (at == text.npos) return std::nullopt;
  OthersName it{text.substr(0, at), text.substr(at + 1)};
  const std::optional<uid_t> number = number_of(it.user);
  if (!number) throw SharedSpaceError(fmt::format("there is no user '{}'", it.user));
  it.number = *number;
  return it;
}

base::Descriptor ask_for(const OthersName& wanted) {
  base::Descriptor memory = runtime::DescriptorDoor::knock(wanted.number, wanted.name);
  if (memory) return memory;
  std::vector<std::string> names;
  for (const runtime::DescriptorDoor::Named& one : runtime::DescriptorDoor::all())
    if (one.user == wanted.number && one.name.starts_with(wanted.name + "."))
      names.push_back(one.name);
  if (names.size() > 1)
    throw SharedSpaceError(fmt::format("user '{}' has {} shared spaces '{}': {} and {}",
                                       wanted.user, names.size(), wanted.name, names[0], names[1]));
  return names.empty() ? base::Descriptor()
                       : runtime::DescriptorDoor::knock(wanted.number, names[0]);
}

std::vector<std::string> others_names() {
  std::vector<std::string> names;
  for (const runtime::DescriptorDoor::Named& one : runtime::DescriptorDoor::all())
    if (one.user != geteuid()) names.push_back(fmt::format("{}/{}", name_of(one.user), one.name));
  return names;
}

}  // namespace pastset::shared
