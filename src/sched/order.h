/* Order of work on several streams. A lane is a stream as the context knows it. What works on memory of arrays, or on
 * memory of the pool, enters a lane, says what it is going to read and write, starts its work, finishes, and says what
 * it has read and written. Waits are put between streams only where memory passes from one to another; the host never
 * waits. Work that stays on one stream records no event.
 *
 * A stamp is a lane and its epoch. The epoch grows when the lane's event is recorded, so that a lane that has waited
 * for that event is behind all stamps of earlier epochs. Events of the context's own stream and of krf_streams are
 * recorded when someone wants to wait. Any other stream of the caller may be gone when the call is over: its event is
 * recorded at the end of each call.
 *
 * Thread-safe. On a device whose calls are complete when they return all of this does nothing. */
#ifndef KRF_SCHED_ORDER_H
#define KRF_SCHED_ORDER_H

#include "backend/backend.h"
#include "ir/array.h"
#include "sched/last.h"

typedef struct krf__order krf__order;

enum { KRF__OWN_LANE = 0, KRF__NO_LANE = -1 };

/* Work on one stream, between enter and finish. */
typedef struct krf__lane {
    krf__order *order; /* NULL: nothing is to be ordered */
    void *stream;      /* for the backend */
    int index;         /* KRF__NO_LANE: of a stream that is being captured and is not known */
    bool capturing;    /* into a graph: the work is done later, when its caller says so, who orders it then */
    bool passing;      /* the stream is neither the context's own nor a krf_stream */
    uint64_t stamp;    /* once finished */
    krf__turn turn;    /* of the context's own stream */
} krf__lane;

krf_status krf__order_create(const krf__backend *backend, krf__device *device, krf__order **order);
void krf__order_destroy(krf__order *order); /* after all work; NULL is allowed */

/* stream: NULL for the context's own. */
krf_status krf__lane_enter(krf__order *order, void *stream, krf__lane *lane);

/* KRF_E_ARGUMENT where the handle of a stream is a krf_stream instead. */
krf_status krf__order_handle(krf__order *order, const void *stream);

/* Put waits into the lane's stream, for what wrote the memory last; and, where it will be written, for all that used
 * it. While the stream is being captured the host waits instead: a graph cannot wait for what is outside of it. */
krf_status krf__lane_reads(krf__lane *lane, krf__uses *uses);
krf_status krf__lane_writes(krf__lane *lane, krf__uses *uses);
krf_status krf__lane_follow(krf__lane *lane, uint64_t lanes); /* for all work so far of the lanes with these bits */

/* Puts a wait into the lane's stream for all work so far of a lane of another context. */
krf_status krf__lane_follow_other(const krf__lane *lane, const krf__lane *other);

/* After the work was started, or failed to start; must follow enter. Returns status, or what failed now. What the work
 * has used is told after it, and only where the lane was ordered before: else what others did would be forgotten. */
krf_status krf__lane_finish(krf__lane *lane, krf_status status);
void krf__lane_has_read(const krf__lane *lane, krf__uses *uses);
void krf__lane_has_written(const krf__lane *lane, krf__uses *uses);

/* What was given to the context's own stream last; NULL where there is none, and for other streams. */
krf__last *krf__lane_last(const krf__lane *lane);
void krf__order_share(krf__order *order); /* others have its handle */
void krf__order_worked(krf__order *order, const void *stream); /* it was given something by other ways than a lane */

/* Remembers a lane for longer than its work. Gives memory back in that lane's order: its stream waits for the other
 * lanes, or, where it may be gone, the host does. */
uint64_t krf__lane_home(const krf__lane *lane);
void krf__order_give_back(krf__order *order, uint64_t home, uint64_t lanes);

/* The lanes that memory is used by, as bits. */
uint64_t krf__uses_lanes(krf__uses *uses);
static inline uint64_t krf__lane_bit(const krf__lane *lane) {
    return lane->index < 0 ? 0 : UINT64_C(1) << lane->index;
}

/* Whether these lanes have nothing left to do; false where that cannot be told. */
bool krf__order_idle(krf__order *order, uint64_t lanes);

/* The host waits for all work so far of these lanes. */
krf_status krf__order_wait(krf__order *order, uint64_t lanes);

/* A lane for a stream that lives until it is taken back. KRF_E_UNSUPPORTED when there are no more. */
krf_status krf__order_join(krf__order *order, const void *owner, void *stream, int *index);
void krf__order_part(krf__order *order, int index);

#endif
