"""The metadata store: who, what and in which state. Rows of data are never here."""

from .store import Catalog, Transaction

__all__ = ["Catalog", "Transaction"]
