"""The code blocks of our pages that carry a name, so that what is printed is what runs.

A comment before a block names it: `<!-- run: NAME -->` is a piece of shell,
`<!-- run: NAME as root -->` one that an administrator types, and
`<!-- file: NAME /path -->` a file that the reader is to write.
"""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = ["README.md", "docs/recipes.md"]
MARK = re.compile(r"<!-- (run|file): (\S+)(?: (as root|/\S+))? -->\n```(\w*)\n(.*?)^```$", re.M | re.S)
ANY_MARK = re.compile(r"^<!-- (?:run|file):", re.M)


@dataclass
class Block:
    page: str
    line: int
    name: str
    text: str
    as_root: bool = False
    path: str | None = None

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"


def of(page: str) -> list[Block]:
    text = (ROOT / page).read_text(encoding="utf-8")
    found = []
    for match in MARK.finditer(text):
        kind, name, more, _, body = match.groups()
        line = text.count("\n", 0, match.start()) + 2
        path = more if kind == "file" else None
        if (kind == "file") != bool(path and path.startswith("/")):
            raise SystemExit(f"{page}:{line}: a file needs a path, and nothing else has one")
        found.append(Block(page, line, name, body, more == "as root", path))
    if len(found) != len(ANY_MARK.findall(text)):
        raise SystemExit(f"{page}: a comment that names a block does not stand right above one")
    return found


def every() -> list[Block]:
    return [block for page in PAGES for block in of(page)]
