"""Operations that order, select and search."""
