/* Plans that can be run, and the cache of those that krf_eval made: bytes of a graph, lowered or as it was built -> plan. */
#ifndef KRF_SCHED_PLANS_H
#define KRF_SCHED_PLANS_H

#include "plan/plan.h"
#include "sched/lengths.h"

#include <pthread.h>
#include <stdatomic.h>

struct krf__loaded; /* see kernels.h */

struct krf__device;
struct krf__replay;
struct krf__replays;

/* The kernels of a plan as one piece of work, for runs on one lane at a time. */
enum { KRF__REPLAYS = 4 };
typedef struct krf__replay_place {
    struct krf__replay *_Atomic replay; /* NULL: none, or a run has it */
    atomic_int lane, runs;              /* whose it is, plus 1, or 0; how many runs found none */
    const struct krf__replays *kind;    /* what frees it, on which device; once there was one */
    struct krf__device *device;
} krf__replay_place;

/* A plan and what every run of it needs to know. Immutable but for `loaded`, which fills up as kernels are found. */
typedef struct krf__compiled {
    atomic_int references;
    krf__plan_data data;
    struct krf__loaded *_Atomic *loaded; /* one a kernel; NULL: not looked up yet */
    size_t scratch_bytes, tickets;       /* the most that any kernel needs */
    uint32_t fields, operands, scalars;  /* likewise */
    int64_t overlapped;                  /* the bytes that a plan's only kernel moves, where that may be launched early (krf__launch.early); 0 */
    krf__replay_place replays[KRF__REPLAYS];
} krf__compiled;

/* As krf__plan_make, with the limits of the options. *compiled has one reference. */
krf_status krf__compiled_make(const krf_graph *lowered, int n, const uint32_t *outputs, const krf__plan_options *options, krf__lengths *lengths, krf__compiled **compiled);
void krf__compiled_release(krf__compiled *compiled); /* NULL is allowed */

/* How a graph meets its plan. Immutable. */
typedef struct krf__route {
    atomic_int references;
    krf__compiled *compiled;
    uint32_t n_inputs, n_values;
    const uint32_t *inputs; /* the plan's input i is array inputs[i] of the graph; NULL: all are in the graph's order, and its scalars too */
    const uint32_t *nodes;  /* the plan's scalar i is the value of this node, or, where that is 0, */
    const uint64_t *values; /* this */
} krf__route;

/* *route has one reference and keeps one of its own to the plan. lowered NULL: of a lowered graph to its own plan. Else of `built`, a graph as its user built it, to the
 * plan of what the passes made of it; KRF_OK with *route NULL where other values of its scalars might give another plan, or others than those that the scalars tell. */
krf_status krf__route_make(krf__compiled *compiled, const krf_graph *built, const krf_graph *lowered, krf__route **route);
void krf__route_release(krf__route *route); /* NULL is allowed */

/* Whether it is worth asking: a graph without raw kernels, functions of users and integers among its arguments. */
bool krf__route_possible(const krf_graph *built);

/* ---- the cache ---- */

enum { KRF__PLANS_KEPT = 256 };

typedef struct krf__plan_entry {
    void *key;
    size_t bytes;
    krf__route *route;
    uint64_t used; /* when, by the cache's own count */
} krf__plan_entry;

typedef struct krf__plan_cache {
    pthread_mutex_t lock;
    uint64_t hashes[KRF__PLANS_KEPT]; /* apart from the entries: they are all that a search reads of those that do not
                                         match */
    krf__plan_entry entries[KRF__PLANS_KEPT];
    int n;
    uint64_t now;
} krf__plan_cache;

void krf__plan_cache_free(krf__plan_cache *cache); /* what it holds */

/* A route with a reference for the caller, or NULL. */
krf__route *krf__plan_cache_get(krf__plan_cache *cache, const void *key, size_t bytes);

/* Keeps a reference to the route in place of the one that was not used for longest. Without memory for it nothing
 * happens. */
void krf__plan_cache_put(krf__plan_cache *cache, const void *key, size_t bytes, krf__route *route);

/* Appends all that a plan depends on besides its scalars' values: nodes, layouts of the inputs, and where outputs go. Of a graph as it was built, krf__built_key appends
 * what a route depends on: no two graphs, of whichever kind, have equal keys and other plans. */
void krf__plan_key(const krf_graph *lowered, int n, const uint32_t *outputs, const krf__plan_options *options,
                   krf__str *key);
void krf__built_key(const krf_graph *built, int n, const uint32_t *outputs, const krf__plan_options *options, krf__str *key);

/* Scalars' values go to values (at least n_nodes of them), in the order of their nodes. */
uint32_t krf__plan_values(const krf_graph *lowered, uint64_t *values);

#endif
