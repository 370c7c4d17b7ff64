// SPDX-License-Identifier: Apache-2.0
// tests/collectives/tuner/guidelines_test.cpp — collectives that are slower than other collectives
// that can replace them.
#include "collectives/tuner/guidelines.hpp"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

using namespace tuner;
using base::Nanos;
using collectives::Collective;

namespace {

constexpr std::size_t hosts = 4;

std::vector<std::string> found_in(const std::vector<ChosenTime>& times) {
  std::vector<std::string> found;
  for (const Violation& one : check_guidelines(times, hosts, 1.05)) {
    CHECK(static_cast<double>(one.slow.time.count()) >
          1.05 * static_cast<double>(one.time.count()));
    found.push_back(std::string(name_of(one.slow.collective)) + ": " + one.instead);
  }
  return found;
}

using Words = std::vector<std::string>;

}  // namespace

TEST_CASE("guidelines: a collective is slower than each combination that does its work") {
  const ChosenTime slow_broadcast{Collective::broadcast, 4096, Nanos(1000)};
  const ChosenTime scatter{Collective::scatter, 1024, Nanos(300)};
  const ChosenTime allgather{Collective::allgather, 1024, Nanos(400)};
  CHECK(found_in({slow_broadcast, scatter, allgather}) ==
        Words{"broadcast: scatter and allgather"});
  const ChosenTime allreduce{Collective::allreduce, 4096, Nanos(5000)};
  const ChosenTime reduce{Collective::reduce, 4096, Nanos(2000)};
  const ChosenTime reduce_scatter{Collective::reduce_scatter, 4096, Nanos(600)};
  CHECK(found_in({allreduce, reduce, slow_broadcast}) == Words{"allreduce: reduce and broadcast"});
  CHECK(found_in({allreduce, reduce_scatter, allgather}) ==
        Words{"allreduce: reduce_scatter and allgather"});
  const ChosenTime gather{Collective::gather, 1024, Nanos(500)};
  CHECK(found_in({reduce, reduce_scatter, gather}) == Words{"reduce: reduce_scatter and gather"});
  CHECK(found_in({gather, allgather}) == Words{"gather: allgather"});
  CHECK(found_in({{Collective::allgather, 1024, Nanos(2000)}, gather, slow_broadcast}) ==
        Words{"allgather: gather and broadcast"});
  CHECK(found_in({{Collective::scatter, 1024, Nanos(2000)}, slow_broadcast}) ==
        Words{"scatter: broadcast"});
  CHECK(found_in({reduce, {Collective::allreduce, 4096, Nanos(1000)}}) ==
        Words{"reduce: allreduce"});
}

TEST_CASE("guidelines: times within the margin and unknown times are no violation") {
  const ChosenTime reduce{Collective::reduce, 4096, Nanos(1050)};
  CHECK(found_in({reduce, {Collective::allreduce, 4096, Nanos(1000)}}).empty());
  CHECK(found_in({reduce, {Collective::allreduce, 2048, Nanos(1)}}).empty());
  CHECK(found_in({reduce, {Collective::allreduce, 8194, Nanos(1)}}).empty());
  // An operation of a larger size takes longer. The time for the larger size can therefore replace
  // the missing time for the needed size.
  CHECK(found_in({reduce, {Collective::allreduce, 8192, Nanos(900)}}) ==
        Words{"reduce: allreduce"});
  CHECK(found_in({}).empty());
}
