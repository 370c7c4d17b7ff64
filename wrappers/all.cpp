// SPDX-License-Identifier: Apache-2.0
// wrappers/all.cpp — list of the kinds of wrapper, one line for each.
//
// The list is explicit, because a kind that registers itself could get lost. The linker omits a
// file of a static library if nothing else in that file is used.
#include "wrappers/all.hpp"

#include "wrappers/cache.hpp"
#include "wrappers/condition_check.hpp"
#include "wrappers/emulate_link.hpp"
#include "wrappers/event_collector.hpp"
#include "wrappers/forward.hpp"
#include "wrappers/joins.hpp"
#include "wrappers/lagged.hpp"
#include "wrappers/lagged_check.hpp"
#include "wrappers/map.hpp"
#include "wrappers/observe.hpp"
#include "wrappers/periodic.hpp"
#include "wrappers/prefetch.hpp"
#include "wrappers/push.hpp"
#include "wrappers/schedule.hpp"
#include "wrappers/store.hpp"

namespace wrappers {

const paths::WrapperKinds& all_kinds() {
  static const paths::WrapperKinds kinds = [] {
    paths::WrapperKinds list;
    list.add(allreduce_kind());
    list.add(reduce_kind());
    list.add(broadcast_kind());
    list.add(barrier_kind());
    list.add(store_kind());
    list.add(observe_kind());
    list.add(forward_kind());
    list.add(map_kind());
    list.add(emulate_link_kind());
    list.add(prefetch_kind());
    list.add(push_kind());
    list.add(cache_kind());
    list.add(condition_check_kind());
    list.add(lagged_check_kind());
    list.add(lagged_kind());
    list.add(periodic_kind());
    list.add(schedule_kind());
    list.add(event_collector_kind());
    return list;
  }();
  return kinds;
}

}  // namespace wrappers
