// SPDX-License-Identifier: Apache-2.0
// tests/bench/bench_support.cpp — what the bench programs are made of, for the tests.
//
// Compiled into them, because sanitizer builds have no bench programs to share it with.
#include "bench/fixed_work/fixed_work.cpp"
#include "bench/fixed_work/measure.cpp"
#include "bench/fixed_work/periods.cpp"
#include "bench/fixed_work/report.cpp"
#include "bench/noise_allreduce/noise_allreduce.cpp"
#include "bench/support/collective.cpp"
#include "bench/support/compute.cpp"
#include "bench/support/decisions.cpp"
#include "bench/support/figures.cpp"
#include "bench/support/output_files.cpp"
#include "bench/support/provenance.cpp"
#include "bench/support/report_element.cpp"
#include "bench/support/values.cpp"
