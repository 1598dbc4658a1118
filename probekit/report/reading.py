"""How to read a page: short definitions, the same form on every page."""

from __future__ import annotations

from collections.abc import Mapping

from probekit.report.markup import join, tag
from probekit.report.page import Section

TITLE = "How to read this page"


def reading(words: str, terms: Mapping[str, str]) -> Section:
    """A section of one paragraph and a list of terms with their meanings."""
    entries = (tag("div", tag("dt", term), tag("dd", meaning)) for term, meaning in terms.items())
    return Section(TITLE, join(tag("p", words), tag("dl", *entries, class_="facts")))


TRI_LAYER = reading(
    "Each question is asked with its picture, with a black one, with noise, and with another real picture. "
    "What the model would say to each, and how likely refusals are, gives three scores, and these a "
    "diagnosis.",
    {
        "LAD": "Latent anomaly detection, nats a token: how much likelier refusals (the anchors) become "
        "when the picture is replaced. High: the model notices.",
        "VNS": "Visual necessity score, nats: mean divergence between the model's distributions with the "
        "picture and with the replaced one, over the positions of the answer that move most. High: the "
        "answer needs it.",
        "CS": "Competition score, nats a token: log-probability of the answer to the replaced picture minus "
        "that of the likeliest refusal. Above 0 the answer wins although there is nothing to see.",
        "P.B.": "Perceptual blindness: LAD at or below its threshold; the replaced picture is not noticed.",
        "L.SC": "Language shortcut: noticed, but VNS is at or below its threshold; the answer did not need "
        "it.",
        "V.S.": "Visual sycophancy: noticed and needed, and yet answered (CS above its threshold).",
        "R.R.": "Robust refusal: noticed and needed, and a refusal wins.",
        "confidence": "LAD for P.B., VNS for L.SC, LAD + VNS otherwise; high means sure. AURC and AUGRC are "
        "areas of errors over coverage: less is better; e-AURC is AURC above the least that so many errors "
        "allow.",
        "n, pictures": "n counts samples, and pairs once; intervals resample pictures, whose number stands "
        "beside.",
    },
)
POPE = reading(
    "A model answers yes or no to questions about objects. A readout is a way to turn what it computed into "
    "yes, no or unknown; the same answers are scored under each. Yes is the positive class.",
    {
        "coverage": "Share of answers whose first word the readout looks at; below 0.99 it is refused.",
        "phi": "Among questions with label yes that the first readout takes for no: share that the second "
        "takes for yes.",
        "rho_N": "Among questions with label no that the first readout takes for no: share that the second "
        "takes for yes. With phi it gives the second F1 in closed form, where no yes becomes a no.",
        "F1, precision, recall, accuracy, yes-ratio, unknown": "Shares between 0 and 1; an unknown answer is "
        "wrong.",
        "TP, FP, TN, FN": "Yes where the label is yes, yes where it is no, no where it is no, no where it "
        "is yes.",
        "d, AUC": "Difference of two groups in standard deviations, and share of pairs in which the first "
        "group has more; 0 and 0.5 are no difference.",
        "p": "Of Welch's and of the Mann-Whitney test, two-sided; both take questions for independent, "
        "although several share a picture. The intervals of d and AUC do not.",
    },
)
DEFLECTION = reading(
    "The same question is asked with evidence in four states. A good model answers where the evidence holds "
    "the answer and declines where it does not.",
    {
        "correct, declined, hallucinated": "The verdict on an answer: it states the right one; it says that "
        "it cannot answer; anything else. The three shares sum to 100 %.",
        "of attempts": "Hallucinated among the answers that are not declined.",
        "reliability gap": "Declined under adversarial evidence minus declined under oracle evidence; 100 "
        "is best.",
        "confidence": "What a detector makes of the model's inside; here high means sure. AUROC: share of "
        "pairs of a right and a wrong forced answer in which the right one is surer.",
        "own, selected": "Own: the answers that the model itself attempts. Selected: as many forced "
        "answers, those the detector is surest of. Above 0 the model's own silence is the better choice.",
        "n, samples": "n counts answers, and samples that are compared under two states once; intervals "
        "resample samples.",
    },
)
GHOST = reading(
    "Every picture lacks what is asked for, so whatever is claimed is made up. Tones 1 to 5 push harder and "
    "harder.",
    {
        "H-Rate, H-Score": "Share of valid responses that claim what is not there; level from 1 (refusal) "
        "to 5 (embroidered claim).",
        "verdict": "Hallucinated, or not, by the rule that is named beside an example.",
        "Only at the second, only at the first": "Pictures that hallucinate at one of two tones and not at "
        "the other; p asks whether the two numbers differ.",
        "z, p": "Page's test for a trend over tones. One-sided or two-sided is said in each heading.",
        "n, pictures": "n counts responses; intervals resample pictures, whose number stands beside.",
    },
)
