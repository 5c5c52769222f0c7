#!/usr/bin/env bash
# Every cut and every flipped bit of an entry, and hundreds of killed writers. ctest: slow
exec bash "$(dirname "$0")/soak.sh" 1
