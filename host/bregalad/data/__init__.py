"""Data in: files and generators to chunks of instances, those to the board's codes."""

import lazy_loader

# A saved tree is read without what reads and writes files of data, which take long to import.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
