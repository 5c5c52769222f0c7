#!/usr/bin/env python3
"""Writes cases.def: what NumPy gives for expressions that move elements. Needs NumPy; tests only read the file."""
import sys

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

X = np.arange(24).reshape(2, 3, 4) + 1  # the inputs of test_movement.c
V = np.arange(5) + 1
M = np.arange(12).reshape(3, 4) + 1
Z = np.zeros((0, 3), int)
S = np.array(7)
I = np.array([[2, -1, 0], [1, 1, -3]])
J = np.array([0, 3, -2])


def set_at(x, where, value):
    x = x.copy()
    x[where] = value
    return x


def clamped(x, index, axis):
    """What NumPy refuses, by the rule of movement.h."""
    n = x.shape[axis]
    return np.take(x, np.clip(np.where(index < 0, index + n, index), 0, n - 1), axis)


def cases():
    e = dict(vars(np), i64=np.int64, x=X, v=V, m=M, z=Z, s=S, i=I, j=J, sliding_window_view=sliding_window_view, set_at=set_at, clamped=clamped)
    same = [  # expressions that are NumPy's own
        "take({a}, i, axis={k})", "roll({a}, 1, axis={k})", "roll({a}, -5, axis={k})", "repeat({a}, 2, axis={k})", "repeat({a}, 0, axis={k})",
        "diff({a}, axis={k})", "diff({a}, n=2, axis={k})", "flip({a}, axis={k})", "concatenate(({a}, {a}), axis={k})",
        "stack(({a}, {a}), axis={k})", "sliding_window_view({a}, 2, axis={k})", "moveaxis({a}, {k}, 0)",
    ]
    for text in same:
        for name, axes in (("x", (0, 1, 2, -1)), ("m", (0, -1)), ("v", (0,))):
            for k in axes:
                line = text.format(a=name, k=k)
                if "take" in line and name == "x" and k == 0:
                    line = "take(x, j % 2, axis=0)"
                yield line, eval(line, e)
    for line in [
        "take(x, i)", "take(v, i[0])", "take(m, j, axis=1)", "take(m.T, j, axis=0)", "take(x[:, ::-1], i, axis=1)", "take(z, j, axis=1)",
        "take(z, j[:0], axis=0)", "take(x, 1, axis=1)", "take(v, 3)", "take(m + m, j, axis=-1)", "take(take(x, i, axis=1), j, axis=3)",
        "take_along_axis(m, j[:, None] * 0 + j, axis=1)", "take_along_axis(x, i[:, :, None] % 3, axis=1)", "roll(x, 3)", "roll(v, 12)",
        "roll(x, (1, 2), axis=(0, 2))", "roll(x, (1, 2), axis=(1, 1))", "roll(x, 1, axis=(0, 1))", "roll(z, 1, axis=0)", "roll(s, 2)",
        "repeat(x, 2)", "repeat(s, 3)", "repeat(z, 2, axis=1)", "tile(x, 2)", "tile(x, (2, 1, 3))", "tile(v, (2, 2))", "tile(s, (2, 3))", "tile(x, 0)",
        "tile(m[:1], (3, 1))", "pad(x, 1)", "pad(x, ((1, 0), (0, 2), (1, 1)))", "pad(v, (2, 3), constant_values=9)", "pad(z, 1, constant_values=4)",
        "pad(v, (2, 3), 'edge')", "pad(v, (4, 4), 'reflect')", "pad(v, (4, 1), 'wrap')", "pad(v, 12, 'wrap')", "pad(m, ((1, 2), (3, 0)), 'edge')",
        "pad(m, ((1, 2), (3, 1)), 'reflect')", "pad(m, ((2, 2), (3, 1)), 'wrap')", "pad(x, 0)", "pad(x * 2, 1, 'edge')",
        "concatenate((v, v[:0], v[1:3]))", "concatenate((m, x[0], x[1]), axis=0)", "concatenate((x, m[:2, :3].reshape(2, 3, 1)), axis=-1)",
        "concatenate((m, v), axis=None)", "concatenate((z, z), axis=0)", "concatenate((v,))", "stack((v, v * 2, v + 1), axis=1)", "stack((s, s))",
        "split(x, 2, axis=2)[1]", "split(m, 3)[0]", "diagonal(m)", "diagonal(m, 1)", "diagonal(m, -2)", "diagonal(m, 4)", "diagonal(m, -9)",
        "diagonal(x, 0, 2, 1)", "diagonal(x, -1, axis1=1, axis2=2)", "trace(m)", "trace(x)", "trace(m, 2)", "trace(x, 1, 1, 2)",
        "sliding_window_view(m, (2, 3))", "sliding_window_view(x, (2, 2), axis=(1, 2))", "sliding_window_view(v, (2, 2), axis=(0, 0))",
        "sliding_window_view(v, 5)", "swapaxes(x, 0, -1)", "moveaxis(x, (0, 1), (-1, 0))", "ravel(x)", "ravel(x.T)", "ravel(s)", "atleast_1d(s)",
        "vstack((v, v * 2))", "vstack((m, m[0]))", "vstack((x, x[:1]))", "hstack((v, v[:2]))", "hstack((s, v))", "hstack((m, m[:, :1]))", "hstack((x, x[:, 1:]))",
        "dstack((v, v))", "dstack((m, m + 1))", "dstack((x, x[:, :, :1]))", "column_stack((v, v + 1))", "column_stack((v, stack((v, v), axis=1)))", "column_stack((s, s))",
        "atleast_2d(s)", "atleast_3d(s)", "atleast_2d(v)", "atleast_3d(v)", "atleast_3d(m)", "indices((2, 3))", "indices((4,))", "diff(x)",
        "diff(v, 0)", "diff(v[:1])", "diff(z, axis=0)", "x[:, i]", "x[:, :, j]", "x[i % 2]", "x[i % 2, i]", "x[i % 2, :, i]", "x[:, i, j]", "x[:, j % 3, None, j]",
        "x[0, :, j]", "x[:, 1, j]", "x[..., j]", "x[None, j % 2]", "x[i % 2, ..., j]", "x[1:, i, ::2]", "x[j % 2, 1]", "m[j % 3, j]", "m[2 * (j % 2)]", "v[i]",
    ]:
        yield line, eval(line, e)
    yield "take(v, i * 9)", clamped(V, I * 9, 0)
    yield "take(m, j * 2, axis=1)", clamped(M, J * 2, 1)
    yield "v[i64(i) * 100]", clamped(V, I * 100, 0)
    yield "m[i64(i) * 50, i64(i) * 50]", M.ravel()[clamped(np.arange(3), I * 50, 0) * 4 + clamped(np.arange(4), I * 50, 0)]
    yield "take(v, arange(10) - 9)", clamped(V, np.arange(10) - 9, 0)
    yield "take(v, arange(9))", clamped(V, np.arange(9), 0)
    yield "x.at[1].set(0)", set_at(X, 1, 0)
    yield "x.at[:, 1:3, ::2].set(m[:2, :2])", set_at(X, np.s_[:, 1:3, ::2], M[:2, :2])
    yield "x.at[::-1, -2:, 3:0:-2].set(m[:2, :2])", set_at(X, np.s_[::-1, -2:, 3:0:-2], M[:2, :2])
    yield "v.at[1:4].add(10)", set_at(V, np.s_[1:4], V[1:4] + 10)
    yield "v.at[::2].multiply(v[:3])", set_at(V, np.s_[::2], V[::2] * V[:3])
    yield "v.at[-1].max(99)", set_at(V, -1, 99)
    yield "v.at[-2:].min(2)", set_at(V, np.s_[-2:], 2)
    yield "v.at[3:1].set(8)", V
    yield "m.at[...].set(v[:4])", np.broadcast_to(V[:4], (3, 4))
    yield "sum(sliding_window_view(v, 3) * v[:3], axis=-1)", (sliding_window_view(V, 3) * V[:3]).sum(-1)
    yield "sum(sliding_window_view(pad(m, 1), (3, 3)), axis=(2, 3))", sliding_window_view(np.pad(M, 1), (3, 3)).sum((2, 3))
    yield "sum(roll(m, 1, axis=1) * m, axis=0)", (np.roll(M, 1, 1) * M).sum(0)
    yield "sum(take(x, j, axis=2), axis=(0, 2))", np.take(X, J, 2).sum((0, 2))
    yield "take(sum(x, axis=0), j, axis=1) + 1", np.take(X.sum(0), J, 1) + 1
    yield "cumsum(roll(m, 1, axis=1), axis=1) * roll(m, 2, axis=0)", np.cumsum(np.roll(M, 1, 1), 1) * np.roll(M, 2, 0)
    yield "take(cumsum(v), v64 - 1)".replace("v64", "i64(v)"), np.cumsum(V)
    yield "take(v, argmax(m, axis=1))", V[M.argmax(1)]
    yield "take_along_axis(m, argmax(m, axis=1, keepdims=True), axis=1)", M.max(1, keepdims=True)


print("/* Made by make_cases.py with NumPy %s: CASE(program, rank, shape, values). */" % np.__version__)
for text, y in cases():
    y = np.asarray(y)
    shape = ", ".join(map(str, y.shape)) or "0"
    values = ", ".join(map(str, y.ravel())) or "0"
    out = 'CASE("%s", %d, LIST(%s), LIST(%s))' % (text, y.ndim, shape, values)
    print(out)
