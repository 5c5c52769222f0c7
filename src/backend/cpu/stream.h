/* Streams of a device that has none. */
#ifndef KRF_BACKEND_CPU_STREAM_H
#define KRF_BACKEND_CPU_STREAM_H

#include "backend/backend.h"

extern const krf__streams krf__cpu_streams;

#endif
