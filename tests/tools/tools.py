"""What the tests of the tools share: running fuserun and fusedump, and a folder for each test. Needs NumPy: status 77
(skipped) without."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy as np
except ImportError:
    print("skipped: this Python has no NumPy")
    sys.exit(77)

SOURCE = os.environ.get("KRF_SOURCE_DIR", os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
BUILD = os.environ.get("KRF_BUILD_DIR", os.path.join(SOURCE, "build", "dev"))
DEVICE = os.environ.get("KRF_TEST_DEVICE", "cpu")


def tool(name, *arguments, env=None, stdout=subprocess.PIPE, timeout=250):
    """Runs a tool; its output as bytes in .stdout, messages as text in .stderr."""
    program = [os.path.join(BUILD, name), *map(str, arguments)]
    done = subprocess.run(program, stdout=stdout, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, timeout=timeout,
                          env={**os.environ, **(env or {})})
    done.stderr = done.stderr.decode()
    return done


class ToolTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="kerfuse-test-")
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def save(self, name, array):
        """Saves NAME.npy and returns the -i argument that binds it."""
        np.save(self.path(name + ".npy"), array)
        return f"{name}={self.path(name)}.npy"

    def fuserun(self, expression, *arguments, outputs=(), env=None, status=0, **arrays):
        """Runs fuserun over arrays; returns the loaded outputs, or the whole result when none is asked for."""
        command = [expression, "--device", DEVICE, *arguments]
        for name, array in arrays.items():
            command += ["-i", self.save(name, array) if isinstance(array, np.ndarray) else f"{name}={array}"]
        for name in outputs:
            command += ["-o", self.path(name)]
        done = tool("fuserun", *command, env=env)
        self.assertEqual(done.returncode, status, done.stderr)
        return [np.load(self.path(name)) for name in outputs] if outputs and status == 0 else done

    def number(self, expression, **arrays):
        """The printed value of an expression of rank 0."""
        return float(self.fuserun(expression, **arrays).stdout)


def main():
    for name in "fuserun", "fusedump":
        if not os.access(os.path.join(BUILD, name), os.X_OK):
            sys.exit(f"{name} is not built in {BUILD}")
    if DEVICE != "cpu" and tool("fuserun", "1", "--device", DEVICE).returncode != 0:
        print(f"skipped: no device {DEVICE}")
        sys.exit(77)
    unittest.main()
