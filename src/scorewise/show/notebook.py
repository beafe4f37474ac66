"""A report within a notebook: a page of its own, or a widget that shares its threshold with Python."""

from __future__ import annotations

from typing import Any

from scorewise.errors import BadInput
from scorewise.show.document import page_of, to_dict
from scorewise.show.html import asset, main, style
from scorewise.show.report import payload, report_parts


class Frame:
    """A whole HTML page that a notebook shows in a frame, apart from its own."""

    def __init__(self, page: str, height: int = 600) -> None:
        self.page, self.height = page, height

    def _repr_html_(self) -> str:
        import html

        return (
            f'<iframe title="scorewise report" width="100%" height="{int(self.height)}" frameborder="0" '
            f'sandbox="allow-scripts allow-downloads" srcdoc="{html.escape(self.page)}"></iframe>'
        )

    def __repr__(self) -> str:
        return f"<scorewise report, {len(self.page.encode()):,} bytes>"


def widget(doc: Any) -> Any:
    """The report of a document as a widget; its `threshold` follows the page, and the page follows it."""
    try:
        import anywidget
        import traitlets
    except ImportError:
        raise BadInput("the widget needs anywidget: pip install 'scorewise[widget]'") from None

    class Report(anywidget.AnyWidget):
        """The sections of a report, brought to life by the script that its file has."""

        _esm = asset("widget.js")
        _css = f".sw-widget {{ {style()} }}"  # nothing of the notebook around it is styled
        html = traitlets.Unicode().tag(sync=True)
        payload = traitlets.Dict().tag(sync=True)
        threshold = traitlets.Float(None, allow_none=True).tag(sync=True)

    page, moving = page_of(doc), to_dict(payload(doc))
    sections = main(page, report_parts(page))
    return Report(
        html=f'<div class="sw-widget"><div class="sw-page">{sections}</div></div>',
        payload=moving,
        threshold=moving.get("threshold"),
    )
