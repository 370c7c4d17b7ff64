// SPDX-License-Identifier: Apache-2.0
// commands/space.cpp — `paths space`: shared spaces of this machine and their tuples.
#include "pastset/shared/space.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <iostream>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/units.hpp"
#include "base/visible.hpp"
#include "commands/commands.hpp"
#include "pastset/any_change.hpp"
#include "pastset/shared/names.hpp"
#include "pastset/tuple.hpp"
#include "runtime/runtime.hpp"

namespace commands {
namespace {

using pastset::SharedSpace;

struct SpaceOptions {
  std::string name, element;
  std::uint64_t tuples = std::numeric_limits<std::uint64_t>::max();
};

/// Returns a text about the processes that use a space, without this process, such as "owned by
/// 1234 (solver), mapped by 1250 (monitor)".
std::string whose(const SharedSpace& space) {
  const pastset::SharedMapping& mapping = space.mapping();
  const auto processes = mapping.processes().all();
  std::string owner;
  std::vector<std::string> others;
  for (std::uint32_t i = 0; i < processes.size(); ++i) {
    if (processes[i].pid == 0 || processes[i] == runtime::ProcessIdentity::of_caller()) continue;
    std::string who =
        fmt::format("{} ({})", processes[i].pid, base::visible(mapping.processes().name_of(i)));
    if (mapping.processes().owner() == i)
      owner = "owned by " + who;
    else
      others.push_back(std::move(who));
  }
  if (const auto dead = mapping.processes().dead_owner())
    owner = fmt::format("whose owner, {}, has died", base::visible(*dead));
  if (owner.empty() || others.empty())
    return owner + (others.empty() ? "" : fmt::format("mapped by {}", fmt::join(others, ", ")));
  return fmt::format("{}, mapped by {}", owner, fmt::join(others, ", "));
}

/// Returns the size and access restrictions of a space, for example "64MiB, may be read only".
std::string what(const SharedSpace& space) {
  return base::format_bytes(space.mapping().bytes()) +
         (space.mapping().may_write() ? "" : ", may be read only");
}

void list_spaces() {
  std::vector<std::string> names = pastset::shared::open_names();
  for (std::string& name : pastset::shared::others_names()) names.push_back(std::move(name));
  for (const std::string& name : names) {
    try {
      const auto space = SharedSpace::map(name);
      const std::size_t elements = space->names().size();
      std::cout << fmt::format("{}: {}, {} {}, {}\n", base::visible(name), what(*space), elements,
                               elements == 1 ? "element" : "elements", whose(*space));
    } catch (const pastset::SharedSpaceError& error) {
      std::cout << fmt::format("{}: {}\n", base::visible(name), base::visible(error.what()));
    }
  }
}

std::string line_of(const SharedSpace::Shown& one) {
  if (one.held_by)
    return fmt::format("{} \"{}\": held by process {}", base::visible(one.name),
                       base::visible(one.tuple_template), *one.held_by);
  std::string text = fmt::format("{} \"{}\": first {}, last {}, oldest kept {}",
                                 base::visible(one.name), base::visible(one.tuple_template),
                                 one.numbers.first, one.numbers.last, one.numbers.oldest);
  if (one.keep_newest > 0) text += fmt::format(", keeps the newest {}", one.keep_newest);
  if (one.delta > 0) text += fmt::format(", delta {}", one.delta);
  text += fmt::format(", {} of {} slots", one.numbers.last - one.numbers.oldest, one.slots - 1);
  text += fmt::format(", {} of {} for larger tuples", base::format_bytes(one.arena_bytes_used),
                      base::format_bytes(one.arena_bytes));
  if (one.blocked_movers > 0) text += fmt::format(", {} blocked in move", one.blocked_movers);
  if (!one.listeners.empty())
    text += fmt::format(", waited for by {}", fmt::join(one.listeners, ", "));
  if (!one.mark.empty()) text += fmt::format(", marked: {}", base::visible(one.mark));
  return text;
}

void show_space(const std::string& name) {
  const auto space = SharedSpace::map(name);
  std::cout << fmt::format("{}: {}, {}\n", base::visible(name), what(*space), whose(*space));
  for (const SharedSpace::Shown& one : space->show()) std::cout << "  " << line_of(one) << '\n';
}

/// Returns the tuple with that number. If this tuple was discarded, returns the next tuple that
/// still exists. Waits for the tuple as long as the owner of the space lives, even if all processes
/// that moved tuples have ended.
pastset::Stored next_tuple(SharedSpace& space, pastset::Element& element, std::uint64_t number) {
  pastset::AnyChange changes({&element});
  for (bool is_reported = false;;) {
    const std::uint64_t seen = changes.count();
    try {
      return element.observe(number);
    } catch (const pastset::Expired&) {
      return element.newest(number);
    } catch (const pastset::ProcessDied& died) {
      if (space.mapping().processes().dead_owner()) throw;
      if (!std::exchange(is_reported, true))
        std::cout << base::visible(died.what()) << "; waiting for another\n" << std::flush;
    }
    changes.wait(seen, runtime::Deadline::never());
  }
}

/// Prints the tuples that are moved into an element from now on, in the order of their numbers.
/// Reports the numbers of tuples that were discarded before they could be read.
void watch_element(const SpaceOptions& options) {
  runtime::Runtime runtime;
  runtime.run([&] {
    const auto space = SharedSpace::map(options.name);
    const auto element = space->find(options.element);
    if (element == nullptr)
      throw std::invalid_argument(fmt::format("shared space '{}' has no element '{}': it has {}",
                                              options.name, options.element,
                                              fmt::join(space->names(), ", ")));
    std::uint64_t number = element->last();
    for (std::uint64_t shown = 0; shown < options.tuples; ++shown, ++number) {
      const pastset::Stored stored = next_tuple(*space, *element, number);
      if (stored.number > number)
        std::cout << fmt::format("{} to {}: discarded before they were read\n", number,
                                 stored.number - 1);
      number = stored.number;
      std::cout << fmt::format("{}: {}\n", number,
                               base::visible(pastset::format_tuple(element->tuple_template(),
                                                                   stored.payload)))
                << std::flush;
    }
  });
}

void remove_space(const std::string& name) {
  const auto space = SharedSpace::map(name);
  for (const std::string& element : space->names()) space->delete_element(element);
}

}  // namespace

void add_space_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<SpaceOptions>();
  CLI::App* command =
      app.add_subcommand("space", "List, show and watch spaces that processes here share");
  command->require_subcommand(1);
  CLI::App* list = command->add_subcommand(
      "list", "list the spaces that this user may map, and the\nprocesses that map them");
  CLI::App* show =
      command->add_subcommand("show", "show the elements of a space: tuples, memory, waiters");
  CLI::App* watch =
      command->add_subcommand("watch", "print the tuples of an element as they arrive");
  CLI::App* remove =
      command->add_subcommand("remove",
                              "delete all elements of a space, even if some are\nwaited for; the "
                              "last process that maps the space\nfrees its memory");
  for (CLI::App* one : {show, watch, remove})
    one->add_option("NAME", options->name, "name of a shared space; USER/NAME for another user's")
        ->required();
  watch->add_option("ELEMENT", options->element, "name of an element of the space")->required();
  watch->add_option("--tuples", options->tuples,
                    "number of tuples after which to end (default: no end)");
  set_examples(*command,
               "  paths space list\n"
               "  paths space show solver\n"
               "  paths space watch solver residual --tuples 10\n");
  set_examples(*list, "  paths space list\n");
  set_examples(*show, "  paths space show solver\n");
  set_examples(*watch, "  paths space watch solver residual --tuples 10\n");
  set_examples(*remove, "  paths space remove solver\n");
  list->callback([] { list_spaces(); });
  show->callback([options] { show_space(options->name); });
  watch->callback([options] { watch_element(*options); });
  remove->callback([options] { remove_space(options->name); });
  command->callback([&exit_code] { exit_code = succeeded; });
}

}  // namespace commands
