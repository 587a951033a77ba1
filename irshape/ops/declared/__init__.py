"""Operations that a TOML file declares: its notation, the rules made of it, and the classes made of these."""
