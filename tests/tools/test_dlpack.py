"""NumPy's arrays in kerfuse and kerfuse's in NumPy, without a copy, by DLPack: both structs, through ctypes."""
import ctypes as c
import itertools
import os
import sys
import unittest

from tools import BUILD, main, np  # first: it skips where there is no NumPy

with open(os.path.join(BUILD, "CMakeCache.txt")) as cache:
    if any(line.startswith("KRF_SANITIZE:") and line.strip()[-1] != "=" for line in cache):
        print("skipped: Python would need the sanitizers as well")
        sys.exit(77)

lib = c.CDLL(os.path.join(BUILD, "libkerfuse.so"))
lib.krf_error_message.restype = c.c_char_p
python = c.pythonapi
python.PyCapsule_GetPointer.restype, python.PyCapsule_GetPointer.argtypes = c.c_void_p, [c.py_object, c.c_char_p]
python.PyCapsule_SetName.argtypes = [c.py_object, c.c_char_p]
python.PyCapsule_New.restype, python.PyCapsule_New.argtypes = c.py_object, [c.c_void_p, c.c_char_p, c.c_void_p]

NAMES = {False: b"dltensor", True: b"dltensor_versioned"}
USED = {False: b"used_dltensor", True: b"used_dltensor_versioned"}  # static: capsules keep the pointer


def call(name, *arguments):
    status = getattr(lib, name)(*arguments)
    if status != 0:
        raise RuntimeError(f"{name}: {status}: {lib.krf_error_message().decode()}")


def take(context, x, versioned):
    """A kerfuse array over the memory of a NumPy array."""
    array = c.c_void_p()
    capsule = x.__dlpack__(max_version=(1, 0)) if versioned else x.__dlpack__()
    tensor = python.PyCapsule_GetPointer(capsule, NAMES[versioned])
    suffix = "" if versioned else "_legacy"
    call("krf_array_from_dlpack" + suffix, context, c.c_void_p(tensor), None, c.byref(array))
    python.PyCapsule_SetName(capsule, USED[versioned])
    return array


class Exporter:
    """What np.from_dlpack takes."""

    def __init__(self, array, versioned):
        self.array, self.versioned = array, versioned

    def __dlpack_device__(self):
        return 1, 0

    def __dlpack__(self, **kwargs):
        tensor = c.c_void_p()
        suffix = "" if self.versioned else "_legacy"
        call("krf_array_to_dlpack" + suffix, self.array, None, c.byref(tensor))
        return python.PyCapsule_New(tensor, NAMES[self.versioned], None)


class DLPack(unittest.TestCase):
    def setUp(self):
        self.context = c.c_void_p()
        os.environ["KRF_CACHE"] = "off"
        os.environ["CUDA_VISIBLE_DEVICES"] = ""  # the default device is the CPU then
        call("krf_context_create", None, c.byref(self.context))
        self.addCleanup(lib.krf_context_destroy, self.context)

    def test_round_trips(self):
        dtypes = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"]
        for dtype, versioned in itertools.product(dtypes, [False, True]):
            if np.lib.NumpyVersion(np.__version__) < ("2.1.0" if versioned else "1.25.0" if dtype == "?" else "0.0.0"):
                continue
            base = (np.arange(60).reshape(3, 4, 5) % 2 if dtype == "?" else np.arange(60).reshape(3, 4, 5)).astype(dtype)
            for x in base, base[::-1, 1:, ::2], base.T, base[1, 2, 3:4].reshape(()), base[:0]:
                array = take(self.context, x, versioned)
                y = np.from_dlpack(Exporter(array, versioned))
                lib.krf_array_release(array)
                self.assertEqual((x.dtype, x.shape), (y.dtype, y.shape))
                np.testing.assert_array_equal(x, y)
                if x.size:
                    self.assertEqual(x.__array_interface__["data"][0], y.__array_interface__["data"][0])
                    self.assertEqual([s for s, n in zip(x.strides, x.shape) if n > 1],
                                     [s for s, n in zip(y.strides, y.shape) if n > 1])
                if x.size and x.flags.writeable and not (versioned and not y.flags.writeable):
                    self.assertTrue(np.shares_memory(x, y))

    def test_memory_lives_as_long_as_it_is_used(self):
        for versioned in False, True:
            if versioned and np.lib.NumpyVersion(np.__version__) < "2.1.0":
                continue
            y = None
            for round in range(50):
                x = np.full(100000, round, "f8")
                array = take(self.context, x, versioned)
                del x
                y = np.from_dlpack(Exporter(array, versioned))
                lib.krf_array_release(array)
                self.assertEqual(float(y.sum()), 100000.0 * round)

    def test_read_only(self):
        if np.lib.NumpyVersion(np.__version__) < "2.1.0":
            self.skipTest("NumPy exports read-only arrays from 2.1 on")
        x = np.arange(10, dtype="f4")
        x.flags.writeable = False
        array = take(self.context, x, True)
        self.assertFalse(np.from_dlpack(Exporter(array, True)).flags.writeable)
        self.assertNotEqual(lib.krf_array_copy(array, array), 0)
        self.assertIn("read-only", lib.krf_error_message().decode())
        lib.krf_array_release(array)


if __name__ == "__main__":
    main()
