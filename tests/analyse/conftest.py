from tests.publication.conftest import analysis, outcome, published, quick_look

__all__ = ["analysis", "outcome", "published", "quick_look"]  # fixtures
