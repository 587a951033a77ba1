"""What `irshape` gives to programs: the verbs, and the objects that they return."""
