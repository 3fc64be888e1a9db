"""Names of a package that are loaded when first used, so that a command pays only for what it needs."""

from __future__ import annotations

TYPE_CHECKING = False  # as that of typing, which alone takes longer to load than all of this
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any


def loader(package: str, home: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of a package whose names live in the modules that `home` tells.

    >>> loader("assay", {"InputError": "errors"})("InputError").__name__
    'InputError'
    """

    def load(name: str) -> Any:
        from importlib import import_module

        if name not in home:
            there = "" if name.startswith("_") else f"; it has {', '.join(sorted(home))}"
            raise AttributeError(f"module {package!r} has no attribute {name!r}{there}")
        return getattr(import_module(f"{package}.{home[name]}"), name)

    return load
