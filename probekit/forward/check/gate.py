"""Which models may be traced: none whose check failed, none of an unknown architecture unchecked."""

from __future__ import annotations

from probekit.errors import FamilyError
from probekit.families import Vlm
from probekit.families.table import GENERIC
from probekit.forward.check.report import Report, last_report


def require_proven(vlm: Vlm) -> Report | None:
    """Refuse a model that broke a contract, and one that no family covers until it was checked.

    Returns:
        The remembered report, if the model was ever checked.

    Raises:
        FamilyError: names the contracts that failed, or the architecture.
    """
    report = last_report(vlm.name, vlm.revision, str(vlm.dtype).removeprefix("torch."))
    hint = f"`probekit check {vlm.name}` shows the differences"
    if report is None and vlm.family is GENERIC:
        raise FamilyError(
            f"no family covers the architecture {vlm.config.model_type!r}, so nothing is known to hold",
            where=vlm.name,
            hint=f"Run `probekit check {vlm.name}` once; if every contract holds, it can be used.",
        )
    if report is not None and (broken := [name for name in report.failed if name not in report.accepted]):
        raise FamilyError(
            f"the model broke {', '.join(broken)} when it was checked",
            where=vlm.name,
            hint=f"{hint}; with --accept NAME it can be used in spite of that contract.",
        )
    return report
