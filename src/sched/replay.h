/* Plans that run again and again on the same lane are replayed: their kernels are started as one, those that do not wait for each other side by side. Each lane
 * has a replay of its own; a run that finds it in use, or none, launches kernels one by one. */
#ifndef KRF_SCHED_REPLAY_H
#define KRF_SCHED_REPLAY_H

#include "sched/context.h"
#include "sched/order.h"

/* A run's replay, from take to give: whether it has one, and whether kernels are to be added to it first. */
typedef struct krf__taken_replay {
    krf__replay *replay;
    bool adding;
    krf__replay_place *place;
    struct krf__behind *behind; /* while adding: what each kernel waits for */
} krf__taken_replay;

void krf__replay_take(krf_context *context, krf__compiled *compiled, const krf__lane *lane, krf__taken_replay *taken);

/* One kernel's arguments, in order. False: the run has no replay (any more), and launches all kernels itself. */
bool krf__replay_kernel(krf_context *context, krf__compiled *compiled, uint32_t index, const krf__launch *launch, krf__taken_replay *taken);

/* Starts the kernels, and gives the replay back for the next run. False: there is none, and nothing was started. */
bool krf__replay_start(krf_context *context, const krf__lane *lane, krf__taken_replay *taken);

#endif
