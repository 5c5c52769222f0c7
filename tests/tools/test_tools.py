"""fuserun and fusedump from the outside, with NumPy (in long double) and math.fsum as referees. Runs again on the GPU
with KRF_TEST_DEVICE=cuda."""
import glob
import math
import os
import re
import unittest

from tools import DEVICE, ToolTest, main, np, tool

SOFTPLUS = "maximum(x,0)+log1p(exp(-abs(x)))"
ONE_KERNEL = [
    (SOFTPLUS, ["x=f32[1000000]"]),
    ("sum((x-y)**2)", ["x=f32[1000000]", "y=f32[1000000]"]),
    ("mean(x*x, axis=1)", ["x=f32[1024,64]"]),
    ("max(x), min(x), sum(x*x)", ["x=f32[1000000]"]),
    ("exp(x) * 2 + y[None, :]", ["x=f32[1000,64]", "y=f32[64]"]),
]
# Counts are definite where every kernel is compiled, before it runs.
COMPILED = {"KRF_CPU_TIER": "1", "KRF_BLOCKING_COMPILE": "1"}


def stats(text):
    """The counters of --stats."""
    return {name: int(re.search(name + r" (\d+)", text).group(1)) for name in ("kernels", "compiled", "from disk")}


def error_ulp(got, wide):
    """The largest error in units of the last place of the right result, which is given in long double."""
    right = wide.astype(got.dtype)
    special = ~np.isfinite(right)
    assert np.array_equal(got[special], right[special], equal_nan=True), "special values differ"
    unit = np.spacing(np.abs(right[~special])).astype(np.longdouble)
    return float(np.max(np.abs(got[~special].astype(np.longdouble) - wide[~special]) / unit))


class Results(ToolTest):
    def test_softplus(self):
        for dtype in np.float32, np.float64:
            tiny = np.finfo(dtype).smallest_subnormal
            x = np.random.default_rng(1).standard_normal(10_000_000).astype(dtype) * 30
            x[:12] = [math.inf, -math.inf, math.nan, -0.0, 0.0, tiny, -tiny, tiny * 1000, -tiny * 1000, 1e4, -1e4, -100]
            x[-3:] = [math.nan, -math.inf, -0.0]
            y, = self.fuserun(SOFTPLUS, outputs=["y.npy"], x=x)
            self.assertEqual((y.dtype, y.shape), (x.dtype, x.shape))
            worst = 0.0
            for part in range(0, x.size, 1 << 20):
                wide = x[part:part + (1 << 20)].astype(np.longdouble)
                wide = np.maximum(wide, 0) + np.log1p(np.exp(-np.abs(wide)))
                worst = max(worst, error_ulp(y[part:part + (1 << 20)], wide))
            self.assertLessEqual(worst, 8, dtype)

    def test_sum(self):
        random = np.random.default_rng(2)
        for dtype, limit in (np.float32, 1e-6), (np.float64, 1e-14):
            x, y = (random.standard_normal(1_000_003).astype(dtype) for _ in range(2))
            right = math.fsum((x.astype(np.float64) - y.astype(np.float64))**2)
            got = self.number("sum((x-y)**2)", x=x, y=y)
            self.assertLessEqual(abs(got - right) / right, limit, dtype)

    def test_two_results(self):
        random = np.random.default_rng(3)
        for dtype, limit in (np.float32, 1e-6), (np.float64, 1e-14):
            x, y = (random.standard_normal((301, 257)).astype(dtype) for _ in range(2))
            squares, means = self.fuserun("d = x - y; return d*d, mean(d*d, axis=1)", outputs=["s.npy", "m.npy"], x=x,
                                          y=y)
            np.testing.assert_array_equal(squares, (x - y)**2)
            right = [math.fsum(row) / row.size for row in ((x - y)**2).astype(np.float64)]
            self.assertEqual(means.dtype, dtype)
            np.testing.assert_allclose(means, right, rtol=limit, atol=0)

    def test_integers_and_bools(self):
        x = np.arange(-50, 50, dtype=np.int32)
        y = np.resize(np.array([3, -3, 7, -7], dtype=np.int32), 100)
        got = self.fuserun("x // y, x % y, x > y, x * 1000000007", outputs=[f"{i}.npy" for i in range(4)], x=x, y=y)
        with np.errstate(over="ignore"):
            for a, b in zip(got, [x // y, x % y, x > y, x * np.int32(1000000007)]):
                self.assertEqual(a.dtype, b.dtype)
                np.testing.assert_array_equal(a, b)

    def test_scalars(self):
        x = np.linspace(-1, 1, 1001, dtype=np.float32)
        y, = self.fuserun("a * x + k", outputs=["y.npy"], x=x, a=0.1, k=3)
        np.testing.assert_array_equal(y, np.float32(0.1) * x + np.float32(3))
        self.assertEqual(self.fuserun("1 + 2").stdout, b"3\n")
        self.assertEqual(self.fuserun("any(x > 0.5)", x=x).stdout, b"True\n")
        self.assertEqual(self.fuserun("max(x)", x=np.array([0.1], np.float32)).stdout, b"0.1\n")
        self.assertEqual(self.fuserun("max(x)", x=np.array([0.1, math.nan])).stdout, b"nan\n")

    def test_large_integers(self):
        z = np.array([1, 2**64 - 1], np.uint64)
        for s in 2**63 - 1, 2**63, 2**64 - 1:
            y, = self.fuserun("maximum(z, s)", outputs=["y.npy"], z=z, s=s)
            np.testing.assert_array_equal(y, np.maximum(z, np.uint64(s)))
        self.assertEqual(self.fuserun("s", s=2**64 - 1).stdout, b"18446744073709551615\n")
        self.assertEqual(self.fuserun("s", s=-2**63).stdout, b"-9223372036854775808\n")
        self.assertEqual(self.fuserun("s", s=1e30).stdout, b"1e+30\n")

    def test_program_file(self):
        with open(self.path("nll.krf"), "w") as file:
            file.write("# a comment\nx: f64[n]\nmu: float\ns: f64\nz = (x - mu) / s\n"
                       "return -sum(-0.5 * z * z - log(s))\n")
        x = np.random.default_rng(4).standard_normal(10_000)
        got = self.number(self.path("nll.krf"), x=x, mu=0.25, s=1.5)
        z = (x - 0.25) / 1.5
        self.assertAlmostEqual(got / -math.fsum(-0.5 * z * z - math.log(1.5)), 1, delta=1e-13)


class Shapes(ToolTest):
    def test_empty(self):
        for shape in (0,), (3, 0, 5):
            x = np.zeros(shape, np.float32)
            y, = self.fuserun(SOFTPLUS, outputs=["y.npy"], x=x)
            self.assertEqual((y.shape, y.dtype), (shape, np.float32))
            self.assertEqual(self.number("sum(x)", x=x), 0)
        self.fuserun("max(x)", x=np.zeros(0, np.float32), status=2)

    def test_rank_0(self):
        y, = self.fuserun("x * x", outputs=["y.npy"], x=np.array(3.0))
        self.assertEqual((y.shape, y.dtype, float(y)), ((), np.float64, 9.0))

    def test_rank_8(self):
        x = np.random.default_rng(5).standard_normal((2, 3, 4, 5, 2, 3, 2, 5))
        text = "x.T[1::2, :, ::-1, 1, ..., ::2, :] * 2 + 1"
        y, = self.fuserun(text, outputs=["y.npy"], x=x)
        np.testing.assert_array_equal(y, x.T[1::2, :, ::-1, 1, ..., ::2, :] * 2 + 1)
        s, = self.fuserun("sum(x.T[:, ::2], axis=(0, 3, 5))", outputs=["s.npy"], x=x)
        np.testing.assert_allclose(s, np.sum(x.T[:, ::2], axis=(0, 3, 5)), rtol=1e-13, atol=1e-13)

    def test_fortran_order(self):
        x = np.asfortranarray(np.arange(12.0).reshape(3, 4))
        y, = self.fuserun("x * 2", outputs=["y.npy"], x=x)
        np.testing.assert_array_equal(y, x * 2)

    def test_a_chain_of_10000(self):
        with open(self.path("chain.krf"), "w") as file:
            file.write("t = x\n" + "t = t * 0.5\nt = t + 1\n" * 5000 + "return t\n")
        x = np.linspace(-1e6, 1e6, 1001, dtype=np.float32)
        y, = self.fuserun(self.path("chain.krf"), outputs=["y.npy"], x=x)
        for _ in range(5000):
            x = x * np.float32(0.5) + np.float32(1)
        np.testing.assert_array_equal(y, x)

    def test_500_inputs(self):
        arrays = {f"x{i}": np.random.default_rng(i).standard_normal(100) for i in range(500)}
        y, = self.fuserun(" + ".join(arrays), outputs=["y.npy"], **arrays)
        right = np.zeros(100)
        for i, array in enumerate(arrays.values()):
            right = right + array if i else array
        np.testing.assert_array_equal(y, right)


class Caches(ToolTest):
    def test_a_second_process_compiles_nothing(self):
        env = {**COMPILED, "KRF_CACHE_DIR": self.path("cache")}
        x = np.random.default_rng(6).standard_normal(100_000).astype(np.float32)
        for expression in SOFTPLUS, "sum(x * x)", "sum(x, axis=0)":
            first = stats(self.fuserun(expression, "--stats", "-o", self.path("a.npy"), env=env, x=x).stderr)
            second = stats(self.fuserun(expression, "--stats", "-o", self.path("b.npy"), env=env, x=x).stderr)
            self.assertEqual(second["compiled"], 0, expression)
            self.assertEqual(second["from disk"], first["compiled"] + first["from disk"], expression)
            with open(self.path("a.npy"), "rb") as a, open(self.path("b.npy"), "rb") as b:
                self.assertEqual(a.read(), b.read())
        self.assertEqual((first["kernels"], second["from disk"]), (1, 1))

    def test_few_kernels_for_many_lengths(self):
        """A sample from outside; tests of the interface count a thousand."""
        env = {**COMPILED, "KRF_CACHE_DIR": self.path("cache")}
        lengths = [1, 2, 3, 4, 7, 8, 9, 16, 31, 64, 100, 1000, 4097, 65536, 1_000_001]
        for expression, limit, rank in (SOFTPLUS, 2, 1), ("sum(x)", 3, 1), ("mean(x, axis=1)", 8, 2):
            compiled = 0
            for n in lengths:
                x = np.ones((3, n) if rank == 2 else n, np.float32)
                done = self.fuserun(expression, "--stats", "-o", self.path("y.npy"), env=env, x=x)
                compiled += stats(done.stderr)["compiled"]
            self.assertLessEqual(compiled, limit, expression)

    def test_another_scalar_needs_no_other_kernel(self):
        env = {**COMPILED, "KRF_CACHE_DIR": self.path("cache")}
        x = np.ones(1000, np.float32)
        runs = [self.fuserun("a * x", "--stats", "-o", self.path("y.npy"), env=env, x=x, a=a) for a in (0.3, 0.1, 3.5)]
        self.assertEqual([stats(run.stderr)["compiled"] for run in runs], [1, 0, 0])

    def test_bench(self):
        done = self.fuserun("sum(x)", "--bench", x=np.ones(1000, np.float32))
        self.assertEqual(float(done.stdout), 1000)
        times = r"min ([\d.]+), median ([\d.]+), max ([\d.]+)"
        found = re.fullmatch(rf"microseconds of (\d+) runs: CPU {times}; GPU {times}\n", done.stderr)
        self.assertTrue(found, done.stderr)
        runs, *times = map(float, found.groups())
        self.assertTrue(1 <= runs <= 1000 and times[:3] == sorted(times[:3]) and times[3:] == sorted(times[3:]), done.stderr)


class Errors(ToolTest):
    def rejects(self, expression, *parts, status=2, **arrays):
        done = self.fuserun(expression, "-o", self.path("result.npy"), status=status, **arrays)
        self.assertTrue(done.stderr.startswith("fuserun: "), done.stderr)
        self.assertEqual(done.stdout, b"")
        for part in parts:
            self.assertIn(part, done.stderr)
        self.assertFalse(os.path.exists(self.path("result.npy")))
        return done.stderr

    def assertCaret(self, message, expression, place):
        """The caret stands under that character of the expression."""
        lines = message.splitlines()
        at = lines.index(expression)
        self.assertEqual(lines[at + 1], " " * expression.index(place) + "^", message)

    def test_expressions(self):
        x, y = np.zeros(7), np.zeros(1024)
        for expression, place, part in [("x + * y", "*", "line 1, column 5"), ("x + (y", "(", "never closed"),
                                        ("exp(x, x)", None, "exp"), ("x + z", "z", "z is not defined"),
                                        ("x + y", "+", "shapes (7,) and (1024,) do not broadcast"),
                                        ("x & 1", "&", None), ("sum(x, axis=3)", None, "axis"), ("", None, None)]:
            message = self.rejects(expression, *[part] if part else [], x=x, y=y)
            if place:
                self.assertCaret(message, expression, place)
        for s in 2**64, -2**63 - 1, 10**30:
            self.rejects("s", "an integer beyond 64 bits", s=s)
        self.rejects("x + z", "Every name of an expression needs a value", x=x)
        self.rejects("x: f32[8]; return x", x=np.zeros(7, np.float32))
        self.rejects("x: f32[n]; return x", x=np.zeros(7))
        self.rejects("x: f32[4]; y: f32[4]; return x + y", "y is declared", x=np.zeros(4, np.float32))

    def test_usage(self):
        x = self.save("x", np.zeros(3))
        for arguments in ([], ["x", "y"], ["x", "--nonsense"], ["x", "-i", "x"], ["x", "-i", "=3"], ["x", "-i", "1x=3"],
                          ["x", "-i", x, "-i", x], ["x", "-i", x], ["x", "-i", x, "-o", self.path("a"), "-o", "b"],
                          ["sum(x)", "-i", x, "--device", "abacus"],
                          ["return x, x + 1", "-i", x, "-o", self.path("twice.npy"), "-o", self.path("twice.npy")]):
            done = tool("fuserun", *arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn("fuserun: ", done.stderr)
        for name in "fuserun", "fusedump":
            for option in "--help", "--version":
                done = tool(name, option)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertIn(name.encode(), done.stdout)

    def test_files(self):
        self.rejects("x", self.path("none.npy") + ": No such file", x=self.path("none.npy"), status=1)
        with open(self.path("bad.npy"), "wb") as file:
            file.write(b"no array")
        self.rejects("x", "bad.npy", x=self.path("bad.npy"), status=1)
        np.save(self.path("text.npy"), np.zeros(3, "S4"))
        self.rejects("x", "|S4", x=self.path("text.npy"), status=1)
        np.save(self.path("object.npy"), np.array([None]), allow_pickle=True)
        self.rejects("x", "Python objects", x=self.path("object.npy"), status=1)
        done = tool("fuserun", self.path("none.krf"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("none.krf: No such file", done.stderr)

    def test_full_disk(self):
        x = self.save("x", np.zeros(1000))
        done = tool("fuserun", "x + 1", "--device", DEVICE, "-i", x, "-o", "/dev/full")
        self.assertEqual((done.returncode, done.stderr), (1, "fuserun: /dev/full: No space left on device\n"))
        with open("/dev/full", "wb") as full:
            done = tool("fuserun", "sum(x)", "--device", DEVICE, "-i", x, stdout=full)
            self.assertEqual((done.returncode, done.stderr), (1, "fuserun: standard output: No space left on device\n"))
            done = tool("fusedump", "x + 1", "-i", "x=f32[10]", stdout=full)
            self.assertEqual((done.returncode, done.stderr),
                             (1, "fusedump: standard output: No space left on device\n"))


@unittest.skipIf(DEVICE != "cpu", "the same on every device")
class Dump(ToolTest):
    def dump(self, *arguments, status=0):
        done = tool("fusedump", *arguments)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def test_one_kernel(self):
        for expression, inputs in ONE_KERNEL:
            command = [expression] + [word for i in inputs for word in ("-i", i)]
            source = self.dump(*command).stdout.decode()
            self.assertEqual(len(re.findall(r"__global__", source)), 1, source)
            self.assertTrue(self.dump(*command, "--target", "c").stdout)
            self.assertTrue(self.dump(*command, "--emit", "plan").stdout)

    def test_graph_can_be_read_again(self):
        for expression, inputs in ONE_KERNEL:
            graph = self.dump(expression, "--emit", "graph", *[word for i in inputs for word in ("-i", i)]).stdout
            with open(self.path("graph.krf"), "wb") as file:
                file.write(graph)
            self.assertEqual(self.dump(self.path("graph.krf"), "--emit", "graph").stdout, graph)

    def test_cubin(self):
        places = ["/usr/local/cuda*/lib64", "/usr/lib/*-linux-gnu", "/usr/lib64"]
        if not os.environ.get("KRF_LIBNVRTC") and not any(glob.glob(p + "/libnvrtc.so*") for p in places):
            self.skipTest("no NVRTC")
        for expression, inputs in ONE_KERNEL:
            command = [expression] + [word for i in inputs for word in ("-i", i)]
            for arch in "sm_75", "sm_90", "sm_100":
                self.dump(*command, "--emit", "cubin", "--arch", arch, "-o", self.path("k.cubin"))
                with open(self.path("k.cubin"), "rb") as file:
                    self.assertEqual(file.read(4), b"\x7fELF")
            self.assertIn(b".target sm_90", self.dump(*command, "--emit", "ptx").stdout)

    def test_extents(self):
        with open(self.path("p.krf"), "w") as file:
            file.write("# n is free\nx: f32[n, 64]; y: f32[n, 64]\nreturn sum(x * y, axis=1)\n")
        done = self.dump(self.path("p.krf"), "--emit", "graph")
        self.assertIn("n is taken as 1048576", done.stderr)
        self.assertIn(b"[1048576, 64]", done.stdout)
        for arguments in (["-i", "n=1000"], ["-i", "x=f32[1000,64]"], ["-i", "x=f32[m, 64]", "-i", "m=1000"]):
            done = self.dump(self.path("p.krf"), "--emit", "graph", *arguments)
            self.assertEqual(done.stderr, "")
            self.assertIn(b"[1000, 64]", done.stdout)
        done = self.dump("x + 1", "--emit", "graph", "-i", "x=f64[ k ]")
        self.assertIn("k is taken as 1048576", done.stderr)
        self.dump("a * x + b * k", "-i", "x=f32[100]", "-i", "a=float", "-i", "k=int", "-i", "b=f32")

    def test_usage(self):
        for arguments in ([], ["x"], ["x", "-i", "x=f33[3]"], ["x", "-i", "x=f32[3"], ["x", "-i", "x=f32[-3]"],
                          ["x", "-i", "x=f32[3]y"], ["x", "-i", "x=f32[3 3]"], ["x", "-i", "x=f32[1" + ",1" * 16 + "]"],
                          ["x", "-i", "x=f32[3]", "--emit", "gold"], ["x", "-i", "x=f32[3]", "--target", "fpga"],
                          ["x", "-i", "x=f32[3]", "--target", "c", "--emit", "ptx"], ["x +", "-i", "x=f32[3]"],
                          ["x + y", "-i", "x=f32[3]", "-i", "y=f32[4]"]):
            done = self.dump(*arguments, status=2)
            self.assertIn("fusedump: ", done.stderr)
            self.assertEqual(done.stdout, b"")
        self.assertIn("-i NAME=f32[", self.dump("x", status=2).stderr)


main()
