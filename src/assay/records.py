"""Frozen dataclasses that are made quickly: a command makes some forty before it does anything.

The standard library writes and compiles six functions for each frozen dataclass, which took a quarter of the start of a
small list. Here one is left, `__init__`; the others are the same for all classes.
"""

from __future__ import annotations

from assay.lazy import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:
    import dataclasses
    from reprlib import recursive_repr

    def dataclass(cls=None, /, *, frozen=False, eq=True, repr=True, kw_only=False):
        """`dataclasses.dataclass`: fields, `replace`, `==`, `hash`, pickles and errors as there; frozen ones are quick.

        >>> @dataclass(frozen=True)
        ... class Pair:
        ...     first: int
        ...     second: int = 2
        >>> Pair(1), Pair(1) == Pair(1, 2), hash(Pair(1)) == hash(Pair(1)), dataclasses.replace(Pair(1), second=3)
        (Pair(first=1, second=2), True, True, Pair(first=1, second=3))
        >>> Pair(1).first = 2
        Traceback (most recent call last):
        dataclasses.FrozenInstanceError: cannot assign to field 'first'
        """
        if not frozen:
            return dataclasses.dataclass(cls, eq=eq, repr=repr, kw_only=kw_only)
        shared = {"__setattr__": _set_once, "__delattr__": _keep}
        shared |= {"__repr__": _shown} if repr else {}
        shared |= {"__eq__": _equal, "__hash__": _hash} if eq else {}

        def make(cls):
            for name, function in shared.items():
                if name not in vars(cls):
                    setattr(cls, name, function)
            told = [vars(base).get("__dataclass_params__") for base in cls.__mro__]
            above = [each for each in told if each is not None and each.frozen]
            for each in above:  # all are of one kind to the standard library, which makes `__init__`
                each.frozen = False
            made = dataclasses.dataclass(eq=False, repr=False, kw_only=kw_only)(cls)
            for each in (*above, made.__dataclass_params__):  # frozen ones of its own may be made of these
                each.frozen = True
            return made

        return make

    def _set_once(self, name, value):
        """What `__init__` sets stays."""
        if name in self.__dict__ or name not in self.__dataclass_fields__:
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
        self.__dict__[name] = value

    def _keep(self, name):
        raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")

    @recursive_repr()
    def _shown(self):
        told = (f"{field.name}={getattr(self, field.name)!r}" for field in dataclasses.fields(self) if field.repr)
        return f"{type(self).__qualname__}({', '.join(told)})"

    def _compared(self):
        return tuple(getattr(self, field.name) for field in dataclasses.fields(self) if field.compare)

    def _equal(self, other):
        return _compared(self) == _compared(other) if other.__class__ is self.__class__ else NotImplemented

    def _hash(self):
        return hash(_compared(self))
