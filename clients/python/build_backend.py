"""Builds the wheel and the source distribution with the standard library, so that a build downloads nothing.

Tools such as pip call its functions; `python3 build_backend.py FOLDER` builds both.
"""

import base64
import hashlib
import io
import re
import sys
import tarfile
import zipfile
from pathlib import Path

HERE = Path(__file__).parent
# Python 3.10 has no reader of TOML.
PROJECT = dict(re.findall(r'^([\w-]+) = \[?"(.*?)"\]?$', (HERE / "pyproject.toml").read_text(), re.MULTILINE))
NAME = f"{PROJECT['name']}-{PROJECT['version']}"
INFO = f"{NAME}.dist-info"
WHEEL = "Wheel-Version: 1.0\nGenerator: accountlink\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


# The license of the repository, of which this folder has a link. A copy of the folder alone has none.
LICENSE = HERE / "LICENSE"


def metadata():
    lines = [
        "Metadata-Version: 2.1",
        f"Name: {PROJECT['name']}",
        f"Version: {PROJECT['version']}",
        f"Summary: {PROJECT['description']}",
        f"License: {PROJECT['license']}",
        f"Requires-Python: {PROJECT['requires-python']}",
        "Classifier: Typing :: Typed",
        "Provides-Extra: async",
        f"Requires-Dist: {PROJECT['async']}; extra == 'async'",
        "Description-Content-Type: text/markdown",
    ]
    return "\n".join(lines) + "\n\n" + (HERE / PROJECT["readme"]).read_text()


def sources():
    return sorted(path for path in (HERE / "accountlink").iterdir() if path.suffix in (".py", ".typed"))


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return write_wheel(wheel_directory, {f"accountlink/{path.name}": path.read_bytes() for path in sources()})


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    return write_wheel(wheel_directory, {"accountlink.pth": f"{HERE}\n".encode()})


def write_wheel(wheel_directory, files):
    if LICENSE.exists():
        files[f"{INFO}/LICENSE"] = LICENSE.read_bytes()
    files[f"{INFO}/METADATA"] = metadata().encode()
    files[f"{INFO}/WHEEL"] = WHEEL.encode()
    record = "".join(f"{name},sha256={hash_of(data)},{len(data)}\n" for name, data in files.items())
    files[f"{INFO}/RECORD"] = f"{record}{INFO}/RECORD,,\n".encode()
    name = f"{NAME}-py3-none-any.whl"
    with zipfile.ZipFile(Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in files.items():
            # A fixed time makes every build of the same sources the same file.
            wheel.writestr(zipfile.ZipInfo(path), data, zipfile.ZIP_DEFLATED)
    return name


def hash_of(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def build_sdist(sdist_directory, config_settings=None):
    name = f"{NAME}.tar.gz"
    others = [HERE / other for other in ("README.md", "build_backend.py", "pyproject.toml")]
    others += [LICENSE] if LICENSE.exists() else []
    information = tarfile.TarInfo(f"{NAME}/PKG-INFO")
    information.size = len(metadata().encode())
    with tarfile.open(Path(sdist_directory) / name, "w:gz", dereference=True) as sdist:
        sdist.addfile(information, io.BytesIO(metadata().encode()))
        for path in [*sources(), *others]:
            sdist.add(path, f"{NAME}/{path.relative_to(HERE)}")
    return name


if __name__ == "__main__":
    Path(sys.argv[1]).mkdir(parents=True, exist_ok=True)
    print(build_wheel(sys.argv[1]), build_sdist(sys.argv[1]), sep="\n")
