// SPDX-License-Identifier: Apache-2.0
// paths/host/elements/shared_elements.cpp — creation and mapping of shared spaces and elements.
#include "paths/host/elements/shared_elements.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <exception>
#include <vector>

#include "base/digest.hpp"

namespace paths {

SharedElements::SharedElements(const Plan& plan, std::uint32_t host, const Peers& peers)
    : plan_(plan),
      host_(host),
      are_between_processes_(peers.are_processes),
      are_shared_(peers.are_processes && peers.shared_memory),
      run_(peers.run.text().substr(0, 12)) {}

/// Returns the name of a host's shared space. The name is unique among runs, because it contains
/// the run's id. In the name, a long host name is shortened and followed by its digest, so that the
/// names of different hosts differ.
std::string SharedElements::space_of(std::uint32_t host) const {
  constexpr std::size_t host_letters_max = 60;
  const std::string& name = plan_.hosts[host].name;
  if (name.size() <= host_letters_max) return fmt::format("{}.{}", name, run_);
  return fmt::format("{}~{}.{}", name.substr(0, host_letters_max),
                     base::digest_of(name).text().substr(0, 8), run_);
}

pastset::SharedSpace::Options SharedElements::options() const {
  return {.lock_patience = plan_.lock_patience,
          .process = plan_.hosts[host_].name,
          .access = plan_.shared_access};
}

std::unique_ptr<pastset::SharedSpace> SharedElements::make_space() const {
  std::vector<pastset::SharedSpace::Entered> elements;
  std::vector<pastset::SharedSizes> sizes;
  for (const Plan::PlanElement& one : plan_.elements) {
    if (one.host != host_ || !one.shared) continue;
    elements.push_back({one.name,
                        one.tuple_template,
                        {.delta = one.delta, .keep_newest = one.keep_newest},
                        *one.shared});
    sizes.push_back(*one.shared);
  }
  auto options = this->options();
  options.bytes = pastset::SharedSpace::bytes_of(sizes);
  return pastset::SharedSpace::make(space_of(host_), options, elements);
}

std::shared_ptr<pastset::Element> SharedElements::make(const Plan::PlanElement& element) {
  const runtime::Lock lock(mutex_);
  auto& space = spaces_[host_];
  if (!space) space = make_space();
  return space->enter(element.name, element.tuple_template);
}

std::shared_ptr<pastset::Element> SharedElements::map(const Plan::PlanElement& element) {
  const runtime::Lock lock(mutex_);
  std::string why;
  try {
    auto& space = spaces_[element.host];
    if (!space) space = pastset::SharedSpace::map(space_of(element.host), options());
    auto found = space->find(element.name);
    if (found != nullptr && found->tuple_template() == element.tuple_template) return found;
    why =
        fmt::format("shared space '{}' {}", space_of(element.host),
                    found == nullptr ? "does not have it"
                                     : fmt::format("has it with template \"{}\" instead of \"{}\"",
                                                   found->tuple_template().text(),
                                                   element.tuple_template.text()));
  } catch (const std::exception& error) {
    why = error.what();
  }
  spdlog::warn("host {}: element {} of host {} is reached by messages, as it cannot be mapped: {}",
               plan_.hosts[host_].name, element.name, plan_.hosts[element.host].name, why);
  return nullptr;
}

}  // namespace paths
