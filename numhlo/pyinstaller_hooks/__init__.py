"""Hooks of PyInstaller, which freezes applications: `places` says where they are."""
