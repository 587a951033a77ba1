"""Operations on images."""
