"""JAX as the referee of gradients: random graphs that mean the same in the text form and in Python are differentiated by both in f64, and have to agree
to 1e-10 of the gradient's largest element. Reverse mode, forward mode, and gradients of gradients; real and complex variables. JAX comes from PyPI into a
virtual environment in the build folder, so ctest: slow; without a network the test is skipped. KRF_JAX_COUNT: how many graphs (120, less than a minute once JAX is
there; tools/test --all: 1,000).

One process of fuserun evaluates a batch of graphs."""
import os
import random
import subprocess
import sys
import tempfile

BUILD = os.environ.get("KRF_BUILD_DIR", ".")
COUNT = int(os.environ.get("KRF_JAX_COUNT", "120"))
SEED = int(os.environ.get("KRF_JAX_SEED", "20260101"))
BATCH = 20


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def reenter():
    """Goes on under a Python that has JAX."""
    folder = os.path.join(BUILD, "jax-venv")
    python = os.path.join(folder, "bin", "python")
    if not os.path.exists(os.path.join(folder, "ready")):
        for command in [sys.executable, "-m", "venv", folder], [python, "-m", "pip", "install", "-q", "jax[cpu]"]:
            try:
                done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600)
            except (OSError, subprocess.TimeoutExpired) as error:
                skip(f"no virtual environment with JAX: {error}")
            if done.returncode != 0:
                skip(f"no virtual environment with JAX: {done.stdout.decode().strip().splitlines()[-1:]}")
        open(os.path.join(folder, "ready"), "w").close()
    os.execv(python, [python, os.path.abspath(__file__), "inside"])


if sys.argv[1:] != ["inside"]:
    reenter()

os.environ["JAX_PLATFORMS"] = "cpu"
import jax  # noqa: E402

jax.config.update("jax_enable_x64", True)
import jax.numpy as jnp  # noqa: E402
import jax.scipy.special as special  # noqa: E402
import numpy as np  # noqa: E402

# Functions as both know them. {} is any real number; those of bounded domains get a bounded argument.
UNARY = ["sin({})", "cos({})", "tanh({})", "exp(tanh({}))", "expm1(tanh({}))", "log(1.5 + sin({}))", "log1p(square({}))", "sqrt(1 + square({}))", "arctan({})",
         "arcsin(0.9 * tanh({}))", "arccos(0.9 * sin({}))", "sinh(tanh({}))", "cosh(sin({}))", "arcsinh({})", "arccosh(1.5 + square({}))", "arctanh(0.9 * sin({}))",
         "abs({})", "square({})", "reciprocal(2 + sin({}))", "cbrt(2 + sin({}))", "exp2(sin({}))", "log2(2 + sin({}))", "log10(2 + cos({}))", "tan(sin({}))",
         "sigmoid({})", "softplus({})", "silu({})", "relu({})", "gelu({})", "log_sigmoid({})", "erf({})", "erfc(sin({}))", "lgamma(1.5 + square(sin({})))",
         "sinc({})", "logit(0.5 + 0.4 * sin({}))", "rsqrt(1 + square({}))", "negative({})", "deg2rad({})", "rad2deg(sin({}))", "erfinv(0.9 * sin({}))",
         "sin({}) ** 3", "(2 + sin({})) ** -2", "(2 + sin({})) ** 1.7", "2.5 ** sin({})", "floor({}) * {}", "nan_to_num({})", "trunc({}) + {}", "f64({})"]
BINARY = ["{} + {}", "{} - {}", "{} * {}", "{} / (2 + sin({}))", "maximum({}, {})", "minimum({}, {})", "where({} > {}, {}, {})", "hypot(1 + square({}), {})",
          "arctan2({}, 1 + square({}))", "logaddexp({}, {})", "(1.5 + sin({})) ** sin({})", "copysign({}, {})", "fmax({}, {})", "fmin({}, {})", "fmod({}, 2 + sin({}))",
          "{} % (2 + sin({}))", "xlogy({}, 2 + sin({}))", "clip({}, -0.5, 0.7) + {}", "clip({}, sin({}), 2)", "lerp({}, {}, 0.3)"]
# Of shape (3, 4), to be given an array of that shape; the results are (3, 4) again, by broadcasting.
MATRIX = ["{}[::-1]", "{}[:, ::-1]", "{}[1] + {}", "{}[:, 1:2] * {}", "{}.T.reshape(3, 4)", "roll({}, 1, axis=1)", "roll({}, -2, axis=0)", "flip({})",
          "cumsum({}, axis=1)", "cumsum({}, axis=0)", "cumprod({}, axis=1)", "sum({}, axis=0) + {}", "mean({}, axis=1, keepdims=True) * {}", "{} - mean({})",
          "prod({}, axis=0) * {}", "prod({}[:, 1:], axis=1, keepdims=True) + {}", "max({}, axis=1, keepdims=True) - {}", "min({}, axis=0) * {}", "var({}, axis=1, keepdims=True) + {}",
          "std({} * c, axis=0) * {}", "{} / (1 + logsumexp({}, axis=1, keepdims=True) ** 2)", "exp({} - logsumexp({}, axis=1, keepdims=True))",
          "pad({}, ((0, 1), (1, 0)))[1:, :4] + {}", "pad({}, 1, mode='edge')[1:-1, :-2]", "pad({}, 1, mode='reflect')[2:, 1:-1]", "pad({}, 2, mode='wrap')[:3, :4]",
          "concatenate(({}, {}), axis=0)[1:4]", "concatenate(({}, {}), axis=1)[:, 2:6]", "stack(({}, {}), axis=1)[:, 1]", "repeat({}, 2, axis=1)[:, 1:5]",
          "tile({}, (2, 1))[2:5]", "take({}, i, axis=1)", "take({}, i[:3] % 3, axis=0)", "take_along_axis({}, k, axis=1)", "{}[:, i]", "{}[i[:3] % 3, 1:2] + {}",
          "{}.at[1].set({}[0])", "{}.at[:, 1:3].add({}[:, :2])", "{}.at[::2, ::-1].multiply({}[:2])", "diff({}, axis=1)[:, :1] + {}", "triu({})", "tril({}, -1) + {}",
          "broadcast_to({}[0], (3, 4))", "swapaxes({}, 0, 1).reshape(3, 4)", "expand_dims({}, 0)[0]", "trace({}[:, :3]) + {}", "diagonal({}[:, 1:])[:, None] + {}",
          "diagonal({}, 1)[:, None] * {}", "outer({}[:, 0], {}[0])", "cummax({}, axis=1)", "cummin({}, axis=0)", "norm({}) * {}", "vdot({}, {}) * c", "sum({}, axis=(0, 1)) * {}",
          "moveaxis({}[None], 0, 2)[:, :, 0]", "split({}, 2, axis=1)[1][:, :1] + {}", "nansum({}, axis=1)[:, None] + {}", "{}[1, 2] * {}", "ptp({}, axis=0) + {}",
          "sum(sliding_window_view({}, 2, axis=1), axis=-1)[:, :1] * {}", "max(sliding_window_view({}, (2, 3)), axis=(2, 3))[0, 0] + {}"]
COMPLEX = ["sin({})", "cos({})", "exp({})", "tanh({})", "sqrt(2 + {})", "log(3 + {})", "{} * {}", "{} + c * {}", "{} / (3 + {})", "conj({})", "{} ** 2", "sinh({})", "cosh({})",
           "arctan(0.3 * {})", "square({})", "{}[::-1]", "sum({}, axis=0) * {}", "mean({}, axis=1, keepdims=True) + {}", "cumsum({}, axis=1)", "(2 + {}) ** (0.5 * {})",
           "arcsin(0.3 * {})", "arcsinh(0.3 * {})", "arctanh(0.3 * {})", "real({}) * {}", "imag({}) + {}", "abs({}) * {}", "where(real({}) > 0, {}, 2 * {})", "expm1({})", "log1p(0.3 * {})",
           "angle(3 + {}) * {}", "roll({}, 1, axis=0)", "arccos(0.3 * {})", "reciprocal(3 + {})", "real({}) + 1j * sin(imag({}))", "complex(x, sin(z)) * {}", "take({}, i, axis=1)"]


NAMES = {name: getattr(jnp, name) for name in dir(jnp) if not name.startswith("_")}
NAMES |= {"sigmoid": jax.nn.sigmoid, "softplus": jax.nn.softplus, "silu": jax.nn.silu, "relu": jax.nn.relu, "gelu": lambda x: jax.nn.gelu(x, approximate=False),
          "log_sigmoid": jax.nn.log_sigmoid, "erf": special.erf, "erfc": special.erfc, "lgamma": special.gammaln, "logit": special.logit, "rsqrt": jax.lax.rsqrt,
          "erfinv": special.erfinv, "xlogy": special.xlogy, "lerp": lambda x, y, t: x + t * (y - x), "logsumexp": special.logsumexp, "f64": lambda x: x.astype("f8"),
          "cummax": lambda x, axis: jax.lax.cummax(x, axis), "cummin": lambda x, axis: jax.lax.cummin(x, axis), "norm": jnp.linalg.norm,
          "take": lambda x, i, axis: jnp.take(x, i, axis=axis), "complex": jax.lax.complex, "sum": jnp.sum, "max": jnp.max, "min": jnp.min, "abs": jnp.abs,
          "nan_to_num": jnp.nan_to_num}


def windows(x, shape, axis=None):
    shape = (shape,) if isinstance(shape, int) else shape
    axes = range(x.ndim) if axis is None else (axis,)
    for a, w in zip(axes, shape):
        n = x.shape[a] - w + 1
        x = jnp.stack([jax.lax.slice_in_dim(x, k, k + n, axis=a) for k in range(w)], axis=-1)
    return x


NAMES["sliding_window_view"] = windows


def grown(rng, depth, leaves, forms):
    """A random expression. Where a form needs several operands, all but the first may be small."""
    if depth == 0:
        return rng.choice(leaves)
    form = rng.choice(rng.choice(forms))
    parts = form.split("{}")
    text = parts[0]
    for k, part in enumerate(parts[1:]):
        text += "(" + grown(rng, depth - 1 if k == 0 else min(depth - 1, rng.randrange(2)), leaves, forms) + ")" + part
    return text


def inputs(rng):
    def real(*shape):
        return np.array([rng.uniform(-1.5, 1.5) for _ in range(int(np.prod(shape)))]).reshape(shape)

    return {"x": real(3, 4), "y": real(4), "z": real(3, 1), "s": real(), "c": real(3, 4), "t": real(3, 4), "u": real(3, 4) + 1j * real(3, 4), "v": real(4) + 1j * real(4),
            "i": np.array([2, 0, -1, 2]), "k": np.array([[0, 1, 1], [3, -2, 0], [2, 2, 2]])[:, [0, 1, 2, 0]]}


def graph(rng):
    """A program's results as text, and the function that JAX differentiates. m makes anything an array of shape (3, 4)."""
    kind = rng.random()
    if kind < 0.2:
        f = grown(rng, rng.randrange(1, 4), ["u", "u", "u * v", "(v + z)", "u * x"], [COMPLEX])
        if kind < 0.05:
            return [f"jvp({f}, u, cos(u))"], [(f, ["u"], "complex jvp")]
        loss = f"sum(c * real({f}) + sin(c) * imag({f} * (1+0.5j)))"
        return [f"grad({loss}, u, v)"], [(loss, ["u", "v"], "grad")]
    twice = [form for form in UNARY if "lgamma" not in form] if kind < 0.3 else UNARY # its second derivative is no function here
    f = grown(rng, rng.randrange(1, 5), ["(x + 0 * c)", "(x * y)", "(x + z)", "(x - y * z)", "(s * x)", "(c * x)"], [twice, BINARY, MATRIX, MATRIX])
    loss = f"sum(c * ({f}))"
    if kind < 0.3:
        second = f"sum(c * grad({loss}, x))"
        return [f"grad({second}, x, y)"], [(loss, ["x", "y"], "second")]
    if kind < 0.45:
        return [f"jvp({f}, x, t)"], [(f, ["x"], "jvp")]
    return [f"grad({loss}, x, y, z, s)"], [(loss, ["x", "y", "z", "s"], "grad")]


def theirs(case, arrays):
    text, names, mode = case
    code = compile(text, "graph", "eval")

    def f(*values):
        return eval(code, NAMES, {**fixed, **dict(zip(names, values))})  # pylint: disable=eval-used

    fixed = {name: jnp.asarray(array) for name, array in arrays.items()}
    at = [fixed[name] for name in names]
    every = tuple(range(len(names)))
    if mode == "complex jvp":
        return [jax.jvp(f, tuple(at), (jnp.cos(fixed["u"]),))[1]]
    if mode == "jvp":
        return [jax.jvp(f, tuple(at), (fixed["t"],))[1]]
    if mode == "second":
        return jax.grad(lambda *v: jnp.sum(fixed["c"] * jax.grad(f)(*v)), argnums=every)(*at)
    return jax.grad(f, argnums=every)(*at)


def differ(got, want):
    want = np.asarray(want)
    if got.shape != want.shape:
        return f"shape {got.shape}, not {want.shape}"
    scale = max(1e-3, float(np.max(np.abs(want[np.isfinite(want)]), initial=0)))
    same = (np.abs(got - want) <= 1e-10 * scale) | (got == want) | ~np.isfinite(want)
    if np.all(same):
        return None
    first = tuple(np.argwhere(~same)[0])
    return f"at {first}: {got[first]!r}, not {want[first]!r}"


def batch(rng, n):
    arrays = inputs(rng)
    graphs = [graph(rng) for _ in range(n)]
    cases = [case for _, all_cases in graphs for case in all_cases]
    lines, results = [], []
    for g, (texts, ((_, names, mode),)) in enumerate(graphs):
        out = [f"g{g}_{k}" for k in range(1 if "jvp" in mode else len(names))]
        lines.append(f"{', '.join(out)} = {texts[0]}")
        results += out
    text = "\n".join(lines) + "\nreturn " + ", ".join(results)
    faults = 0
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/graphs.krf", "w", encoding="ascii") as file:
            file.write(text)
        command = [os.path.join(BUILD, "fuserun"), f"{folder}/graphs.krf", "--device", "cpu"]
        for name, array in arrays.items():
            np.save(os.path.join(folder, name + ".npy"), array)
            command += ["-i", f"{name}={folder}/{name}.npy"]
        for k in range(len(results)):
            command += ["-o", f"{folder}/{k}.out.npy"]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "KRF_CPU_TIER": "0"})
        if done.returncode != 0:
            print(f"{done.stderr.decode()}\n{text}")
            return n
        k = 0
        for case in cases:
            try:
                wanted = list(theirs(case, arrays))
            except Exception as error:  # pylint: disable=broad-except
                print(f"JAX: {error!r}\n    {case}")
                faults += 1
                k += 1 if "jvp" in case[2] else len(case[1])
                continue
            for name, want in zip(case[1], wanted):
                why = differ(np.load(f"{folder}/{k}.out.npy"), want)
                k += 1
                if why is not None:
                    print(f"{case[2]} of {case[0]} by {name}: {why}")
                    faults += 1
    return faults


def main():
    if not os.access(os.path.join(BUILD, "fuserun"), os.X_OK):
        sys.exit(f"fuserun is not built in {BUILD}")
    rng = random.Random(SEED)
    print(f"seed {SEED}", flush=True)
    faults = 0
    for first in range(0, COUNT, BATCH):
        faults += batch(rng, min(BATCH, COUNT - first))
    print(f"JAX {jax.__version__}: {COUNT} graphs, {faults} differences")
    sys.exit(faults != 0)


main()
