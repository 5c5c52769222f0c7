/* kerfuse: lazy array expressions, fused into kernels.
 *
 * A program makes a context (one device), arrays in it, and a graph. Builders such as krf_add append nodes to the
 * graph and return expressions; nothing runs until krf_eval or krf_compile asks for a result. Then the nodes are
 * fused into as few kernels as possible, which are compiled (or found in the cache) and run.
 *
 * Ownership in one sentence: nodes die with their graph, arrays are reference counted.
 *
 * Errors: builders never fail loudly; they return poison, the graph keeps the first message (krf_graph_error), and
 * whatever evaluates the expression returns that status. Every other function that can fail returns a krf_status and
 * leaves its outputs NULL; krf_error_message() then gives the reason, on the thread that made the call.
 *
 * Threads: contexts, arrays and plans may be used from many threads at once; a graph belongs to one thread at a time.
 */
#ifndef KERFUSE_H
#define KERFUSE_H

#include <kerfuse/array.h>
#include <kerfuse/base.h>
#include <kerfuse/define.h>
#include <kerfuse/dlpack.h>
#include <kerfuse/expr.h>
#include <kerfuse/grad.h>
#include <kerfuse/memory.h>
#include <kerfuse/movement.h>
#include <kerfuse/ops.h>
#include <kerfuse/plan.h>
#include <kerfuse/random.h>
#include <kerfuse/raw.h>
#include <kerfuse/stream.h>
#include <kerfuse/sums.h>

#endif
