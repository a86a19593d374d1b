from tests.publication.conftest import analysis, copy, outcome, published, quick_look

__all__ = ["analysis", "copy", "outcome", "published", "quick_look"]
