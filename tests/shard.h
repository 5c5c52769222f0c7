/* KRF_TEST_SHARD=2/8: this process is the second (from 0) of eight that share the work; alone, it has a part of it. KRF_TEST_PARTS=12: of what takes too long for
 * every run, only a twelfth, the one that KRF_TEST_SHARD says or the first. */
#ifndef KRF_TESTS_SHARD_H
#define KRF_TESTS_SHARD_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static inline bool in_shard(int64_t item) {
    const char *text = getenv("KRF_TEST_SHARD"), *parts = getenv("KRF_TEST_PARTS");
    int shard = 0, shards = 1;
    if (text == NULL || sscanf(text, "%d/%d", &shard, &shards) != 2 || shards < 1) {
        shard = 0;
        shards = 1;
    }
    if (parts != NULL && atoi(parts) > 0) {
        shards = atoi(parts);
        shard %= shards;
    }
    return item % shards == shard;
}

/* Of whole tests, by their names. */
static inline bool name_in_shard(const char *name) {
    int64_t sum = 0;
    for (const char *at = name; *at != '\0'; at++) {
        sum = 31 * sum % 10007 + *at;
    }
    return in_shard(sum);
}

#endif
