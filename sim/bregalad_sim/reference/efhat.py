"""EFHAT. Manapragada, Salehi and Webb, Extremely fast Hoeffding adaptive tree, ICDM 2022."""

from .efdt import ReferenceEFDT
from .hat import Watched


class ReferenceEFHAT(Watched, ReferenceEFDT):
    """Hoeffding anytime tree that is watched as HAT is."""
