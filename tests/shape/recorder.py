"""A context that records decisions."""

from irshape.shape.dim import Scope
from irshape.shape.guard import Judge, Requirement


class Recorder(Judge):
    def __init__(self, scope: Scope) -> None:
        super().__init__(scope)
        self.decided: list[tuple[str, Requirement]] = []

    def violated(self, requirement: Requirement) -> None:
        self.decided.append(("violated", requirement))

    def never(self, requirement: Requirement) -> None:
        self.decided.append(("never", requirement))

    def undecided(self, requirement: Requirement) -> None:
        self.decided.append(("guard", requirement))

    @property
    def guards(self) -> list[Requirement]:
        return [requirement for verdict, requirement in self.decided if verdict == "guard"]

    @property
    def refused(self) -> list[Requirement]:
        return [requirement for verdict, requirement in self.decided if verdict != "guard"]

    @property
    def story(self) -> list[str]:
        """Each decision as text: `guard S201: H == W`."""
        return [f"{verdict} {requirement.code}: {requirement}" for verdict, requirement in self.decided]
