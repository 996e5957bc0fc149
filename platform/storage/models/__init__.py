"""What does the database know of what is kept for jobs?"""

from storage.models.code_snapshot import CodeSnapshot

__all__ = ["CodeSnapshot"]
