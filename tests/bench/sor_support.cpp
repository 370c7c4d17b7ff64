// SPDX-License-Identifier: Apache-2.0
// tests/bench/sor_support.cpp — what the solver is made of, for the tests.
//
// Compiled into them, because sanitizer builds have no bench programs to share it with.
#include "bench/support/sor/block.cpp"
#include "bench/support/sor/data_set.cpp"
#include "bench/support/sor/grid_files.cpp"
#include "bench/support/sor/grid_rows.cpp"
#include "bench/support/sor/half_row.cpp"
#include "bench/support/sor/halo.cpp"
#include "bench/support/sor/neighbour.cpp"
#include "bench/support/sor/part.cpp"
#include "bench/support/sor/reference.cpp"
#include "bench/support/sor/report.cpp"
#include "bench/support/sor/solver.cpp"
#include "bench/support/sor/sor.cpp"
#include "bench/support/sor/work.cpp"
