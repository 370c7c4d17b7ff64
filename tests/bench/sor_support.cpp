// SPDX-License-Identifier: Apache-2.0
// tests/bench/sor_support.cpp — what the solver is made of, for the tests.
//
// Compiled into them, because sanitizer builds have no bench programs to share it with.
#include "bench/sor/block.cpp"
#include "bench/sor/data_set.cpp"
#include "bench/sor/grid_files.cpp"
#include "bench/sor/grid_rows.cpp"
#include "bench/sor/half_row.cpp"
#include "bench/sor/halo.cpp"
#include "bench/sor/neighbour.cpp"
#include "bench/sor/part.cpp"
#include "bench/sor/reference.cpp"
#include "bench/sor/report.cpp"
#include "bench/sor/solver.cpp"
#include "bench/sor/sor.cpp"
#include "bench/sor/work.cpp"
