"""Builds the package with Python's own library, so that building it fetches nothing (PEP 517).

It knows this one package: its name, version and description come from pyproject.toml, its files are listed below. The
same files give the same bytes.
"""

import base64
import gzip
import hashlib
import io
import re
import tarfile
import zipfile
from pathlib import Path

_ROOT = Path(__file__).parent
_PACKAGE = "vigia_client"
_BESIDE = ("LICENSE", "README.md", "build_backend.py", "pyproject.toml")


def _setting(name):
    found = re.search(rf'^{name} = "(.*)"$', (_ROOT / "pyproject.toml").read_text("utf-8"), re.MULTILINE)
    return found.group(1)


def _named():
    return f"{_PACKAGE}-{_setting('version')}"


def _metadata():
    lines = [
        "Metadata-Version: 2.4",
        f"Name: {_setting('name')}",
        f"Version: {_setting('version')}",
        f"Summary: {_setting('description')}",
        f"Requires-Python: {_setting('requires-python')}",
        f"License-Expression: {_setting('license')}",
        "License-File: LICENSE",
        f"Project-URL: Source, {_setting('Source')}",
        "Description-Content-Type: text/markdown",
    ]
    return "\n".join(lines) + "\n\n" + (_ROOT / "README.md").read_text("utf-8")


def _sources():
    """The files of the package, by their name inside it."""
    folder = _ROOT / "src" / _PACKAGE
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.suffix in (".py", ".typed")}


def build_sdist(sdist_directory, config_settings=None):
    files = {name: (_ROOT / name).read_bytes() for name in _BESIDE}
    files.update({f"src/{_PACKAGE}/{name}": content for name, content in _sources().items()})
    files["PKG-INFO"] = _metadata().encode("utf-8")
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, content in sorted(files.items()):
            entry = tarfile.TarInfo(f"{_named()}/{name}")
            entry.size, entry.mode = len(content), 0o644
            archive.addfile(entry, io.BytesIO(content))
    name = f"{_named()}.tar.gz"
    (Path(sdist_directory) / name).write_bytes(gzip.compress(packed.getvalue(), mtime=0))
    return name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    about = f"{_named()}.dist-info"
    files = {f"{_PACKAGE}/{name}": content for name, content in _sources().items()}
    files[f"{about}/METADATA"] = _metadata().encode("utf-8")
    files[f"{about}/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: vigia\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    files[f"{about}/licenses/LICENSE"] = (_ROOT / "LICENSE").read_bytes()
    files[f"{about}/RECORD"] = _record(files, about)
    name = f"{_named()}-py3-none-any.whl"
    with zipfile.ZipFile(Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in files.items():
            entry = zipfile.ZipInfo(path)  # of 1980, on every machine
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            archive.writestr(entry, content)
    return name


def _record(files, about):
    lines = []
    for name, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(content)}\n")
    return "".join(lines + [f"{about}/RECORD,,\n"]).encode("utf-8")
