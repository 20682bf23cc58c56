"""Holds a value against a type of the client: members that must be there, none that is not listed, the right kinds."""

from typing import Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict


def problems(value: Any, kind: Any, place: str = "answer") -> list:
    """What is wrong with a value; nothing where it is what its type says."""
    origin, parts = get_origin(kind), get_args(kind)
    if kind is Any:
        return []
    if is_typeddict(kind):
        return _members(value, kind, place)
    if origin is Union:
        tries = [problems(value, part, place) for part in parts]
        return min(tries, key=len)
    if origin is Literal:
        return [] if value in parts else [f"{place}: {value!r} is none of {parts}"]
    if origin is list:
        if not isinstance(value, list):
            return [f"{place}: no list"]
        return [p for at, item in enumerate(value) for p in problems(item, parts[0], f"{place}[{at}]")]
    if kind is float:
        kind = (int, float)
    if kind is int and isinstance(value, bool) or not isinstance(value, origin or kind):
        return [f"{place}: {type(value).__name__}, where {kind} belongs"]
    return []


def _members(value: Any, kind: Any, place: str) -> list:
    if not isinstance(value, dict):
        return [f"{place}: no object"]
    hints = get_type_hints(kind)
    found = [f"{place}.{name}: missing" for name in sorted(kind.__required_keys__ - value.keys())]
    found += [f"{place}.{name}: not in the type" for name in sorted(value.keys() - hints.keys())]
    for name in value.keys() & hints.keys():
        found += problems(value[name], hints[name], f"{place}.{name}")
    return found
