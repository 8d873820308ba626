"""Every kernel as a function: ``kernels.matmul(a, b, transpose_a=True)``.

Arguments are tiles or what becomes one; keyword arguments are the kernel's parameters.
"""

import functools

from ._tessera import Kernel, kernel_aliases, kernel_names, kernel_reference


@functools.cache
def _descriptions():
    found = {alias: f"Short for {call}." for alias, call in kernel_aliases().items()}
    return found | {kernel["name"]: kernel["description"] for kernel in kernel_reference()}


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    if name not in kernel_names() and name not in kernel_aliases():
        raise AttributeError(f"kernel '{name}' not found")

    def function(*tiles, **parameters):
        return Kernel(name, **parameters)(*tiles)

    function.__name__ = name
    function.__doc__ = _descriptions().get(name)
    return function


def __dir__():
    return sorted([*kernel_names(), *kernel_aliases()])
