# SPDX-License-Identifier: Apache-2.0
"""A hook of MkDocs: the site has README as its first page, and what the pages link to in the repository.

In the repository, the pages link to each other and to files outside of ``docs`` by relative paths. Here each such file
becomes a page or a file of the site, and each link follows. A link to a file that does not exist is a warning, which
``mkdocs build --strict``, as ``make lint`` runs it, takes for an error.
"""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePosixPath

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parent.parent
FIRST = {"README.md": "index.md", "CONTRIBUTING.md": "CONTRIBUTING.md"}
#: Directories that pages link to, and the page that the site has for them.
FIRST_OF = {"docs/reference": "docs/reference/passes.md"}
#: A link whose target is a path. Code has no links.
_CODE_OR_LINK = re.compile(
    r"```.*?```|`[^`\n]*`|\[(?P<label>[^\[\]]*)\]\((?P<path>[\w./-]+)(?P<anchor>#[\w-]*)?\)", re.DOTALL
)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the pages and files outside of ``docs``, and replaces each page by one whose links fit the site."""
    waiting = [*FIRST, *(f"docs/{file.src_uri}" for file in files.documentation_pages())]
    seen = set(waiting)
    while waiting:
        source = waiting.pop()
        linked: set[str] = set()
        text = with_links(source, (ROOT / source).read_text(), linked)
        _put(files, File.generated(config, place(source), content=text))
        for path in sorted(linked - seen):
            seen.add(path)
            if path.endswith(".md"):
                waiting.append(path)
            elif not path.startswith("docs/"):
                _put(files, File.generated(config, place(path), content=(ROOT / path).read_bytes()))
    return files


def place(path: str) -> str:
    """Where the site has the file `path` of the repository."""
    return FIRST.get(path) or (path.removeprefix("docs/") if path.startswith("docs/") else f"repository/{path}")


def with_links(source: str, text: str, linked: set[str]) -> str:
    """The page `text` of the file `source` with links that fit the site; adds to `linked` what it links to."""

    def follow(match: re.Match[str]) -> str:
        if not match["path"]:
            return match[0]
        target = os.path.normpath(PurePosixPath(source).parent / match["path"])
        target = FIRST_OF.get(target, target)
        if (ROOT / target).is_dir():  # the site has no page for it
            return match["label"]
        if not (ROOT / target).is_file():
            return match[0]  # MkDocs says that it is missing
        linked.add(target)
        relative = os.path.relpath(place(target), PurePosixPath(place(source)).parent)
        return f"[{match['label']}]({relative}{match['anchor'] or ''})"

    return _CODE_OR_LINK.sub(follow, text)


def _put(files: Files, file: File) -> None:
    old = files.get_file_from_path(file.src_uri)
    if old is not None:
        files.remove(old)
    files.append(file)
