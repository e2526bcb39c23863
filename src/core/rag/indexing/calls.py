"""Resolves the calls in a file to definitions. An ambiguous call is left unresolved."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from typing import Final, NamedTuple

from core.rag.extraction.symbols import CodeSymbol

#: Names for the object whose method is running, and for its class.
_OWN: Final = frozenset({"self", "this", "$this", "cls", "Self"})
_PARENT: Final = frozenset({"super", "super()", "parent", "base"})
_HERE: Final = frozenset({"crate", "self", "super"})  # Rust: paths that begin in this crate or file
#: Kinds of symbols that a call can name before the name of what it calls.
_SCOPES: Final = frozenset({"class", "struct", "interface", "trait", "enum", "record", "union", "type", "namespace",
                            "module"})  # fmt: skip


class Call(NamedTuple):
    """A call in source code.

    Attributes:
        name: The last part of the called name: ``grind`` for ``self.mill.grind(…)``.
        receiver: What precedes it, as written (``self.mill``), or ``None``.
        scoped: Whether the two are joined by ``::``.
    """

    name: str
    receiver: str | None = None
    scoped: bool = False


class Definitions:
    """The definitions of a file, for resolving calls to them."""

    def __init__(
        self,
        symbols: Sequence[CodeSymbol],
        imports: Sequence[str],
        declared: Collection[int],
        *,
        bare_methods: bool,
    ) -> None:
        """Index the definitions of one file.

        Args:
            symbols: All symbols of the file.
            imports: Names of the modules that the file imports. What is called on these is not defined here.
            declared: The positions of those that are only declared, such as the methods of an interface. A call means
                an implementation, if there is one.
            bare_methods: Whether the language calls methods of the same class without ``this``.
        """
        self._symbols = symbols
        self._declared = declared
        self._bare_methods = bare_methods
        self._imported = {part for name in imports for part in (name, name.replace("::", ".").rsplit(".", 1)[-1])}
        self._scopes = {_last(symbol.name) for symbol in symbols if symbol.kind in _SCOPES}
        self._by_path: dict[str, int] = {}
        self._by_name: dict[str, list[int]] = defaultdict(list)
        for number, symbol in enumerate(symbols):
            if symbol.kind != "constructor":  # a call names its class
                self._by_path.setdefault(symbol.name, number)
                self._by_name[_last(symbol.name)].append(number)

    def meant(self, call: Call, caller: int, own: str) -> int | None:
        """Return the symbol that a call means.

        Args:
            call: The call.
            caller: The symbol that contains it.
            own: The name of the caller's own object, in languages where a method chooses it.

        Returns:
            Its position among the symbols, or ``None``.
        """
        if call.name not in self._by_name:
            return None
        receiver = call.receiver
        if receiver is None or (call.scoped and receiver in _HERE):
            return self._bare(call.name, caller)
        if receiver in _OWN or (own and receiver == own):
            around = self._around(call.name, caller, methods=True)
            return around if around is not None else self._only_method(call.name)
        if receiver in _PARENT:
            return self._only_method(call.name, but=self._class_of(caller))
        scope = _last(receiver.replace("::", "."))
        if scope in self._scopes:
            return _only([n for n in self._by_name[call.name] if _last(self._class_of(n)).split("<")[0] == scope])
        if call.scoped or receiver in self._imported:
            return None
        return self._only_method(call.name)

    def _bare(self, name: str, caller: int) -> int | None:
        around = self._around(name, caller, methods=self._bare_methods, functions=True)
        if around is not None:
            return around
        return _only([n for n in self._by_name[name] if self._is_visible(n)])

    def _around(self, name: str, caller: int, *, methods: bool, functions: bool = False) -> int | None:
        """Return the definition that a name means by scope: the first one from the symbol outwards."""
        for scope in _outwards(self._symbols[caller].name):
            found = self._by_path.get(f"{scope}.{name}" if scope else name)
            if found is not None and (methods if self._is_method(found) else functions):
                return found
        return None

    def _only_method(self, name: str, but: str | None = None) -> int | None:
        methods = [n for n in self._by_name[name] if self._is_method(n) and self._class_of(n) != but]
        return _only([n for n in methods if n not in self._declared] or methods)

    def _is_visible(self, number: int) -> bool:
        """Return whether a bare name may mean a definition from anywhere, which what is local to a function may not."""
        if self._is_method(number):
            return self._bare_methods
        parent = self._by_path.get(self._class_of(number))
        return parent is None or self._symbols[parent].kind in _SCOPES

    def _is_method(self, number: int) -> bool:
        return self._symbols[number].kind == "method"

    def _class_of(self, number: int) -> str:
        return self._symbols[number].name.rpartition(".")[0]


def _outwards(path: str) -> Iterator[str]:
    """Yield a qualified name and everything that contains it, out to the file, whose name is empty."""
    while path:
        yield path
        path = path.rpartition(".")[0]
    yield ""


def _last(path: str) -> str:
    return path.rsplit(".", 1)[-1]


def _only(found: Sequence[int]) -> int | None:
    return found[0] if len(found) == 1 else None
