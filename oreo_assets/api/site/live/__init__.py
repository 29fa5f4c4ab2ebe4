"""Live editing: where a session begins, and the grid in which cells are changed.

The grid talks to the API itself (`static/live.js`): an edit is one request with its own key, kept in the browser
until it was answered, so that a server that dies in between loses nothing. What stands around the grid is drawn here.
"""

from . import begin, editing  # noqa: F401 - they are pages
