"""The benchmark: each row of bench/workloads.txt is one computation, for kerfuse what it is for NumPy; kerfuse-bench runs all of them; the report."""
import importlib.util
import json
import os
import subprocess
import sys

from tools import SOURCE, ToolTest, main, np, tool # first: it skips where there is no NumPy

SCALE = 4096
TABLE = os.path.join(SOURCE, "bench", "workloads.txt")


def load_peers():
    spec = importlib.util.spec_from_file_location("peers", os.path.join(SOURCE, "bench", "peers.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


peers = load_peers()


class Bench(ToolTest):
    def workloads(self):
        return peers.read_workloads(TABLE, SCALE)

    def test_names(self):
        names = [w.name for w in self.workloads()]
        self.assertGreater(len(names), 80)
        self.assertEqual(len(names), len(set(names)))
        self.assertEqual(tool("kerfuse-bench", "--list").stdout.decode().split(), names)

    def test_results_are_numpys(self):
        """Of what NumPy has: no bf16, and no generator of ours."""
        tolerance = {"f16": 2e-2, "f64": 1e-10}
        for w in self.workloads():
            dtypes = {dtype for _, dtype, _ in w.inputs}
            if "bf16" in dtypes or "random_" in w.program:
                continue
            random, arrays = np.random.default_rng(5), {}
            for name, dtype, shape in w.inputs:
                x = random.integers(1, 100, shape) if dtype[0] == "i" else random.uniform(0.1, 1, shape)
                x = x + 1j * random.uniform(0.1, 1, shape) if dtype[0] == "c" else x
                arrays[name] = np.asarray(x).astype(peers.DTYPES[dtype])
            expected = w.function(peers.host_numpy_space(np))(*arrays.values())
            expected = expected if isinstance(expected, tuple) else (expected,)
            outputs = [f"out{k}.npy" for k in range(len(expected))]
            with self.subTest(w.name):
                found = self.fuserun(w.program, outputs=outputs, env={"KRF_CPU_TIER": "0"}, **arrays, **w.sizes)
                for x, y in zip(found, expected):
                    y = np.asarray(y)
                    self.assertEqual(x.size, y.size)
                    allowed = max(tolerance.get(dtype, 1e-4) for dtype in dtypes or {"f32"})
                    np.testing.assert_allclose(x.reshape(y.shape), y, rtol=allowed, atol=allowed / 10)

    def test_all_rows_run(self):
        done = tool("kerfuse-bench", "--device", "cpu", "--scale", SCALE, "--repeat", "1", "--json", "--only", "sum", "--only", "64M",
                    "--only", "permute", env={"KRF_CPU_TIER": "0"})
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = {row["workload"]: row for row in map(json.loads, (line for line in done.stdout.decode().splitlines() if line[0] == "{"))}
        wanted = [w.name for w in self.workloads() if any(text in w.name for text in ("sum", "64M", "permute"))]
        self.assertEqual(list(rows), wanted)
        self.assertEqual(rows["softplus_f32_64M"]["bytes"], 2 * 4 * (1 << 26) // SCALE)
        self.assertEqual((rows["sum_f32_1M"]["of"], rows["full_f32_64M"]["of"], rows["sqdiff_f32_64M"]["of"]), ("read", "write", "copy"))
        for row in rows.values():
            self.assertGreater(row["ms"], 0)
            self.assertGreaterEqual(row["ms"], row["best_ms"])
            self.assertGreater(row["kernels"], 0)

    def test_every_plan_is_made(self):
        done = tool("kerfuse-bench", "--device", "cpu", "--scale", SCALE, "--no-runs", "--json", env={"KRF_CPU_TIER": "0"})
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_faulty_table(self):
        for text, message in (("a n=1\n    x: f32[m]\n    x\n", "extent"), ("a n=0\n    1\n", "size"), ("a\n    x: f99[2]\n    x\n", "dtype"),
                              ("a\n", "program"), ("a speed\n    1\n", "expected")):
            with open(self.path("table"), "w") as file:
                file.write(text)
            done = tool("kerfuse-bench", "--workloads", self.path("table"))
            self.assertEqual(done.returncode, 1)
            self.assertIn(message, done.stderr)

    def report(self, *flags):
        row = dict(peer="kerfuse", math="precise", gbs=1, of="copy", of_limit=1, kernels=1, compile_ms=1, scale=1)
        with open(self.path("k"), "w") as file:
            for name, ms, best in (("one", 2, 1), ("two", 4, 4), ("alone", 1, 1)):
                file.write(json.dumps(dict(row, workload=name, ms=ms, best_ms=best)) + "\n")
        with open(self.path("p"), "w") as file:
            file.write("# a note\n")
            for name, peer, ms in (("one", "slow", 9), ("one", "quick", 4), ("two", "quick", 2), ("alone", "another scale", 1)):
                file.write(json.dumps(dict(workload=name, peer=peer, ms=ms, best_ms=ms, scale=2 if name == "alone" else 1)) + "\n")
        program = os.path.join(SOURCE, "bench", "report")
        subprocess.run([sys.executable, program, *flags, self.path("k"), self.path("p"), self.path("out")], check=True, stdout=subprocess.DEVNULL)
        with open(self.path("out.md")) as file:
            return file.read()

    def test_report(self):
        text = self.report()
        for part in ("- a note", "precise: 1.00 over 2 workloads; 1 of them", "- two: 0.50 (quick)", "| quick | 4.0000 | 2.00 | slow 9 |",
                     "| **0.50** |", "Without a peer: alone."):
            self.assertIn(part, text)
        self.assertIn("precise: 1.41 over 2 workloads", self.report("--best"))


main()
