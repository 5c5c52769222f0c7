#!/usr/bin/env python3
"""Times the peers of kerfuse on the workloads of workloads.txt: one JSON object a line, of the form that kerfuse-bench --json prints.

    bench/peers.py [--device cuda|cpu] [--peers all|best|NAME,NAME] [--only TEXT]... [--scale K] [--limit SECONDS] [--budget SECONDS] [--warm JOBS]

Peers: on a GPU torch_compile, jax_jit, cupy, cupy_fuse, torch_eager; on the CPU numpy, numexpr, numba, jax_jit. What cannot be imported, or cannot run a
workload, is left out with a line on stderr. Each runs the program as it stands in the table, on its own arrays, results in new memory."""
import argparse
import ast
import contextlib
import json
import math
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import warnings

ROOT = os.path.dirname(os.path.abspath(__file__))
GPU_PEERS = ("torch_compile", "jax_jit", "cupy", "cupy_fuse", "torch_eager")
WARM_SECONDS = 120  # a compiler that hangs must not take a lent GPU with it
CPU_PEERS = ("numpy", "numexpr", "numba", "jax_jit")
DTYPES = {
    "bool": "bool", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64",
    "f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64", "c64": "complex64", "c128": "complex128",
}
BYTES = {name: 2 if name == "bf16" else 1 if name == "bool" else int(name[1:]) // 8 for name in DTYPES}
DECLARATION = re.compile(r"^\s*(\w+)\s*:\s*(\w+)\[([^\]]*)\]\s*$")


class Workload:
    """A row of the table: its sizes, its inputs as (name, dtype, shape), and its program as Python statements, the last one an expression."""

    def __init__(self, head, lines, scale):
        words, self.program = head.split(), "".join(lines)
        self.name, self.best, self.sizes, self.inputs, self.statements = words[0], [], {}, [], []
        for word in words[1:]:
            key, _, value = word.partition("=")
            if key == "best":
                self.best = value.split(",")
            elif value:
                self.sizes[key] = int(value) if self.sizes else max(1, int(value) // scale)
        for statement in (s.strip() for line in lines for s in line.split(";")):
            found = DECLARATION.match(statement)
            if found:
                extents = [e.strip() for e in found[3].split(",")]
                self.inputs.append((found[1], found[2], tuple(self.sizes[e] if e in self.sizes else int(e) for e in extents)))
            elif statement:
                self.statements.append(statement)

    def function(self, space):
        """The program as a Python function of the inputs, over the functions of a library."""
        last = f"({self.statements[-1]})"
        code = "def program(%s):\n" % ", ".join(name for name, _, _ in self.inputs)
        code += "".join(f"    {s}\n" for s in self.statements[:-1])
        code += f"    return _finish({last})\n" if "_finish" in space else f"    return {last}\n"
        if "_f32" in space:  # a library whose arrays have .to(), and whose dtypes go by another name than its casts
            code = re.sub(r"\.astype\((\w+)\)", r".to(_\1)", code)
        scope = {**self.sizes, **space}
        exec(compile(code, self.name, "exec"), scope)
        return scope["program"]

    def expression(self):
        """The program as one expression, its assignments written out; None for several results."""
        known = {}

        class Inline(ast.NodeTransformer):
            def visit_Name(self, node):
                return known.get(node.id, node)

        for statement in self.statements:
            node = ast.parse(statement).body[0]
            value = Inline().visit(node.value)
            if isinstance(node, ast.Assign):
                known[node.targets[0].id] = value
        return None if isinstance(value, ast.Tuple) else value


def read_workloads(path, scale):
    rows = []
    with open(path) as file:
        lines = file.readlines()
    for line in lines:
        if line.startswith(" "):
            rows[-1][1].append(line)
        elif line.strip() and not line.startswith("#"):
            rows.append((line, []))
    return [Workload(head, lines, scale) for head, lines in rows]


# ---- the functions of the text form in each library


def dtype_names(module):
    return {name: getattr(module, full) for name, full in DTYPES.items() if name != "bool" and hasattr(module, full)}


def numpy_space(np, copies):
    """Of NumPy and what looks like it. copies: views are copied, as a result of kerfuse is no view."""
    space = {name: value for name, value in ((name, getattr(np, name, None)) for name in dir(np) if name[0] != "_") if callable(value)}
    space.update(dtype_names(np))
    if copies:
        space["_finish"] = lambda r: tuple(map(np.ascontiguousarray, r)) if isinstance(r, tuple) else np.ascontiguousarray(r)
    return space


def host_numpy_space(np):
    space = numpy_space(np, True)
    generator = np.random.default_rng(7)
    space["random_uniform"] = lambda n, key, dtype: generator.random(n, dtype=dtype)
    space["random_normal"] = lambda n, key, dtype: generator.standard_normal(n, dtype=dtype)
    return space


def cupy_space(cp):
    space = numpy_space(cp, True)
    space["random_uniform"] = lambda n, key, dtype: cp.random.random(n, dtype=dtype)
    space["random_normal"] = lambda n, key, dtype: cp.random.standard_normal(n, dtype=dtype)
    return space


def jax_space(jax):
    jnp = jax.numpy
    space = numpy_space(jnp, False)
    special, nn = jax.scipy.special, jax.nn
    space.update(logsumexp=nn.logsumexp, erf=special.erf, erfc=special.erfc, erfinv=special.erfinv, lgamma=special.gammaln, gamma=special.gamma, digamma=special.digamma, i0=special.i0, sigmoid=nn.sigmoid, silu=nn.silu, softplus=nn.softplus,
                 gelu=lambda x: nn.gelu(x, approximate=False), gelu_tanh=lambda x: nn.gelu(x, approximate=True))
    space["random_uniform"] = lambda n, key, dtype: jax.random.uniform(jax.random.key(key), (n,), dtype)
    space["random_normal"] = lambda n, key, dtype: jax.random.normal(jax.random.key(key), (n,), dtype)
    return space


def torch_space(torch, device):
    tensor = torch.Tensor

    def along(f, whole):
        return lambda x, axis=None, keepdims=False: whole(x) if axis is None else f(x, axis, keepdims)

    def cast(kind):
        # A number such as f32(0.125) takes the dtype of what it meets.
        return lambda x: x.to(kind) if isinstance(x, tensor) else float(x)

    def moments(f):
        return lambda x, axis=None, keepdims=False: f(x, axis, correction=0, keepdim=keepdims)

    def counted(x, axis=None):
        return torch.count_nonzero(x, axis)

    def roll(x, shift, axis=None):
        return torch.roll(x, shift, axis)

    def repeat(x, k, axis):
        return torch.repeat_interleave(x, k, axis, output_size=k * x.shape[axis])

    def take(x, i, axis=None):
        return x.reshape(-1)[i] if axis is None else x[(slice(None),) * axis + (i,)]

    finish = lambda x: x.contiguous()  # noqa: E731
    space = {name: value for name, value in ((name, getattr(torch, name, None)) for name in dir(torch) if name[0] != "_") if callable(value)}
    space.update({name: cast(getattr(torch, full)) for name, full in DTYPES.items() if name != "bool" and hasattr(torch, full)})
    space.update({f"_{name}": getattr(torch, full) for name, full in DTYPES.items() if hasattr(torch, full)})
    space.update(
        maximum=lambda x, y: torch.maximum(x, y) if isinstance(y, tensor) else torch.clamp_min(x, y),
        minimum=lambda x, y: torch.minimum(x, y) if isinstance(y, tensor) else torch.clamp_max(x, y),
        sum=along(torch.sum, torch.sum), mean=along(torch.mean, torch.mean), any=along(torch.any, torch.any), all=along(torch.all, torch.all),
        max=along(torch.amax, torch.amax), min=along(torch.amin, torch.amin), argmax=along(torch.argmax, torch.argmax), argmin=along(torch.argmin, torch.argmin),
        logsumexp=torch.logsumexp, var=moments(torch.var), std=moments(torch.std), cumsum=lambda x, axis=0: torch.cumsum(x, axis),
        cumprod=lambda x, axis=0: torch.cumprod(x, axis), count_nonzero=counted, clip=torch.clamp, roll=roll, repeat=repeat, tile=torch.tile, take=take,
        take_along_axis=lambda x, i, axis: torch.gather(x, axis, i.long()), pad=lambda x, k: torch.nn.functional.pad(x, (k, k) * x.ndim),
        concatenate=lambda parts, axis=0: torch.cat(parts, axis), stack=lambda parts, axis=0: torch.stack(parts, axis),
        flip=lambda x, axis=None: torch.flip(x, tuple(range(x.ndim)) if axis is None else (axis,)),
        transpose=lambda x, axes=None: x.T if axes is None else x.permute(axes), arange=lambda n: torch.arange(n, device=device),
        full=lambda n, value, dtype: torch.full((n,), value, device=device, dtype=torch.float32),
        random_uniform=lambda n, key, dtype: torch.rand(n, device=device, dtype=torch.float32),
        random_normal=lambda n, key, dtype: torch.randn(n, device=device, dtype=torch.float32),
        _finish=lambda r: tuple(map(finish, r)) if isinstance(r, tuple) else finish(r))
    return space


# ---- clocks: milliseconds a call, the median of several batches


class TooSlow(Exception):
    pass


@contextlib.contextmanager
def time_limit(seconds):
    def raise_it(*_):
        raise TooSlow(f"took longer than {seconds} s")
    before = signal.signal(signal.SIGALRM, raise_it)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def median(values):
    return sorted(values)[len(values) // 2]


def wall_clock(call, wait, budget, each=False):
    """Calls back to back, then one wait for the last result. each: a wait for each, as a call of the others on the CPU is: JAX would run two at a time."""
    wait(call())
    start = time.perf_counter()
    wait(call())
    once = time.perf_counter() - start
    reps = 15 if once * 15 < budget else 7 if once * 7 < budget else max(1, int(budget / once))
    n = max(1, min(1000, int(budget / reps / max(once, 1e-7))))
    times = []
    for _ in range(reps):
        start = time.perf_counter()
        result = None
        for _ in range(n):
            result = call()
            if each:
                wait(result)
        wait(result)
        times.append((time.perf_counter() - start) * 1e3 / n)
    return median(times), min(times)


def event_clock(torch, call, budget):
    """CUDA events around batches on torch's stream."""
    for _ in range(3):
        call()
    torch.cuda.synchronize()
    start = time.perf_counter()
    call()
    torch.cuda.synchronize()
    once = time.perf_counter() - start
    n = max(1, min(1000, int(budget / 7 / max(once, 1e-6))))
    times = []
    for _ in range(7):
        first, last = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        first.record()
        for _ in range(n):
            call()
        last.record()
        last.synchronize()
        times.append(first.elapsed_time(last) / n)
    return median(times), min(times)


# ---- the CPU


class Cpu:
    peers = CPU_PEERS

    def __init__(self, options):
        import numpy
        self.np, self.threads, self.pool = numpy, options.threads, {}
        self.budget = options.budget
        warnings.filterwarnings("ignore", module="numba")
        self.modules = {"numpy": numpy}
        for name, module in (("numexpr", "numexpr"), ("numba", "numba"), ("jax_jit", "jax")):
            with contextlib.suppress(ImportError):
                self.modules[name] = __import__(module)
        if "numexpr" in self.modules:
            self.modules["numexpr"].set_num_threads(self.threads)
        if "numba" in self.modules:
            self.modules["numba"].set_num_threads(min(self.threads, self.modules["numba"].config.NUMBA_NUM_THREADS))
        if "jax_jit" in self.modules:
            self.modules["jax_jit"].config.update("jax_enable_x64", True)

    def versions(self):
        return {name: module.__version__ for name, module in self.modules.items()}

    def inputs(self, w):
        arrays = []
        for i, (_, dtype, shape) in enumerate(w.inputs):
            generator, n = self.np.random.default_rng(i), math.prod(shape)
            if dtype[0] in "iu":
                flat = generator.integers(1, 100, n, dtype=DTYPES[dtype])
            elif dtype in ("c64", "c128"):
                flat = (generator.random(n) + 1j * generator.random(n)).astype(DTYPES[dtype])
            elif dtype == "bf16":
                flat = generator.random(n, dtype="f4") * 0.9 + 0.1  # NumPy has none: JAX casts it
            else:
                flat = (generator.random(n, dtype="f4" if dtype != "f64" else "f8") * 0.9 + 0.1).astype(DTYPES[dtype])
            arrays.append(flat.reshape(shape))
        return arrays

    def run(self, peer, w, arrays):
        if any(dtype == "bf16" for _, dtype, _ in w.inputs) and peer != "jax_jit":
            raise NotImplementedError("has no bf16")
        nothing = lambda result: None  # noqa: E731
        call, wait = getattr(self, peer)(w, arrays), nothing
        if peer == "jax_jit":
            wait = self.modules["jax_jit"].block_until_ready
        start = time.perf_counter()
        result = call()
        wait(result)
        return (time.perf_counter() - start) * 1e3, result, *wall_clock(call, wait, self.budget, each=True)

    def numpy(self, w, arrays):
        program = w.function(host_numpy_space(self.np))
        return lambda: program(*arrays)

    def numexpr(self, w, arrays):
        expression = w.expression()
        if expression is None or not w.inputs:
            raise NotImplementedError("one expression over arrays")
        constants = {}
        single = all(dtype in ("f32", "c64", "i8") for _, dtype, _ in w.inputs)

        class Prepare(ast.NodeTransformer):
            """Views become arrays of their own names; constants are of the arrays' precision, or numexpr computes in f64."""

            def visit_Constant(self, node):
                if isinstance(node.value, float) and single:
                    name = f"k{len(constants)}"
                    constants[name] = self.np.float32(node.value)
                    return ast.copy_location(ast.Name(name, ast.Load()), node)
                return node

            def _view(self, node):
                name = f"v{len(constants)}"
                constants[name] = eval(ast.unparse(node), {**w.sizes, **dict(zip((n for n, _, _ in w.inputs), arrays))})
                return ast.copy_location(ast.Name(name, ast.Load()), node)

            visit_Subscript = visit_Attribute = _view

            def visit_Call(self, node):
                name = node.func.id if isinstance(node.func, ast.Name) else None
                if name == "f32":
                    return self.visit(node.args[0])
                if name is None:
                    return self._view(node)
                node.args = [self.visit(a) for a in node.args]
                return node

        Prepare.np = self.np
        text = ast.unparse(Prepare().visit(expression))
        names = {**dict(zip((n for n, _, _ in w.inputs), arrays)), **constants}
        evaluate = self.modules["numexpr"].evaluate
        out = evaluate(text, local_dict=names, global_dict={})
        out = out if out.ndim > 0 and out.flags.c_contiguous else None
        return lambda: evaluate(text, local_dict=names, global_dict={}, out=out)

    def numba(self, w, arrays):
        space = numpy_space(self.np, False)
        if w.statements[-1].startswith("transpose("):
            space["_finish"] = self.np.ascontiguousarray
        program = self.modules["numba"].njit(parallel=True)(w.function(space))
        return lambda: program(*arrays)

    def jax_jit(self, w, arrays):
        jax = self.modules["jax_jit"]
        program = jax.jit(w.function(jax_space(jax)))
        device = [jax.numpy.asarray(a, dtype=DTYPES[dtype]) for a, (_, dtype, _) in zip(arrays, w.inputs)]
        return lambda: program(*device)

    def clear(self):
        if "jax_jit" in self.modules:
            self.modules["jax_jit"].clear_caches()


# ---- a GPU


class Gpu:
    peers = GPU_PEERS

    def __init__(self, options):
        import torch
        self.torch, self.budget, self.modules = torch, options.budget, {"torch_compile": torch, "torch_eager": torch}
        import torch._dynamo
        torch._dynamo.config.cache_size_limit = 512
        with contextlib.suppress(ImportError):
            import jax
            jax.config.update("jax_enable_x64", True)
            self.modules["jax_jit"] = jax
        with contextlib.suppress(ImportError):
            import cupy
            self.modules["cupy"] = self.modules["cupy_fuse"] = cupy

    def versions(self):
        return {name: module.__version__ for name, module in self.modules.items()}

    def inputs(self, w):
        torch, arrays = self.torch, []
        for _, dtype, shape in w.inputs:
            kind = getattr(torch, DTYPES[dtype])
            if dtype[0] in "iu":
                arrays.append(torch.randint(1, 100, shape, device="cuda", dtype=kind))
            elif dtype in ("c64", "c128"):
                arrays.append(torch.randn(shape, device="cuda", dtype=kind))
            else:
                base = torch.float64 if dtype == "f64" else torch.float32
                arrays.append(torch.empty(shape, device="cuda", dtype=base).uniform_(0.1, 1.0).to(kind))
        return arrays

    def run(self, peer, w, arrays):
        torch = self.torch
        start = time.perf_counter()
        if peer == "jax_jit":
            jax = self.modules["jax_jit"]
            program, device = jax.jit(w.function(jax_space(jax))), [jax.dlpack.from_dlpack(t) for t in arrays]
            call = lambda: program(*device)  # noqa: E731
            result = jax.block_until_ready(call())
            return (time.perf_counter() - start) * 1e3, result, *wall_clock(call, jax.block_until_ready, self.budget)
        if peer.startswith("torch"):
            program = w.function(torch_space(torch, "cuda"))
            program = torch.compile(program, dynamic=False) if peer == "torch_compile" else program
            call = lambda: program(*arrays)  # noqa: E731
            stream = contextlib.nullcontext()
        else:
            cp = self.modules["cupy"]
            if any(dtype == "bf16" for _, dtype, _ in w.inputs):
                raise NotImplementedError("has no bf16")
            program = w.function(cupy_space(cp) if peer == "cupy" else numpy_space(cp, False))
            program, device = program if peer == "cupy" else cp.fuse()(program), [cp.from_dlpack(t) for t in arrays]
            call = lambda: program(*device)  # noqa: E731
            stream = cp.cuda.ExternalStream(torch.cuda.current_stream().cuda_stream)
        with stream, torch.no_grad():
            result = call()
            torch.cuda.synchronize()
            return (time.perf_counter() - start) * 1e3, result, *event_clock(torch, call, self.budget)

    def clear(self):
        self.torch._dynamo.reset()
        if "jax_jit" in self.modules:
            self.modules["jax_jit"].clear_caches()
        self.torch.cuda.empty_cache()
        if "cupy" in self.modules:
            self.modules["cupy"].get_default_memory_pool().free_all_blocks()


# ---- the whole


def result_bytes(result):
    results = result if isinstance(result, tuple) else (result,)
    return sum(math.prod(getattr(r, "shape", ())) * getattr(getattr(r, "dtype", None), "itemsize", 8) for r in results)


def chosen(device, w, peers):
    names = w.best if peers == "best" else device.peers if peers == "all" else peers.split(",")
    return [p for p in names if p in device.modules]


def run_all(device, workloads, options):
    for w in workloads:
        names = chosen(device, w, options.peers)
        arrays = device.inputs(w) if names else []
        for peer in names:
            try:
                with time_limit(options.limit):
                    first, result, ms, best = device.run(peer, w, arrays)
                n_bytes = sum(math.prod(shape) * BYTES[dtype] for _, dtype, shape in w.inputs) + result_bytes(result)
                result = None
                if not options.quiet:
                    row = {"workload": w.name, "peer": peer, "ms": round(ms, 5), "best_ms": round(best, 5), "gbs": round(n_bytes / ms / 1e6, 1),
                           "bytes": n_bytes, "first_ms": round(first, 1), "scale": options.scale}
                    print(json.dumps(row), flush=True)
            except Exception as error:  # what a peer cannot do is no fault of the run
                print(f"peers: {w.name}: {peer}: {type(error).__name__}: {str(error).strip().splitlines()[:1]}"[:240], file=sys.stderr, flush=True)
        arrays = None
        device.clear()


def warm(options):
    """Fills the compilers' caches on disk, many processes side by side, so that the run that measures finds them."""
    command = [sys.executable, os.path.abspath(__file__), "--device", "cuda", "--peers", options.peers, "--scale", str(options.scale), "--quiet",
               "--budget", "0", "--warm", "0", "--limit", str(options.limit), "--workloads", options.workloads]
    for text in options.only:
        command += ["--only", text]
    jobs = [subprocess.Popen([*command, "--part", f"{k}/{options.warm}"], stderr=subprocess.DEVNULL) for k in range(options.warm)]
    end = time.monotonic() + WARM_SECONDS
    for job in jobs:
        try:
            job.wait(max(0.0, end - time.monotonic()))
        except subprocess.TimeoutExpired:
            job.kill()
            job.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--peers", default="all")
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--scale", type=int, default=1)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)), help="of the CPU")
    parser.add_argument("--limit", type=float, default=30, help="seconds for one workload of one peer")
    parser.add_argument("--budget", type=float, default=None, help="seconds of timing for each")
    parser.add_argument("--warm", type=int, default=0, help="processes that compile for the GPU side by side first")
    parser.add_argument("--workloads", default=os.path.join(ROOT, "workloads.txt"))
    parser.add_argument("--part", default="0/1", help=argparse.SUPPRESS)
    parser.add_argument("--quiet", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.budget is None:
        options.budget = 0.15 if options.device == "cuda" else 0.7
    # Before any import of a peer. Without these glibc gives large arrays back at once, and each result costs its page faults again; kerfuse keeps its
    # memory too.
    wanted = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(1 << 38), "MALLOC_ARENA_MAX": "1", "NUMBA_NUM_THREADS": str(options.threads),
              "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
    if options.device == "cuda":
        folder = os.environ.get("KRF_BENCH_CACHE") or os.path.join(tempfile.gettempdir(), "kerfuse-peers")
        wanted = {"XLA_PYTHON_CLIENT_PREALLOCATE": "false", "TORCHINDUCTOR_CACHE_DIR": folder + "/torch", "JAX_COMPILATION_CACHE_DIR": folder + "/jax",
                  "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0", "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
                  "TORCHINDUCTOR_COMPILE_THREADS": "1"}
    if any(os.environ.get(name) != value for name, value in wanted.items()):
        os.environ.update(wanted)
        os.execv(sys.executable, [sys.executable, *sys.argv])
    if options.warm > 0 and options.device == "cuda":
        warm(options)
    workloads = [w for w in read_workloads(options.workloads, options.scale) if not options.only or any(text in w.name for text in options.only)]
    part, parts = map(int, options.part.split("/"))
    device = (Gpu if options.device == "cuda" else Cpu)(options)
    if not options.quiet:
        print("# " + ", ".join(f"{name} {version}" for name, version in device.versions().items()), flush=True)
    run_all(device, workloads[part::parts], options)


if __name__ == "__main__":
    main()
