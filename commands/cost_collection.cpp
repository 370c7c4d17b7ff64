// SPDX-License-Identifier: Apache-2.0
// commands/cost_collection.cpp — costs of frames that were not measured.
#include "commands/cost_collection.hpp"

#include <algorithm>
#include <memory>
#include <set>

#include "base/link_model/measured_network.hpp"

namespace commands {
namespace {

using tuning::CostTable;
using tuning::FrameCosts;
using tuning::HostCosts;

/// Returns a table that has, for each size, the largest time in any of the tables.
CostTable largest_of(const std::vector<const CostTable*>& tables) {
  std::set<std::uint64_t> sizes;
  for (const CostTable* const table : tables)
    for (const CostTable::Point& point : table->points()) sizes.insert(point.bytes);
  std::vector<CostTable::Point> points;
  for (const std::uint64_t bytes : sizes) {
    points.push_back({bytes, base::Nanos(0)});
    for (const CostTable* const table : tables)
      points.back().time = std::max(points.back().time, table->at(bytes));
  }
  return CostTable(std::move(points));
}

FrameCosts largest_of(const std::vector<HostCosts::Link>& links) {
  std::vector<const CostTable*> send, receive;
  FrameCosts largest;
  for (const HostCosts::Link& link : links) {
    send.push_back(&link.costs->send);
    receive.push_back(&link.costs->receive);
    largest.send_spread = std::max(largest.send_spread, link.costs->send_spread);
    largest.receive_spread = std::max(largest.receive_spread, link.costs->receive_spread);
  }
  largest.send = largest_of(send);
  largest.receive = largest_of(receive);
  return largest;
}

}  // namespace

void CostCollection::add(const std::string& from, const std::string& to,
                         const FrameFigures& figures) {
  if (figures.is_usable)
    links_.push_back({from, to, std::make_shared<const FrameCosts>(figures.costs()), {}});
}

void CostCollection::add(const WorkFigures& figures, double speed) {
  if (!figures.is_usable) return;
  work_ = figures;
  work_->fold_nanos_per_byte = tuning::rounded(figures.fold_nanos_per_byte * speed);
  work_->copy_nanos_per_byte = tuning::rounded(figures.copy_nanos_per_byte * speed);
}

base::Nanos CostCollection::largest_costs_of_one_byte() const {
  base::Nanos most{0};
  for (const HostCosts::Link& link : links_)
    most = std::max(most, link.costs->send.at(1) + link.costs->receive.at(1));
  return most;
}

std::optional<HostCosts> CostCollection::costs(const std::optional<HostCosts>& old) const {
  if (links_.empty()) return old;
  HostCosts costs;
  if (old) costs = *old;
  std::vector<HostCosts::Link> links = links_;
  for (const HostCosts::Link& before : costs.links)
    if (std::none_of(links_.begin(), links_.end(), [&](const HostCosts::Link& link) {
          return link.from == before.from && link.to == before.to;
        }))
      links.push_back(before);
  costs.links = std::move(links);
  costs.frames = std::make_shared<const FrameCosts>(largest_of(costs.links));
  if (costs.links.size() == 1) costs.links.clear();  // all frames have these costs
  if (work_) {
    costs.fold_nanos_per_byte = work_->fold_nanos_per_byte;
    costs.fold_spread = tuning::rounded(work_->fold_spread);
    costs.copy_nanos_per_byte = work_->copy_nanos_per_byte;
    costs.copy_spread = tuning::rounded(work_->copy_spread);
  }
  return costs;
}

}  // namespace commands
