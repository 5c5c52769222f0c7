/* Runs rows [lo, hi) of a scan. Errors: KRF_E_MEMORY. */
#ifndef KRF_BACKEND_CPU_INTERPRET_SCAN_H
#define KRF_BACKEND_CPU_INTERPRET_SCAN_H

#include "backend/cpu/program.h"

krf_status krf__interpret_scan(krf__program *p, int64_t lo, int64_t hi);

#endif
