"""Operations that find objects in images."""
