/* See order.h. Lanes lie in a table of 64, so that sets of them are words: the context's own stream, then krf_streams,
 * then other streams of the caller, of which those used last keep their lanes. A lane that gets another stream goes on
 * counting: the new stream waits for the old one's last event, so that waiting for the new one is waiting for both. */
#include "sched/order.h"

#include "base/fail.h"
#include "base/mem.h"

#include <pthread.h>

enum { LANES = 64, KNOWN = 40, LANE_BITS = 6 };

typedef struct place {
    void *event;  /* NULL before the first stream */
    void *stream; /* of a lane that is `lazy` */
    bool lazy;    /* its stream lives, and its event is recorded when that is wanted */
    bool taken;
    _Atomic uint64_t epoch; /* of work that is given now: the event stands for all earlier ones */
    uint64_t id, used;      /* passing streams: whose it is; when it was used last */
    uint64_t streams;       /* that it has had */
    int users;              /* calls that are in it */
} place;

struct krf__order {
    const krf__streams *streams;
    krf__device *device;
    void *own;
    krf__last last; /* of that */
    pthread_mutex_t lock;
    pthread_cond_t left;
    uint64_t now;
    place places[LANES];
    void *_Atomic known[KNOWN];        /* streams; NULL: none */
    const void *_Atomic owners[KNOWN]; /* the krf_stream */
    atomic_int known_end;
    _Atomic uint64_t behind[LANES][LANES]; /* [a][b]: a is behind all of b's epochs up to this one */
};

krf_status krf__order_create(const krf__backend *backend, krf__device *device, krf__order **order) {
    krf__order *o = *order = krf__calloc(1, sizeof **order);
    if (o == NULL) {
        return krf__fail_memory();
    }
    o->streams = backend->streams;
    o->device = device;
    o->own = backend->streams->own(device);
    krf__last_create(&o->last);
    pthread_mutex_init(&o->lock, NULL);
    pthread_cond_init(&o->left, NULL);
    for (int i = 0; i < LANES; i++) {
        atomic_init(&o->places[i].epoch, 1);
    }
    o->places[KRF__OWN_LANE].lazy = o->places[KRF__OWN_LANE].taken = true;
    atomic_init(&o->known_end, 1);
    return KRF_OK;
}

void krf__order_destroy(krf__order *o) {
    if (o == NULL) {
        return;
    }
    for (int i = 0; i < LANES; i++) {
        if (o->places[i].event != NULL) {
            o->streams->event_destroy(o->device, o->places[i].event);
        }
    }
    krf__last_destroy(&o->last);
    pthread_mutex_destroy(&o->lock);
    pthread_cond_destroy(&o->left);
    krf__mem_free(o);
}

/* ---- events; the lock is held ---- */

/* The epoch grows first: work that another thread starts meanwhile either is before the record or has the new epoch.
 * Where no event can be had the host waits: without an order memory would be used again while kernels work on it. */
static krf_status record(krf__order *o, place *p, void *stream) {
    krf_status status = p->event != NULL ? KRF_OK : o->streams->event_create(o->device, false, &p->event);
    atomic_fetch_add(&p->epoch, 1);
    if (status == KRF_OK) {
        status = o->streams->event_record(o->device, p->event, stream);
    }
    if (status != KRF_OK && status != KRF_E_LOST) {
        o->streams->drain(o->device, stream);
    }
    return status;
}

/* The epoch to wait for, to be behind all that the lane was given so far; its event stands for it on return. */
static krf_status record_all(krf__order *o, int lane, uint64_t *epoch) {
    place *p = &o->places[lane];
    krf_status status = p->lazy ? record(o, p, p->stream) : KRF_OK;
    *epoch = atomic_load(&p->epoch) - 1;
    return status;
}

static krf_status wait_for(krf__lane *lane, int other, uint64_t epoch) {
    krf__order *o = lane->order;
    place *p = &o->places[other];
    if (epoch == 0 || p->event == NULL) { /* without an event the host has waited */
        return KRF_OK;
    }
    krf_status status = lane->capturing ? o->streams->event_synchronize(o->device, p->event)
                                        : o->streams->event_wait(o->device, p->event, lane->stream);
    krf__order_worked(o, lane->stream);
    if (status == KRF_OK && lane->index >= 0) {
        atomic_store(&o->behind[lane->index][other], epoch);
    }
    return status;
}

/* ---- which lane ---- */

/* A place for a passing stream: its own, else one without a stream, else the one that was not used for longest. */
static place *choose(krf__order *o, uint64_t id) {
    place *best = NULL;
    for (place *p = &o->places[KNOWN]; p < &o->places[LANES]; p++) {
        if (p->taken && p->id == id) {
            return p;
        }
        if (p->users == 0 && (best == NULL || (best->taken && (!p->taken || p->used < best->used)))) {
            best = p;
        }
    }
    return best;
}

/* Gives a place to a stream that was not there before. */
static krf_status settle(krf__order *o, place *p, void *stream) {
    krf_status status = p->event != NULL ? KRF_OK : o->streams->event_create(o->device, false, &p->event);
    if (status == KRF_OK && atomic_load(&p->epoch) > 1) {
        status = o->streams->event_wait(o->device, p->event, stream);
    }
    for (int i = 0; status == KRF_OK && i < LANES; i++) {
        atomic_store(&o->behind[p - o->places][i], 0);
    }
    p->taken = status == KRF_OK;
    p->streams++;
    return status;
}

static krf_status enter_passing(krf__order *o, krf__lane *lane) {
    uint64_t id = 0;
    /* Not the handle: a stream that is destroyed leaves its own to the next one, and its work undone. */
    krf_status status = o->streams->id(o->device, lane->stream, &id);
    if (status != KRF_OK) {
        return status;
    }
    pthread_mutex_lock(&o->lock);
    place *p = choose(o, id);
    while (p == NULL) { /* as many threads with streams of their own are at work */
        pthread_cond_wait(&o->left, &o->lock);
        p = choose(o, id);
    }
    if (!p->taken || p->id != id) {
        status = settle(o, p, lane->stream);
        p->id = id;
    }
    if (status == KRF_OK) {
        p->users++;
        p->used = ++o->now;
        lane->index = (int)(p - o->places);
        lane->passing = true;
    }
    pthread_mutex_unlock(&o->lock);
    return status;
}

krf_status krf__order_handle(krf__order *o, const void *stream) {
    int end = atomic_load_explicit(&o->known_end, memory_order_acquire);
    for (int i = 1; stream != NULL && i < end; i++) {
        if (atomic_load_explicit(&o->owners[i], memory_order_relaxed) == stream) {
            return krf__fail(KRF_E_ARGUMENT, "the stream is a krf_stream, not a handle: krf_stream_handle gives that");
        }
    }
    return KRF_OK;
}

krf_status krf__lane_enter(krf__order *o, void *stream, krf__lane *lane) {
    *lane = (krf__lane){.stream = stream, .index = KRF__OWN_LANE};
    if (!o->streams->ordered) {
        return KRF_OK;
    }
    lane->order = o;
    if (stream == NULL || stream == o->own) {
        lane->stream = NULL;
        lane->turn = krf__last_begin(&o->last);
        return KRF_OK;
    }
    lane->index = KRF__NO_LANE;
    int end = atomic_load_explicit(&o->known_end, memory_order_acquire);
    for (int i = 1; i < end; i++) {
        if (atomic_load_explicit(&o->known[i], memory_order_acquire) == stream) {
            lane->index = i;
            break;
        }
    }
    krf_status status = lane->index == KRF__NO_LANE ? krf__order_handle(o, stream) : KRF_OK;
    if (status == KRF_OK) {
        status = o->streams->capturing(o->device, stream, &lane->capturing);
    }
    if (status == KRF_OK && !lane->capturing && lane->index == KRF__NO_LANE) {
        status = enter_passing(o, lane);
    }
    lane->order = status == KRF_OK ? o : NULL;
    return status;
}

/* ---- what the context's own stream was given last ---- */

krf__last *krf__lane_last(const krf__lane *lane) { return lane->turn.number != 0 ? &lane->order->last : NULL; }

void krf__order_share(krf__order *o) { krf__last_share(&o->last); }

void krf__order_worked(krf__order *o, const void *stream) {
    if (stream == NULL || stream == o->own) {
        (void)krf__last_begin(&o->last);
        krf__last_end(&o->last);
    }
}

/* ---- before the work ---- */

static krf_status follow(krf__lane *lane, int other, uint64_t epoch) {
    krf__order *o = lane->order;
    if (other == lane->index || epoch == 0
        || (lane->index >= 0 && atomic_load_explicit(&o->behind[lane->index][other], memory_order_acquire) >= epoch)) {
        return KRF_OK;
    }
    pthread_mutex_lock(&o->lock);
    krf_status status = KRF_OK;
    uint64_t recorded = atomic_load(&o->places[other].epoch) - 1;
    if (recorded < epoch) {
        status = record_all(o, other, &recorded);
    }
    status = status == KRF_OK ? wait_for(lane, other, recorded) : status;
    pthread_mutex_unlock(&o->lock);
    return status;
}

krf_status krf__lane_reads(krf__lane *lane, krf__uses *uses) {
    if (lane->order == NULL) {
        return KRF_OK;
    }
    uint64_t writer = atomic_load_explicit(&uses->writer, memory_order_relaxed);
    return follow(lane, (int)(writer % LANES), writer >> LANE_BITS);
}

krf_status krf__lane_follow(krf__lane *lane, uint64_t lanes) {
    krf__order *o = lane->order;
    krf_status status = KRF_OK;
    lanes &= ~krf__lane_bit(lane);
    if (o == NULL || lanes == 0) {
        return KRF_OK;
    }
    pthread_mutex_lock(&o->lock);
    for (; status == KRF_OK && lanes != 0; lanes &= lanes - 1) {
        int other = __builtin_ctzll(lanes);
        uint64_t epoch;
        status = record_all(o, other, &epoch);
        status = status == KRF_OK ? wait_for(lane, other, epoch) : status;
    }
    pthread_mutex_unlock(&o->lock);
    return status;
}

krf_status krf__lane_writes(krf__lane *lane, krf__uses *uses) {
    if (lane->order == NULL) {
        return KRF_OK;
    }
    krf_status status = krf__lane_reads(lane, uses);
    return status == KRF_OK ? krf__lane_follow(lane, atomic_load_explicit(&uses->readers, memory_order_relaxed))
                            : status;
}

/* The other order's lock is held until the wait stands: nobody moves the event meanwhile. */
krf_status krf__lane_follow_other(const krf__lane *lane, const krf__lane *other) {
    krf__order *o = other->order;
    uint64_t epoch;
    if (o == NULL || lane->order == NULL) {
        return KRF_OK;
    }
    pthread_mutex_lock(&o->lock);
    krf_status status = record_all(o, other->index, &epoch);
    void *event = o->places[other->index].event;
    if (status == KRF_OK && epoch > 0 && event != NULL) {
        status = lane->order->streams->event_wait(lane->order->device, event, lane->stream);
        krf__order_worked(lane->order, lane->stream);
    }
    pthread_mutex_unlock(&o->lock);
    return status;
}

/* ---- after the work ---- */

krf_status krf__lane_finish(krf__lane *lane, krf_status status) {
    krf__order *o = lane->order;
    if (lane->turn.number != 0) {
        krf__last_end(&o->last);
    }
    if (o == NULL || lane->capturing) {
        return status;
    }
    place *p = &o->places[lane->index];
    uint64_t epoch = atomic_load(&p->epoch);
    if (lane->passing) {
        pthread_mutex_lock(&o->lock);
        epoch = atomic_load(&p->epoch);
        krf_status recorded = record(o, p, lane->stream);
        status = status == KRF_OK ? recorded : status;
        p->users--;
        pthread_cond_signal(&o->left);
        pthread_mutex_unlock(&o->lock);
    }
    lane->stamp = epoch << LANE_BITS | (uint64_t)lane->index;
    return status;
}

void krf__lane_has_read(const krf__lane *lane, krf__uses *uses) {
    uint64_t bit = krf__lane_bit(lane);
    if (lane->order != NULL && !lane->capturing
        && (atomic_load_explicit(&uses->readers, memory_order_relaxed) & bit) == 0) {
        atomic_fetch_or_explicit(&uses->readers, bit, memory_order_relaxed);
    }
}

void krf__lane_has_written(const krf__lane *lane, krf__uses *uses) {
    if (lane->order != NULL && !lane->capturing) {
        atomic_store_explicit(&uses->writer, lane->stamp, memory_order_relaxed);
        atomic_store_explicit(&uses->readers, 0, memory_order_relaxed);
    }
}

uint64_t krf__uses_lanes(krf__uses *uses) {
    uint64_t writer = atomic_load_explicit(&uses->writer, memory_order_relaxed);
    return atomic_load_explicit(&uses->readers, memory_order_relaxed)
           | (writer != 0 ? UINT64_C(1) << writer % LANES : 0);
}

/* ---- memory that goes back to whom it came from ---- */

uint64_t krf__lane_home(const krf__lane *lane) {
    krf__order *o = lane->order;
    if (o == NULL || lane->index < 0) {
        return UINT64_MAX;
    }
    pthread_mutex_lock(&o->lock);
    uint64_t home = o->places[lane->index].streams << LANE_BITS | (uint64_t)lane->index;
    pthread_mutex_unlock(&o->lock);
    return home;
}

void krf__order_give_back(krf__order *o, uint64_t home, uint64_t lanes) {
    place *p = &o->places[home % LANES];
    krf__lane lane = {.order = o, .index = (int)(home % LANES)};
    pthread_mutex_lock(&o->lock);
    bool same = p->streams == home >> LANE_BITS, lives = same && p->lazy;
    lane.stream = p->stream;
    pthread_mutex_unlock(&o->lock);
    lanes &= same ? ~krf__lane_bit(&lane) : UINT64_MAX;
    if (o->streams->ordered && lanes != 0 && (!lives || krf__lane_follow(&lane, lanes) != KRF_OK)) {
        (void)krf__order_wait(o, lanes);
    }
}

/* ---- for the host ---- */

bool krf__order_idle(krf__order *o, uint64_t lanes) {
    bool idle = true;
    pthread_mutex_lock(&o->lock);
    for (; idle && lanes != 0; lanes &= lanes - 1) {
        int lane = __builtin_ctzll(lanes);
        uint64_t epoch;
        idle = record_all(o, lane, &epoch) == KRF_OK
               && (epoch == 0 || o->places[lane].event == NULL
                   || o->streams->event_query(o->device, o->places[lane].event, &idle) == KRF_OK) && idle;
    }
    pthread_mutex_unlock(&o->lock);
    return idle;
}

krf_status krf__order_wait(krf__order *o, uint64_t lanes) {
    krf_status status = KRF_OK;
    for (; o->streams->ordered && status == KRF_OK && lanes != 0; lanes &= lanes - 1) {
        int lane = __builtin_ctzll(lanes);
        uint64_t epoch;
        pthread_mutex_lock(&o->lock);
        status = record_all(o, lane, &epoch);
        void *event = o->places[lane].event;
        pthread_mutex_unlock(&o->lock);
        if (status == KRF_OK && epoch > 0 && event != NULL) {
            status = o->streams->event_synchronize(o->device, event);
        }
    }
    return status;
}

/* ---- krf_streams ---- */

krf_status krf__order_join(krf__order *o, const void *owner, void *stream, int *index) {
    krf_status status = KRF_OK;
    *index = KRF__NO_LANE;
    pthread_mutex_lock(&o->lock);
    int i = 1;
    while (i < KNOWN && o->places[i].taken) {
        i++;
    }
    if (i == KNOWN) {
        status = krf__fail(KRF_E_UNSUPPORTED, "a context has %d streams at a time, no more", KNOWN - 1);
    } else {
        status = settle(o, &o->places[i], stream);
    }
    if (status == KRF_OK) {
        o->places[i].stream = stream;
        o->places[i].lazy = true;
        atomic_store(&o->owners[i], owner);
        atomic_store(&o->known[i], stream);
        if (i >= atomic_load(&o->known_end)) {
            atomic_store(&o->known_end, i + 1);
        }
        *index = i;
    }
    pthread_mutex_unlock(&o->lock);
    return status;
}

void krf__order_part(krf__order *o, int index) {
    place *p = &o->places[index];
    pthread_mutex_lock(&o->lock);
    atomic_store(&o->known[index], NULL);
    atomic_store(&o->owners[index], NULL);
    (void)record(o, p, p->stream); /* where that fails the host has waited */
    p->lazy = p->taken = false;
    p->stream = NULL;
    pthread_mutex_unlock(&o->lock);
}
