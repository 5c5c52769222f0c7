"""The .npy reader and writer against NumPy: what NumPy writes is read, what is written NumPy reads, bit by bit."""
import io
import itertools
import os
import threading

from tools import ToolTest, main, np, tool # first: it skips where there is no NumPy

from numpy.lib import format as npy

SHAPES = [(), (1,), (7,), (0,), (3, 4), (0, 3), (2, 3, 4), (2, 1, 3, 1, 2), (1,) * 16]
DTYPES = ["|b1", "<i4", "<i8", "<f4", "<f8", ">i4", ">i8", ">f4", ">f8", "<c8", "<c16", ">c8", ">c16"]


class RoundTrip(ToolTest):
    def check(self, x):
        """Saves x, lets fuserun load and save it, and compares."""
        done = tool("fuserun", "x", "--device", "cpu", "-i", f"x={self.path('x.npy')}", "-o", self.path("y.npy"))
        self.assertEqual(done.returncode, 0, done.stderr)
        y = np.load(self.path("y.npy"))
        self.assertEqual((y.dtype, y.shape), (x.dtype.newbyteorder("="), x.shape))
        self.assertTrue(y.flags.c_contiguous)
        self.assertEqual(y.tobytes(), np.ascontiguousarray(x).astype(y.dtype).tobytes())
        with open(self.path("y.npy"), "rb") as file:
            npy.read_magic(file)
            npy.read_array_header_1_0(file)
            self.assertEqual(file.tell() % 64, 0)

    def make(self, dtype, shape):
        random = np.random.default_rng(7)
        if dtype == "|b1":
            return random.integers(0, 2, shape).astype(bool)
        x = np.asarray(random.standard_normal(shape) * 1e8)
        if np.dtype(dtype).kind == "c":
            x = x + 1j * random.standard_normal(shape)
        return x.astype(dtype)

    def test_dtypes_and_orders(self):
        for dtype, order in itertools.product(DTYPES, "CF"):
            x = np.asarray(self.make(dtype, (3, 4, 5)), order=order)
            np.save(self.path("x.npy"), x)
            self.check(x)

    def test_shapes(self):
        for shape in SHAPES:
            x = self.make("<f4", shape)
            np.save(self.path("x.npy"), x)
            self.check(x)

    def test_versions(self):
        x = self.make("<f8", (3, 4))
        for version in (1, 0), (2, 0), (3, 0):
            with open(self.path("x.npy"), "wb") as file:
                npy.write_array(file, x, version=version)
            self.check(x)

    def test_special_values(self):
        x = np.array([np.inf, -np.inf, np.nan, -0.0, 5e-324], ">f8")
        np.save(self.path("x.npy"), x)
        self.check(x)

    def test_a_pipe(self):
        x = self.make("<f8", (1000,))
        data = io.BytesIO()
        np.save(data, x)
        os.mkfifo(self.path("x.npy"))
        writer = threading.Thread(target=self.write, args=(data.getvalue(),))
        writer.start()
        self.check(x)
        writer.join()

    def test_bf16(self):
        """NumPy has no bf16: two bytes without meaning, or the bits as integers that are named bf16."""
        bits = np.array([0x3f80, 0xc000, 0x7f80, 0x0001], "<u2") # 1, -2, inf, 2**-133
        np.save(self.path("void.npy"), bits.view("V2"))
        np.save(self.path("bits.npy"), bits)
        for value in self.path("void.npy"), "bf16:" + self.path("void.npy"), "bf16:" + self.path("bits.npy"):
            done = tool("fuserun", "f64(x)", "--device", "cpu", "-i", f"x={value}", "-o", self.path("y.npy"))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(np.load(self.path("y.npy")).tolist(), [1, -2, np.inf, 2.0**-133])
        done = tool("fuserun", "x", "--device", "cpu", "-i", f"x=f32:{self.path('bits.npy')}", "-o", self.path("y.npy"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("holds u16, which has not the 4 bytes of f32", done.stderr)

    def write(self, data):
        with open(self.path("x.npy"), "wb") as file:
            file.write(data)


main()
