#!/usr/bin/env python3
"""The likelihood of two Gaussians over 32M f64 with its four derivatives: kerfuse (bench/gradient.txt) beside JAX's jitted value_and_grad, one after the other.

    bench/gradient.py [--build FOLDER] [--device cuda] [--scale K]"""
import argparse
import os
import subprocess
import time

ROOT = os.path.dirname(os.path.abspath(__file__))


def jax_times(device, n):
    os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
    os.environ.setdefault("JAX_PLATFORMS", "cpu" if device == "cpu" else "cuda")
    import jax
    import jax.numpy as np

    jax.config.update("jax_enable_x64", True)
    x = jax.random.normal(jax.random.key(1), (n,), dtype=np.float64)

    def nll(m1, s1, m2, s2, f, x):
        def gauss(x, mu, s):
            return np.exp(-0.5 * ((x - mu) / s) ** 2) / (s * np.sqrt(2 * np.pi))
        return -np.sum(np.log(f * gauss(x, m1, s1) + (1 - f) * gauss(x, m2, s2)))

    run = jax.jit(jax.value_and_grad(nll, (0, 1, 2, 3)))
    arguments = [np.float64(v) for v in (-1.2, 0.6, 1.4, 1.1, 0.35)] + [x]
    jax.block_until_ready(run(*arguments))
    times = []
    for _ in range(7):
        begin = time.perf_counter()
        for _ in range(10):
            last = run(*arguments)
        jax.block_until_ready(last)
        times.append((time.perf_counter() - begin) / 10 * 1e3)
    return jax.__version__, sorted(times)[3]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--scale", type=int, default=1)
    options = parser.parse_args()
    ours = subprocess.run([os.path.join(options.build, "kerfuse-bench"), "--device", options.device, "--workloads", os.path.join(ROOT, "gradient.txt"), "--math", "precise",
                           "--scale", str(options.scale)], capture_output=True, text=True, check=True).stdout
    print(ours, end="")
    milliseconds = float(ours.splitlines()[-1].split()[2])
    version, theirs = jax_times(options.device, 33554432 // options.scale)
    print(f"JAX {version}, value_and_grad, jitted: {theirs:.4f} ms; JAX / kerfuse {theirs / milliseconds:.2f}")


if __name__ == "__main__":
    main()
