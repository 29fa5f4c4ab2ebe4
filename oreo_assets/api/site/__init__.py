"""The review site: pages in a browser, on the same FastAPI app and over the same use cases as the REST API.

To add a page, write a module with a function under `frame.page`, and name the module in `mount._PAGES`:

    @page("/p/{project}/{dataset}/upload", "Upload")
    async def upload(visit: Visit) -> None:
        found = await visit.ask(datasets.show_dataset, visit.ref)
        with section("Choose a file", anchor="file"):
            ...

- `visit` is who looks and what the address names. `await visit.ask(use_case, …)` calls a use case in a thread, as the
  person who is signed in *now*: a token that was revoked, or a role that was taken away, counts at the next click.
- What raises before the function ends becomes a whole page with the error and its status code. What a click raises is
  told beside it: `async with telling(place): …` (notices.py).
- What takes more than some milliseconds is loaded after the page is there: `later(load, show)` (loading.py).
- Text is put into elements with `el(tag, classes, text)` (elements.py), values into grids with grid.py. Both set text;
  nothing of a person's data is ever HTML, an attribute string or a piece of JavaScript.
- `words.py` says numbers, sizes, times and states; `charts.py` draws; `static/site.css` is the design.
"""
