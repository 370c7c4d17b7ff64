// SPDX-License-Identifier: Apache-2.0
// bench/peers/collective_mpi.cpp — times of collectives of MPI, measured as `collective` does
//
//   mpicxx -O2 collective_mpi.cpp -o collective_mpi
//   mpirun -np 4 collective_mpi COLLECTIVE BYTES CALLS ITERATIONS
//
// Prints one line for all iterations. It has a number for each iteration: the mean time of a call
// in microseconds. An iteration makes CALLS consecutive calls. It ends when the last process has
// finished these calls. BYTES is the size of the vector. For gather and alltoall it is the size of
// one block.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

void call(const std::string& collective, int count, int processes, std::vector<long>& in,
          std::vector<long>& out) {
  const MPI_Comm all = MPI_COMM_WORLD;
  if (collective == "barrier")
    MPI_Barrier(all);
  else if (collective == "broadcast")
    MPI_Bcast(out.data(), count, MPI_LONG, 0, all);
  else if (collective == "reduce")
    MPI_Reduce(in.data(), out.data(), count, MPI_LONG, MPI_SUM, 0, all);
  else if (collective == "allreduce")
    MPI_Allreduce(in.data(), out.data(), count, MPI_LONG, MPI_SUM, all);
  else if (collective == "gather")
    MPI_Gather(in.data(), count, MPI_LONG, out.data(), count, MPI_LONG, 0, all);
  else if (collective == "allgather")
    MPI_Allgather(in.data(), count, MPI_LONG, out.data(), count, MPI_LONG, all);
  else if (collective == "alltoall")
    MPI_Alltoall(in.data(), count, MPI_LONG, out.data(), count, MPI_LONG, all);
  else
    std::fprintf(stderr, "no collective %s for %d processes\n", collective.c_str(), processes),
        MPI_Abort(all, 2);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int me = 0, processes = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &me);
  MPI_Comm_size(MPI_COMM_WORLD, &processes);
  if (argc != 5) {
    std::fprintf(stderr, "expected COLLECTIVE BYTES CALLS ITERATIONS\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  const std::string collective = argv[1];
  const int count = std::atoi(argv[2]) / static_cast<int>(sizeof(long)), calls = std::atoi(argv[3]),
            iterations = std::atoi(argv[4]);
  const auto blocks = static_cast<std::size_t>(collective == "alltoall" ? processes : 1);
  std::vector<long> in(blocks * static_cast<std::size_t>(count)),
      out(static_cast<std::size_t>(processes) * static_cast<std::size_t>(count));
  for (int iteration = 0; iteration <= iterations; ++iteration) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double began = MPI_Wtime();
    for (int i = 0; i < calls; ++i) call(collective, count, processes, in, out);
    double mine = (MPI_Wtime() - began) * 1e6 / calls, last = 0;
    MPI_Reduce(&mine, &last, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (me == 0 && iteration > 0) std::printf("%.3f ", last);
  }
  if (me == 0) std::printf("\n");
  MPI_Finalize();
}
