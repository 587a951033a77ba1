"""Operations that move elements without changing them."""
