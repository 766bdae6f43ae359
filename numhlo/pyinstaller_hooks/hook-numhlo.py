"""Keeps numhlo's sources, which kernels are made of, and what it imports when it is needed; PyInstaller runs this."""

import pkgutil

import numhlo

names = [found.name for found in pkgutil.walk_packages(numhlo.__path__, "numhlo.")]
hiddenimports = ["numba", *(name for name in names if not name.startswith("numhlo.pyinstaller_hooks"))]
module_collection_mode = "pyz+py"
