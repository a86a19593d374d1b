from tests.publish.conftest import outcome, quick_look

__all__ = ["outcome", "quick_look"]  # fixtures
