// SPDX-License-Identifier: Apache-2.0
// examples/producer_consumer.cpp — jobs that pass from one host to another through an element,
// without a collective.
//
//   paths run configs/examples/producer-consumer.yaml -- producer_consumer
//
// The threads of the first host move jobs into the element `work`. The threads of the second host
// observe the jobs. The setting `delta` of the element limits the number of unobserved jobs to
// four. Producers that are faster than the consumers therefore block.
#include <fmt/format.h>

#include <cstdint>

#include "pastset/tuple.hpp"
#include "paths/host/host.hpp"
#include "wrappers/main.hpp"

namespace {

constexpr std::uint64_t jobs_each = 10;  // number of jobs that each producer moves

const pastset::Template& job_template() {
  static const pastset::Template job = *pastset::Template::parse("u64, string");
  return job;
}

void produce(paths::Path& work, std::uint64_t rank) {
  for (std::uint64_t job = 0; job < jobs_each; ++job) {
    pastset::TupleWriter tuple(job_template());
    tuple.put(rank).put(fmt::format("job {}", job));
    work.move(tuple.payload());
  }
}

void consume(paths::Path& work, std::uint64_t rank, std::uint64_t jobs) {
  for (std::uint64_t i = 0; i < jobs; ++i) {
    const pastset::Stored stored = work.observe();
    const pastset::TupleReader tuple(job_template(), stored.payload);
    fmt::print("thread {}: tuple {} is {} of thread {}\n", rank, stored.number, tuple.text(1),
               tuple.get<std::uint64_t>(0));
  }
}

void run(paths::Thread& thread) {
  const auto& hosts = thread.host().plan().hosts;
  paths::Path& work = thread.path("work");
  work.enter(job_template());
  if (thread.host().index() == 0) return produce(work, thread.rank());
  // The number of jobs of each consumer is fixed in advance. Therefore no consumer waits for a job
  // that never arrives.
  const std::uint64_t jobs = jobs_each * hosts[0].threads;
  const std::uint64_t consumers = hosts[1].threads;
  const std::uint64_t number = thread.rank() - hosts[1].first_thread;
  consume(work, thread.rank(), jobs * (number + 1) / consumers - jobs * number / consumers);
}

}  // namespace

int main(int argc, char** argv) { return paths::main(argc, argv, run); }
