"""Operations on sequences."""
