"""NumPy 2 as a second referee: expressions that mean the same in the text form and in Python are evaluated by both over the same arrays, of every
dtype that NumPy has too, special values among them. Where the rules differ on purpose (docs/conventions.md) there is no row, or the row says what to
compare. ctest: slow, for it installs NumPy into a virtual environment in the build folder; without a network it is skipped.

One process of fuserun for each dtype evaluates all its rows."""
import os
import subprocess
import sys
import tempfile

BUILD = os.environ.get("KRF_BUILD_DIR", ".")


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def reenter():
    """Goes on under a Python that has NumPy 2."""
    folder = os.path.join(BUILD, "numpy-venv")
    python = os.path.join(folder, "bin", "python")
    if not os.path.exists(os.path.join(folder, "ready")):
        for command in [sys.executable, "-m", "venv", folder], [python, "-m", "pip", "install", "-q", "numpy>=2"]:
            try:
                done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600)
            except (OSError, subprocess.TimeoutExpired) as error:
                skip(f"no virtual environment with NumPy 2: {error}")
            if done.returncode != 0:
                skip(f"no virtual environment with NumPy 2: {done.stdout.decode().strip().splitlines()[-1:]}")
        open(os.path.join(folder, "ready"), "w").close()
    os.execv(python, [python, os.path.abspath(__file__), "inside"])


if sys.argv[1:] != ["inside"]:
    reenter()

import numpy as np  # noqa: E402

DTYPES = {"bool": "?", "i8": "i1", "i16": "i2", "i32": "i4", "i64": "i8", "u8": "u1", "u16": "u2", "u32": "u4", "u64": "u8",
          "f16": "f2", "f32": "f4", "f64": "f8"}
ROWS, COLUMNS = 24, 35

# How two results are compared. A number: at most so many units in the last place, for functions that neither rounds exactly (the bounds of both
# together). EXACT: the same value, and sign of zero. ZERO: the same value; which zero is left open by the Array API standard, and NumPy. VALUE: as
# ZERO, whatever the dtype. SUM: within a few roundings of the sum of magnitudes in the dtype: the order of additions differs.
EXACT, ZERO, VALUE, SUM = "exact", "zero", "value", "sum"

# x and y: 24 by 35, special values among them. p: the same, finite, between 0.5 and 2 in magnitude (floats), small (integers). v: a row.
# b: bools. i: i64, 0 to 6. s: a shift count that the dtype has.
ANY = [
    (EXACT, "x == y", "x != y", "x < y", "x <= y", "x > y", "x >= y", "isnan(x)", "isinf(x)", "isfinite(x)",
     "logical_and(x, y)", "logical_or(x, y)", "logical_xor(x, y)", "logical_not(x)", "where(b, x, y)", "where(x, y, v)",
     "any(x)", "all(x, axis=0)", "any(x, axis=1, keepdims=True)", "count_nonzero(x)", "count_nonzero(x, axis=0)"),
    (EXACT, "x.T", "x[3]", "x[:, -1]", "x[::-1, 2:30:3]", "x[5:1:-2, None, ...]", "x.reshape(35, 24)", "x.reshape(7, -1)[2]",
     "broadcast_to(v, (2, 35))", "flip(x)", "flip(x, axis=1)", "expand_dims(x, 1)", "x[:, 0:1].squeeze(1)", "transpose(x[None], (2, 0, 1))",
     "moveaxis(x[None], 0, 2)", "swapaxes(x, 0, 1)", "x.ravel()", "roll(x, 5)", "roll(x, (2, -3), (0, 1))", "repeat(x, 2, axis=1)", "tile(x, (2, 1))",
     "concatenate((x, y[::-1]), axis=1)", "stack((x, y), axis=-1)", "diagonal(x, 1)", "take(x, i[0], axis=0)", "pad(x, ((1, 2), (0, 3)), mode='edge')",
     "pad(x, 2, mode='reflect')", "pad(x, 1, mode='wrap')", "split(x, 5, axis=1)[3]", "take_along_axis(x, i, axis=1)"),
    (ZERO, "maximum(x, y)", "minimum(x, y)", "fmax(x, y)", "fmin(x, y)", "max(x)", "min(x)", "max(x, axis=0)", "min(x, axis=1, keepdims=True)",
     "max(x[::-2, 1:], axis=(0, 1))"),
]
NUMBERS = [
    (EXACT, "x + y", "x - v", "x * y", "-x", "abs(p)", "square(x)", "x // p", "p // x[0]", "floor(x)", "ceil(x)", "trunc(x)", "x ** 2",
     "positive(x)", "diff(x, axis=1)", "x.T[:, :, None] + y[0, :3]", "(x + 1) * 2 - 3", "outer(v, p[0])", "argmax(x)", "argmin(x)", "argmax(x, axis=0)",
     "argmin(x, axis=1, keepdims=True)"),
    (ZERO, "x % p", "p % x[0]", "fmod(x, p)", "clip(x, 1, 5)", "ptp(p)", "ptp(p, axis=1)", "nanmax(x, axis=0)", "nanmin(x)", "sign(x)"),
    (SUM, "mean(p)", "mean(p, axis=1)", "var(p)", "std(p, axis=0)", "var(p[::2], axis=1, ddof=1)", "average(p, weights=abs(p))"),
    (VALUE, "histogram(p, 7, (-2, 2))", "histogram(x, bins=5, range=(-1, 50))"),
]
INTEGERS = [
    (EXACT, "x & y", "x | v", "x ^ y", "~x", "x << s", "x >> s", "gcd(x, y)", "p ** q", "sum(x)", "sum(x, axis=0)", "prod(x[:2, :9])", "prod(p, axis=0)", "x // y",
     "x % y", "fmod(x, y)", "sum(x.T, axis=(1,), keepdims=True)", "trace(x)"),
    (EXACT, "take(x, (arange(35) * 3000000000 - 5000000000) // 7 % 35, axis=1)", "where(arange(35) * 200000000 < 3000000000, x, y)", "where(3000000000 >= arange(35) * 200000000, x, y)", "where(arange(35) * 60000000 < 3000000000, x, y)", "take(x, minimum(arange(35), 3000000000), axis=1)",
     "take(x, maximum(arange(35) - 5, 7) % 4, axis=1)", "take(x, minimum(abs(arange(40) - 6), 34), axis=1)", "where(arange(24)[:, None] % 7 >= arange(35)[None, :] // 6, x, y)", "(p[:, :1] // 2 + p[:, 1:2] % p[:, :1]) ^ x", "sum(x ^ (p[:, :1] % 3 * (p[:, :1] // p[:, 1:2])), axis=1)"),
    (VALUE, "bitwise_count(x)", "vdot(i, i)", "round(x)"),
]
WIDE_INTEGERS = [(EXACT, "x / y", "mean(p)", "sqrt(abs(p))", "reciprocal(p / 1)"), (2, "exp(p % 8)", "log(abs(p) + 1)")]
SIGNED = [(EXACT, "abs(x)", "signbit(x / 1)")]
BOOLS = [(EXACT, "x & y", "x | v", "x ^ y", "~x", "sum(x)", "sum(x, axis=0)", "prod(x, axis=1)", "mean(x)", "x + i"),
         (VALUE, "argmax(x, axis=1)", "argmin(x)")]
REALS = [
    (EXACT, "x / y", "x / v", "sqrt(x)", "reciprocal(x)", "round(x)", "copysign(x, y)", "signbit(x)", "nextafter(x, y)", "abs(x)", "nan_to_num(x)", "heaviside(x, v)",
     "2.5 * x - 0.1", "1 / x", "where(x > 0, x, 0.0)", "x + b", "x * 3", "ldexp(x, i32(i))", "x // y"),
    (ZERO, "x % y", "fmod(x, y)"),
    (4, "exp(p)", "expm1(p)", "log(abs(p))", "log1p(abs(p))", "log2(abs(p))", "log10(abs(p))", "exp2(p)", "sin(p)", "cos(p)", "tan(p)", "arcsin(p / 2)",
     "arccos(p / 2)", "arctan(x)", "arctan2(x, y)", "sinh(p)", "cosh(p)", "tanh(x)", "arcsinh(x)", "arccosh(abs(p) + 1)", "arctanh(p / 3)", "cbrt(x)",
     "hypot(x, y)", "abs(p) ** v", "x ** 3", "logaddexp(abs(p), abs(v))", "deg2rad(x)", "rad2deg(p)", "i0(p)", "exp(x)", "log(x)", "sin(x)", "x ** y"),
    (16, "sinc(p / 4)"), # NumPy rounds pi * x first
    (SUM, "sum(p)", "sum(p, axis=0)", "sum(p * p, axis=1, keepdims=True)", "prod(p[:, :6], axis=1)", "nansum(where(b, p, nan))", "nanmean(where(b, p, nan), axis=0)",
     "vdot(p, p)", "inner(v, p[0])", "dot(p[0], v)", "trace(p)"),
    (EXACT, "sum(x, axis=0) * 0", "isclose(x, y)"),
]
CASTS = [(EXACT, *(f"astype(q, {name})" for name in DTYPES))]


def of(dtype):
    kind = np.dtype(DTYPES[dtype]).kind
    rows = ANY + CASTS + (BOOLS if kind == "b" else NUMBERS)
    if kind in "iu":
        rows = rows + INTEGERS + (WIDE_INTEGERS if np.dtype(DTYPES[dtype]).itemsize >= 4 else []) + (SIGNED if kind == "i" else [])
    return rows + (REALS if kind == "f" else [])


def inputs(dtype):
    random = np.random.default_rng(20260101)
    t = np.dtype(DTYPES[dtype])
    shape = (ROWS, COLUMNS)
    x, y, p = (np.empty(shape, t) for _ in range(3))
    if t.kind == "b":
        for a in x, y, p:
            a[...] = random.integers(0, 2, shape)
    elif t.kind in "iu":
        ends = np.iinfo(t)
        for a in x, y:
            a[...] = random.integers(ends.min, ends.max, shape, dtype=t, endpoint=True) >> random.integers(0, ends.bits, shape, dtype=t)
            a.flat[random.integers(0, a.size, 40)] = np.array([0, 1, ends.min, ends.max], t)[random.integers(0, 4, 40)]
        p[...] = random.integers(1, 8, shape) * (random.integers(0, 2, shape) * 2 - 1 if t.kind == "i" else 1)
    else:
        info = np.finfo(t)
        special = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1, -1, info.max, info.tiny, info.smallest_subnormal, -info.smallest_subnormal, 0.5, 2.5, -1.5], t)
        for a in x, y:
            a[...] = random.standard_normal(shape) * 2.0 ** random.integers(-6, 7, shape)
            a.flat[random.integers(0, a.size, 150)] = special[random.integers(0, special.size, 150)]
        p[...] = 2.0 ** random.uniform(-1, 1, shape) * (random.integers(0, 2, shape) * 2 - 1)
    bits = 1 if t.kind == "b" else 8 * t.itemsize
    arrays = {"x": x, "y": y, "p": p, "v": p[0].copy(), "b": random.integers(0, 2, shape).astype(bool), "i": random.integers(0, 7, shape),
              "s": random.integers(0, bits, shape).astype(t) if t.kind in "iu" else p}
    arrays["q"] = np.abs(p).astype(t) if t.kind != "f" else np.abs(p * 31).astype(t) # inside every dtype: elsewhere casts differ
    return arrays


def astype(x, dtype):
    return np.asarray(x).astype(dtype)


NAMES = {**{name: getattr(np, name) for name in dir(np) if not name.startswith("_")}, **{name: np.dtype(code) for name, code in DTYPES.items()},
         "astype": astype, "i32": lambda x: np.asarray(x).astype("i4"), "round": np.rint, "nan": np.nan, "histogram": lambda *a, **k: np.histogram(*a, **k)[0],
         "take": np.take}


def ours_and_theirs(expression, arrays):
    """NumPy's value; i32 as a function and as a dtype have one name."""
    names = dict(NAMES)
    if expression.startswith("astype"):
        names["i32"] = np.dtype("i4")
    with np.errstate(all="ignore"):
        return np.asarray(eval(expression, names, dict(arrays)))  # pylint: disable=eval-used


def fault(how, got, want, expression, arrays):
    """What is wrong, or None."""
    if got.shape != want.shape:
        return f"shape {got.shape}, not {want.shape}"
    if got.dtype != want.dtype and how != VALUE:
        return f"dtype {got.dtype}, not {want.dtype}"
    if how in (EXACT, ZERO, VALUE):
        if got.dtype.kind != "f":
            wrong = got.astype(want.dtype) != want
        else:
            wrong = ~((got == want) | (np.isnan(got) & np.isnan(want)))
            if how == EXACT:
                wrong |= (np.signbit(got) != np.signbit(want)) & ~np.isnan(want)
    else:
        with np.errstate(all="ignore"):
            a, e = got.astype("f8"), want.astype("f8")
            same = (got == want) | (np.isnan(got) & np.isnan(want))
            if how == SUM:
                unit = np.finfo(want.dtype).eps * (64 + 4 * np.abs(e) + np.sum(np.abs(arrays["p"].astype("f8")) ** 2) / 8 * (want.dtype.itemsize < 8))
                wrong = ~same & ~(np.abs(a - e) <= unit)
            else:
                wrong = ~same & ~(np.abs(a - e) <= how * np.abs(np.spacing(want)).astype("f8"))
    if not np.any(wrong):
        return None
    first = tuple(np.argwhere(wrong)[0])
    near = {name: array[first] for name, array in arrays.items() if name in expression and array.shape == want.shape}
    return f"{np.count_nonzero(wrong)} of {want.size} differ, first at {first}: {got[first]!r}, not {want[first]!r}; {near}"


def check(dtype):
    arrays = inputs(dtype)
    rows = [(how, expression) for how, *expressions in of(dtype) for expression in expressions]
    faults = 0
    with tempfile.TemporaryDirectory() as folder:
        command = [os.path.join(BUILD, "fuserun"), "return " + ", ".join(expression for _, expression in rows), "--device", "cpu"]
        for name, array in arrays.items():
            np.save(os.path.join(folder, name + ".npy"), array)
            command += ["-i", f"{name}={folder}/{name}.npy"]
        for k in range(len(rows)):
            command += ["-o", f"{folder}/{k}.out.npy"]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "KRF_CPU_TIER": "0"})
        if done.returncode != 0:
            print(f"{dtype}: {done.stderr.decode()}")
            return len(rows), 1
        for k, (how, expression) in enumerate(rows):
            try:
                why = fault(how, np.load(f"{folder}/{k}.out.npy"), ours_and_theirs(expression, arrays), expression, arrays)
            except Exception as error:  # pylint: disable=broad-except
                why = f"NumPy: {error!r}"
            if why is not None:
                print(f"{dtype}: {expression} ({how}): {why}")
                faults += 1
    return len(rows), faults


def main():
    if not os.access(os.path.join(BUILD, "fuserun"), os.X_OK):
        sys.exit(f"fuserun is not built in {BUILD}")
    rows = faults = 0
    for dtype in DTYPES:
        n, wrong = check(dtype)
        rows, faults = rows + n, faults + wrong
    print(f"NumPy {np.__version__}: {rows} expressions over {len(DTYPES)} dtypes, {faults} differ")
    sys.exit(faults != 0)


main()
