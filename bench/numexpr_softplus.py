"""numexpr on the softplus workloads of kerfuse-bench: 64M elements, two threads, output reused; medians."""
import statistics
import time

import numexpr
import numpy

numexpr.set_num_threads(2)
for dtype in ("f4", "f8"):
    x = numpy.random.default_rng(1).random(1 << 26).astype(dtype) * 16 - 8
    out = numpy.empty_like(x)
    times = []
    for _ in range(7):
        start = time.perf_counter()
        numexpr.evaluate("where(x > 0, x, 0) + log1p(exp(-abs(x)))", out=out)
        times.append(time.perf_counter() - start)
    print(f"numexpr {numexpr.__version__} softplus {dtype}: {statistics.median(times) * 1e3:.1f} ms")
