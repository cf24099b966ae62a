"""The libraries whose source trees are mended, and how they come onto this machine."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

# Part of the path: graphmend then takes the package for an installed one, as it would be.
_SITE = "site-packages"


@dataclass(frozen=True, slots=True)
class Library:
    """A library by name, distribution and version; `package` is what is mended and imported.

    `needs` is what importing it takes beside what is installed here, torch excepted: the
    environment has to have that. `remark` says what a reader of the failures should know.
    """

    name: str
    distribution: str
    version: str
    package: str
    needs: tuple[str, ...] = ()
    remark: str = ""


LIBRARIES = (
    Library("transformers-4", "transformers", "4.52.4", "transformers"),
    Library(
        "transformers-5",
        "transformers",
        "5.24.0",
        "transformers",
        needs=("huggingface-hub==2.4.0", "tokenizers==0.23.3", "typer"),
    ),
    Library(
        "diffusers",
        "diffusers",
        "0.42.1",
        "diffusers",
        needs=("huggingface-hub==2.4.0", "transformers==5.24.0", "importlib_metadata", "pillow"),
    ),
    Library(
        "timm",
        "timm",
        "1.0.31",
        "timm",
        remark="imports torchvision, for which there is no build that goes with this torch",
    ),
)


@dataclass(frozen=True, slots=True)
class Tree:
    """A library's source on disk: its site folder, the package in it, what it needs to import."""

    site: Path
    package: Path
    needs: Path

    def copy(self, folder: Path) -> Tree:
        """Another tree of the same files; what is needed to import it is shared."""
        site = folder / _SITE
        shutil.copytree(self.site, site)
        return Tree(site, site / self.package.name, self.needs)


def fetch(library: Library, folder: Path) -> Tree:
    """Install a library, without what it depends on, and its needs into folders of their own."""
    site, needs = folder / _SITE, folder / "needs"
    _install(site, f"{library.distribution}=={library.version}", "--no-deps")
    needs.mkdir()
    if library.needs:
        _install(needs, *library.needs)
    return Tree(site, site / library.package, needs)


def _install(target: Path, *wanted: str) -> None:
    """Install into a folder. What pip says of other folders than that does not matter here."""
    command = [sys.executable, "-m", "pip", "install", "--no-compile", "--target", str(target)]
    done = subprocess.run([*command, *wanted], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"pip cannot install {' '.join(wanted)}: {done.stderr.strip()[-2000:]}")
