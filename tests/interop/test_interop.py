"""CuPy's, PyTorch's, JAX's and NumPy's arrays handed to kerfuse and back without a copy, by DLPack; and right whatever order the streams come in: arrays are handed
over while their producer is still at work on them on another stream. KRF_TEST_DEVICE: "cpu" (else) or "cuda". What is not installed is skipped, and said.

Whether these tests would notice a hand-over that is dropped is tested too (test_a_dropped_...). KRF_INTEROP_DROP=import or =export drops it in the other tests, which
must fail then."""
import contextlib
import importlib
import os
import sys
import unittest

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "0")  # of several GPUs JAX leaves the last one current, which PyTorch then takes
DEVICE = os.environ.get("KRF_TEST_DEVICE", "cpu")
BUILD = os.environ.get("KRF_BUILD_DIR", ".")
DROP = os.environ.get("KRF_INTEROP_DROP", "")


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


if DEVICE == "cuda" and "fakecuda" in os.environ.get("KRF_LIBCUDA", ""):
    skip("other libraries need a GPU that is no simulated one")
with open(os.path.join(BUILD, "CMakeCache.txt")) as cache:
    if any(line.startswith("KRF_SANITIZE:") and line.strip()[-1] != "=" for line in cache):
        skip("Python would need the sanitizers as well")

N = 1 << 20


class Torch:
    """late: an array that holds 0, with work under way on a stream that takes long and then writes a value; and the scope of that stream."""

    def __init__(self):
        self.np = importlib.import_module("torch")
        if DEVICE == "cuda" and not self.np.cuda.is_available():
            raise ImportError("torch has no GPU")

    def full(self, value):
        x = self.np.full((N,), float(value), dtype=self.np.float32, device=DEVICE)
        self.synchronize()
        return x

    def synchronize(self):
        if DEVICE == "cuda":
            self.np.cuda.synchronize()

    def late(self, value):
        x, stream = self.full(0), self.np.cuda.Stream()
        with self.np.cuda.stream(stream):
            self.np.cuda._sleep(400_000_000)  # clocks
            x.fill_(float(value))
        return x, self.np.cuda.stream(stream)

    def pointer(self, x):
        return x.data_ptr()

    def host(self, x):
        return x.cpu().numpy()

    def receive(self, exporter):
        return self.np.from_dlpack(exporter)

    def copy_on_a_stream(self, exporter):
        stream = self.np.cuda.Stream()
        with self.np.cuda.stream(stream):
            copy = self.np.from_dlpack(exporter).clone()
        stream.synchronize()  # whoever looks at it is on another stream
        return copy


class Cupy:
    def __init__(self):
        if DEVICE != "cuda":
            raise ImportError("CuPy has GPUs only")
        self.np = importlib.import_module("cupy")
        self.np.zeros(1)
        self.spin = self.np.RawKernel(r'extern "C" __global__ void spin(long long n) { long long t = clock64(); while (clock64() - t < n) {} }', "spin")

    def full(self, value):
        x = self.np.full((N,), value, dtype="f4")
        self.synchronize()
        return x

    def synchronize(self):
        self.np.cuda.runtime.deviceSynchronize()

    def late(self, value):
        x, stream = self.full(0), self.np.cuda.Stream(non_blocking=True)
        with stream:  # all that follows is compiled before
            self.spin((1,), (1,), (1,))
            x.fill(value)
            x.fill(0)
        self.synchronize()
        with stream:
            self.spin((1,), (1,), (400_000_000,))
            x.fill(value)
        return x, stream

    def pointer(self, x):
        return x.data.ptr

    def host(self, x):
        return x.get()

    def receive(self, exporter):
        return self.np.from_dlpack(exporter)

    def copy_on_a_stream(self, exporter):
        stream = self.np.cuda.Stream(non_blocking=True)
        with stream:
            copy = self.np.from_dlpack(exporter).copy()
        stream.synchronize()
        return copy


class Jax:
    """Streams are JAX's own affair; calls return before their work is done."""

    def __init__(self):
        if DEVICE == "cpu":
            os.environ["JAX_PLATFORMS"] = "cpu"
        self.jax = importlib.import_module("jax")
        self.np = importlib.import_module("jax.numpy")
        if DEVICE == "cuda" and self.jax.devices()[0].platform != "gpu":
            raise ImportError("JAX has no GPU")

    def full(self, value):
        return self.np.full((N,), value, dtype="float32").block_until_ready()

    def synchronize(self):
        pass

    def late(self, value):
        work = self.jax.jit(lambda m, v: self.np.zeros((N,), "float32") + v + 0 * self.jax.lax.fori_loop(0, 200, lambda _, a: self.np.tanh(a @ a), m)[0, 0])
        m = self.np.full((2048, 2048), 1e-3, "float32")
        work(m, 1.0).block_until_ready()  # compiled
        return work(m, float(value)), contextlib.nullcontext()

    def pointer(self, x):
        return x.unsafe_buffer_pointer()

    def host(self, x):
        return importlib.import_module("numpy").asarray(x)

    def receive(self, exporter):
        return self.jax.dlpack.from_dlpack(exporter)

    def copy_on_a_stream(self, exporter):
        return self.jax.dlpack.from_dlpack(exporter) * 1


class Numpy:
    def __init__(self):
        if DEVICE != "cpu":
            raise ImportError("NumPy has no GPU")
        self.np = importlib.import_module("numpy")

    def full(self, value):
        return self.np.full((N,), value, dtype="f4")

    def synchronize(self):
        pass

    def pointer(self, x):
        return x.__array_interface__["data"][0]

    def host(self, x):
        return x

    def receive(self, exporter):
        return self.np.from_dlpack(exporter)


LIBRARIES = {}
for kind in Torch, Cupy, Jax, Numpy:
    try:
        LIBRARIES[kind.__name__.lower()] = kind()
    except Exception as error:  # whatever a library that is half there raises
        print(f"skipped: {kind.__name__}: {type(error).__name__}: {str(error).splitlines()[:1]}")
if not LIBRARIES:
    skip("none of the libraries is there")

import krf  # noqa: E402

try:
    CONTEXT = krf.Context(DEVICE)
except RuntimeError as error:
    skip(str(error))
ADD_ONE = CONTEXT.plan(f"x: f32[{N}]; x + 1")
# Exact on small whole numbers, and long: what is read too early is noticed.
SLOW_STEPS, SLOW_RUNS = 200, 200
TRIES = 8
SLOW = CONTEXT.plan(f"x: f32[{N}]; y = x; " + "y = sqrt(y * y + 0); " * SLOW_STEPS + "y + 1")


def shows(array, value, library):
    host = library.host(array)
    return host.shape == (N,) and float(host.min()) == value and float(host.max()) == value


class Interop(unittest.TestCase):
    def each(self, *needs):
        for name, library in LIBRARIES.items():
            if all(hasattr(library, need) for need in needs):
                print(name, end=" ", flush=True)
                yield library

    def test_round_trips_copy_nothing(self):
        for library in self.each():
            x = library.full(3)
            array = CONTEXT.take(x)
            self.assertEqual(array.pointer(), library.pointer(x))
            back = library.receive(krf.Exporter(array))
            self.assertEqual(library.pointer(back), library.pointer(x))
            self.assertTrue(shows(back, 3, library))
            result = CONTEXT.run(ADD_ONE, array)
            y = library.receive(krf.Exporter(result))
            self.assertEqual(library.pointer(y), result.pointer())
            del array, result, x, back  # the memory lives as long as anyone has it
            self.assertTrue(shows(y, 4, library))

    def test_kerfuse_writes_where_the_library_reads(self):
        for library in self.each():
            if isinstance(library, Jax):
                continue  # its arrays never change
            x, y = library.full(5), library.full(0)
            CONTEXT.run(ADD_ONE, CONTEXT.take(x), out=CONTEXT.take(y))
            CONTEXT.run(ADD_ONE, CONTEXT.take(y), out=CONTEXT.take(y))
            krf.call("krf_context_synchronize", CONTEXT.handle)
            self.assertTrue(shows(y, 7, library))

    # ---- in order ----

    def import_late(self, library, drop):
        """Whether kerfuse sees what the library writes late, on a stream of its own."""
        stream = krf.Stream(CONTEXT)
        CONTEXT.run(ADD_ONE, CONTEXT.take(library.full(0)), stream=stream.handle)  # loaded: the driver may wait for the device when it loads a kernel
        krf.call("krf_context_synchronize", CONTEXT.handle)
        x, scope = library.late(11)
        with scope:
            array = CONTEXT.take(x, stream=stream.handle, drop=drop)
        result = CONTEXT.run(ADD_ONE, array, stream=stream.handle)
        krf.call("krf_context_synchronize", CONTEXT.handle)
        right = shows(library.receive(krf.Exporter(result)), 12, library)
        library.synchronize()
        return right

    def export_late(self, library, drop):
        """Whether the library, on a stream of its own, sees what kerfuse writes late."""
        stream = krf.Stream(CONTEXT)
        first, second = CONTEXT.run(ADD_ONE, CONTEXT.take(library.full(-1))), CONTEXT.run(ADD_ONE, CONTEXT.take(library.full(-1)))
        CONTEXT.run(SLOW, first, out=second, stream=stream.handle)  # loaded
        CONTEXT.run(ADD_ONE, CONTEXT.take(library.full(-1)), out=second, stream=stream.handle)
        krf.call("krf_context_synchronize", CONTEXT.handle)
        library.copy_on_a_stream(krf.Exporter(first))  # what copies is compiled
        for _ in range(SLOW_RUNS):
            CONTEXT.run(SLOW, first, out=first, stream=stream.handle)
        CONTEXT.run(ADD_ONE, first, out=second, stream=stream.handle)
        exporter = krf.Exporter(second, drop=drop)
        copy = library.copy_on_a_stream(exporter)
        self.assertEqual(len(exporter.streams), 1)
        right = shows(copy, SLOW_RUNS + 1, library)
        krf.call("krf_context_synchronize", CONTEXT.handle)
        return right

    def test_the_library_is_still_writing(self):
        if not CONTEXT.cuda:
            self.skipTest("on the CPU all is done when a call returns")
        for library in self.each("late"):
            self.assertTrue(self.import_late(library, DROP == "import"))

    def test_kerfuse_is_still_writing(self):
        if not CONTEXT.cuda:
            self.skipTest("on the CPU all is done when a call returns")
        for library in self.each("copy_on_a_stream"):
            self.assertTrue(self.export_late(library, DROP == "export"))

    def test_a_dropped_hand_over_is_noticed(self):
        """In one of a few tries: where other processes keep the host from its work, the GPU is done before anybody looks."""
        if not CONTEXT.cuda:
            self.skipTest("on the CPU all is done when a call returns")
        for library in self.each("late"):
            if not isinstance(library, Jax):  # waits by itself, whatever it is told
                self.assertFalse(all(self.import_late(library, True) for _ in range(TRIES)))
                self.assertFalse(all(self.export_late(library, True) for _ in range(TRIES)))


if __name__ == "__main__":
    unittest.main(verbosity=2)
