// SPDX-License-Identifier: Apache-2.0
// tests/bench/bench_support.cpp — what the bench programs are made of, for the tests.
//
// Compiled into them, because sanitizer builds have no bench programs to share it with.
#include "bench/support/collective.cpp"
#include "bench/support/compute.cpp"
#include "bench/support/figures.cpp"
#include "bench/support/noise_allreduce.cpp"
#include "bench/support/values.cpp"
