"""What people and programs see: each form of output is a pure function of the page of a document."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from scorewise.errors import BadInput

# from a page to its text, by the name of the form, which is an option of the command line too;
# imported when asked for
RENDERERS = {
    "text": "scorewise.show.terminal:text",
    "md": "scorewise.show.markdown:markdown",
    "latex": "scorewise.show.latex:latex",
    "html": "scorewise.show.report:html",
}
FULL_FORMS = {"json", "html"}  # forms that show all there is, never only the first screen


def render(doc: Any, form: str) -> str:
    """The page of a document in one of the forms."""
    from scorewise.show.document import page_of

    if form not in RENDERERS:
        raise BadInput(f"no form is named {form}; there are {', '.join(RENDERERS)}")
    module, _, name = RENDERERS[form].partition(":")
    return str(getattr(import_module(module), name)(page_of(doc)))
