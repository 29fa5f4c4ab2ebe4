"""HTML elements by their own names. Text and attributes are set as values, never parsed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from nicegui.element import Element
from nicegui.elements.mixins.text_element import TextElement


class Html(TextElement):
    """One HTML element; a context for its children."""


def el(tag: str, classes: str = "", text: object = None, **attributes: Any) -> Html:
    """An element of a class with a text. An attribute is written `aria_label="…"`, and left out where it is None."""
    made = Html(tag=tag, text="" if text is None else str(text))
    if text is None:
        made._text = None
    if classes:
        made.classes(classes)
    for name, value in attributes.items():
        if value is not None and value is not False:
            made.props[name.rstrip("_").replace("_", "-")] = "" if value is True else value
    return made


def button(text: str, on_click: Callable[..., Any] | None = None, classes: str = "", **attributes: Any) -> Html:
    made = el("button", f"o-button {classes}".strip(), text, type="button", **attributes)
    if on_click is not None:
        made.on("click", on_click, args=[])
    return made


def link(text: object, to: str, classes: str = "", **attributes: Any) -> Html:
    return el("a", classes, text, href=to, **attributes)


def set_disabled(element: Element, disabled: bool) -> None:
    element.props.set_bool("disabled", disabled)


@contextmanager
def section(title: str, *, anchor: str, flush: bool = False, note: str = "") -> Iterator[Html]:
    """A titled block of a page, that a link can point to."""
    with el("section", "o-card", id=anchor, aria_labelledby=f"{anchor}-title"):
        with el("div", "o-title"):
            el("h2", "", title, id=f"{anchor}-title")
            if note:
                el("span", "soft small", note)
        with el("div", "o-body flush" if flush else "o-body") as body:
            yield body


@contextmanager
def facts() -> Iterator[None]:
    with el("dl", "o-facts"):
        yield


@contextmanager
def fact(name: str) -> Iterator[None]:
    """One name and, inside, what it is."""
    with el("div"):
        el("dt", "", name)
        with el("dd"):
            yield


@contextmanager
def table(*heads: str, caption: str, right: tuple[str, ...] = (), cards: bool = False) -> Iterator[Html]:
    """A plain table; rows are put into its body. On a narrow screen it scrolls, or its rows become cards."""
    classes = "o-table cards" if cards else "o-table"
    with el("div", "o-scroll", tabindex="0", role="region", aria_label=caption), el("table", classes):
        el("caption", "visually-hidden", caption)
        with el("thead"), el("tr"):
            for head in heads:
                el("th", "right" if head in right else "", head, scope="col")
        with el("tbody") as body:
            yield body
