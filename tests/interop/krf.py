"""As much of kerfuse as the scripts of this folder need, through ctypes: contexts, streams, plans from text, arrays by DLPack."""
import ctypes as c
import os

BUILD = os.environ.get("KRF_BUILD_DIR", os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "build", "release"))

lib = c.CDLL(os.path.join(BUILD, "libkerfuse.so"))
lib.krf_error_message.restype = c.c_char_p
for name in "krf_graph_create", "krf_context_stream", "krf_stream_handle", "krf_array_data":
    getattr(lib, name).restype = c.c_void_p
    getattr(lib, name).argtypes = [c.c_void_p]
for name in "krf_graph_destroy", "krf_context_destroy", "krf_stream_destroy", "krf_plan_release", "krf_array_release":
    getattr(lib, name).restype = None
    getattr(lib, name).argtypes = [c.c_void_p]

python = c.pythonapi
python.PyCapsule_GetName.restype, python.PyCapsule_GetName.argtypes = c.c_char_p, [c.py_object]
python.PyCapsule_GetPointer.restype, python.PyCapsule_GetPointer.argtypes = c.c_void_p, [c.py_object, c.c_char_p]
python.PyCapsule_SetName.argtypes = [c.py_object, c.c_char_p]
python.PyCapsule_New.restype, python.PyCapsule_New.argtypes = c.py_object, [c.c_void_p, c.c_char_p, c.c_void_p]

OLD, NEW = b"dltensor", b"dltensor_versioned"
USED = {OLD: b"used_dltensor", NEW: b"used_dltensor_versioned"}  # static: capsules keep the pointer


class Expr(c.Structure):
    _fields_ = [("graph", c.c_void_p), ("id", c.c_uint32)]


class Binding(c.Structure):
    _fields_ = [("name", c.c_char_p), ("kind", c.c_int), ("array", c.c_void_p), ("i", c.c_int64), ("f", c.c_double), ("expr", Expr), ("imaginary", c.c_double)]


lib.krf_bind_array.restype, lib.krf_bind_array.argtypes = Binding, [c.c_char_p, c.c_void_p]


def call(name, *arguments):
    status = getattr(lib, name)(*arguments)
    if status != 0:
        raise RuntimeError(f"{name}: {status}: {lib.krf_error_message().decode()}")


class Array:
    """Owns one reference."""

    def __init__(self, context, handle):
        self.context, self.handle = context, handle

    def __del__(self):
        lib.krf_array_release(self.handle)

    def pointer(self):
        return lib.krf_array_data(self.handle)


class Exporter:
    """What from_dlpack of other libraries takes. drop: the consumer's stream is not told to wait."""

    def __init__(self, array, drop=False):
        self.array, self.drop, self.streams = array, drop, []

    def __dlpack_device__(self):
        return (2, 0) if self.array.context.cuda else (1, 0)

    def __dlpack__(self, stream=None, max_version=None, **_):
        self.streams.append(stream)
        versioned = max_version is not None and max_version[0] >= 1
        if not self.array.context.cuda or stream == -1 or self.drop:
            handle = None
        else:
            handle = 1 if stream is None else int(stream)  # the standard: None is the legacy default stream
        tensor = c.c_void_p()
        call("krf_array_to_dlpack" + ("" if versioned else "_legacy"), c.c_void_p(self.array.handle), c.c_void_p(handle), c.byref(tensor))
        return python.PyCapsule_New(tensor, NEW if versioned else OLD, None)


class Stream:
    def __init__(self, context):
        self.made = c.c_void_p()
        call("krf_stream_create", context.handle, None, c.byref(self.made))
        self.handle = lib.krf_stream_handle(self.made)

    def __del__(self):
        lib.krf_stream_destroy(self.made)


class Context:
    def __init__(self, device):
        os.environ["KRF_BLOCKING_COMPILE"] = "1"
        self.handle, self.cuda = c.c_void_p(), device == "cuda"
        if not self.cuda:
            os.environ["CUDA_VISIBLE_DEVICES"] = ""  # the default device is the CPU then
        call("krf_context_create", None, c.byref(self.handle))

    def close(self):
        lib.krf_context_destroy(self.handle)

    def own_stream(self):
        return lib.krf_context_stream(self.handle)

    def take(self, x, stream=None, drop=False):
        """An array over the memory of another library's, ready in the order of a stream (None: the context's own). drop: the producer is not told which."""
        handle = stream if stream is not None else self.own_stream()
        told = None if not self.cuda else -1 if drop else handle
        try:
            capsule = x.__dlpack__(stream=told, max_version=(1, 0))
        except TypeError:
            capsule = x.__dlpack__(stream=told) if self.cuda else x.__dlpack__()
        name = python.PyCapsule_GetName(capsule)
        tensor, array = python.PyCapsule_GetPointer(capsule, name), c.c_void_p()
        call("krf_array_from_dlpack" + ("" if name == NEW else "_legacy"), self.handle, c.c_void_p(tensor), c.c_void_p(handle), c.byref(array))
        python.PyCapsule_SetName(capsule, USED[name])
        return Array(self, array.value)

    def plan(self, text):
        graph, expr, plan = c.c_void_p(lib.krf_graph_create(self.handle)), Expr(), c.c_void_p()
        call("krf_parse", graph, text.encode(), None, 0, c.byref(expr))
        call("krf_compile", graph, 1, c.byref(expr), None, c.byref(plan))
        lib.krf_graph_destroy(graph)
        return plan

    def run(self, plan, x, out=None, stream=None):
        """A plan of one placeholder and one output."""
        binding = lib.krf_bind_array(None, x.handle)
        result = c.c_void_p(out.handle if out is not None else None)
        call("krf_plan_run", plan, c.c_void_p(stream), 1, c.byref(binding), c.byref(result))
        return out if out is not None else Array(self, result.value)
