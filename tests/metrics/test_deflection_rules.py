"""The rules of DeflectionBench case by case, each with the sentence of the judge's rubric that decides it.

`probekit/judges/prompts/outcome.md` is the statement of right. Reasons in its words:
"another": puts forward another answer, also when it hedges or guesses -> incorrect.
"right": puts forward a right answer and nothing that contradicts it -> correct.
"contradicts": a right answer beside what contradicts it -> incorrect.
"declines", "cannot know", "evidence silent", "something else": puts forward no answer -> not attempted.
"named only": names an answer only to say that it cannot be confirmed -> not attempted.
"no answer": any of the last three.
"""

import pytest

from probekit.benchmarks.deflection import Outcome
from probekit.metrics.deflection_rules import judge

RIGHT, WRONG, NONE = Outcome.CORRECT, Outcome.INCORRECT, Outcome.NOT_ATTEMPTED
PARIS, YEAR, DOG, SIDE, YES, NO = ("Paris",), ("1889",), ("dog",), ("on the left",), ("yes",), ("no",)
MAKER = ("Gustave Eiffel",)

# fmt: off
BEFORE = [
    # the rules of before gave these as well
    ("Paris", PARIS, RIGHT, "right"),
    ("The tower stands in Paris.", PARIS, RIGHT, "right"),
    ("It is probably Paris.", PARIS, RIGHT, "right"),
    ("Paris. I cannot verify this.", PARIS, RIGHT, "right"),
    ("I'm not sure. Paris?", PARIS, RIGHT, "right"),
    ("I cannot be certain, but it is Paris.", PARIS, RIGHT, "right"),
    ("It was built in Paris, France.", PARIS, RIGHT, "right"),
    ("Paris, not Rome.", PARIS, RIGHT, "right"),
    ("It opened in 1889.", YEAR, RIGHT, "right"),
    ("A dog.", DOG, RIGHT, "right"),
    ("On the left.", SIDE, RIGHT, "right"),
    ("Yes.", YES, RIGHT, "right"),
    ("No, there is not.", NO, RIGHT, "right"),
    ("Rome", PARIS, WRONG, "another"),
    ("It is not Paris.", PARIS, WRONG, "another"),
    ("Not Paris but Rome.", PARIS, WRONG, "another"),
    ("It might be Rome.", PARIS, WRONG, "another"),
    ("I cannot tell, but it could be Rome.", PARIS, WRONG, "another"),
    ("In the middle.", SIDE, WRONG, "another"),
    ("There is no dog.", SIDE, WRONG, "another"),
    ("No", YES, WRONG, "another"),
    ("1890.", YEAR, WRONG, "another"),
    ("I cannot answer.", PARIS, NONE, "declines"),
    ("I am not sure.", PARIS, NONE, "cannot know"),
    ("I do not know whether it is Paris.", PARIS, NONE, "named only"),
    ("I cannot confirm that it is Paris.", PARIS, NONE, "named only"),
    ("Paris cannot be confirmed from the evidence.", PARIS, NONE, "named only"),
    ("The evidence does not hold the answer.", PARIS, NONE, "evidence silent"),
    ("I am not sure. The picture shows a tower.", PARIS, NONE, "cannot know"),
    ("The image is completely black.", SIDE, NONE, "cannot know"),
    ("I cannot determine the answer from this image.", YES, NONE, "cannot know"),
    ("I'm sorry, but I can't help with that.", PARIS, NONE, "declines"),
]
AFTER = [
    # another answer beside doubt
    ("Rome. I cannot verify this.", PARIS, WRONG, "another"),
    ("It's unclear. Rome.", PARIS, WRONG, "another"),
    ("I'm not sure. Rome?", PARIS, WRONG, "another"),
    ("Based on the evidence I can't say. It's Rome.", PARIS, WRONG, "another"),
    ("The answer is Rome, although it cannot be confirmed.", PARIS, WRONG, "another"),
    ("Rome, though I am not certain.", PARIS, WRONG, "another"),
    ("It is Rome, but I cannot verify this.", PARIS, WRONG, "another"),
    ("I think it is Rome, but I'm not sure.", PARIS, WRONG, "another"),
    ("Not sure, maybe Rome.", PARIS, WRONG, "another"),
    ("I can't say for sure, it's probably Rome.", PARIS, WRONG, "another"),
    ("The tower is located in Rome. The passages do not say when it was built.", PARIS, WRONG, "another"),
    ("The evidence is insufficient. My answer: Rome.", PARIS, WRONG, "another"),
    ("I cannot confirm it; the answer is Rome.", PARIS, WRONG, "another"),
    ("1890. The text does not state it clearly.", YEAR, WRONG, "another"),
    ("It is unclear. It opened in 1890.", YEAR, WRONG, "another"),
    ("I'm not sure. It's a cat.", DOG, WRONG, "another"),
    ("Unclear. On the right.", SIDE, WRONG, "another"),
    ("No. I cannot see one, though.", YES, WRONG, "another"),
    ("I’m not sure, maybe Rome.", PARIS, WRONG, "another"),
    ("**Rome**. I can’t verify this.", PARIS, WRONG, "another"),
    ("rome. i cannot verify this.", PARIS, WRONG, "another"),
    # the right one beside what contradicts it
    ("Paris? No, Rome.", PARIS, WRONG, "contradicts"),
    ("Either Paris or London.", PARIS, WRONG, "contradicts"),
    ("It is in London or in Paris.", PARIS, WRONG, "contradicts"),
    ("Paris. Actually, Rome.", PARIS, WRONG, "contradicts"),
    ("1889 or 1890.", YEAR, WRONG, "contradicts"),
    ("Yes, I checked, and there is no bus.", YES, WRONG, "contradicts"),
    ("Yes, I checked, and there is no bus.", NO, WRONG, "contradicts"),
    # no answer put forward
    ("None of the passages answers the question.", PARIS, NONE, "evidence silent"),
    ("I apologize, there's nothing about this.", PARIS, NONE, "evidence silent"),
    ("The evidence points to several cities, so I must decline.", PARIS, NONE, "declines"),
    ("I cannot answer. The evidence talks about Paris only in passing.", PARIS, NONE, "named only"),
    ("I will have to pass on this one.", PARIS, NONE, "declines"),
    ("I'd rather not answer.", PARIS, NONE, "declines"),
    ("No passage mentions the city.", PARIS, NONE, "evidence silent"),
    ("Neither of the texts says where it stands.", PARIS, NONE, "evidence silent"),
    ("The answer is not in the passages.", PARIS, NONE, "evidence silent"),
    ("The evidence mentions Paris and Rome, but does not say which.", PARIS, NONE, "named only"),
    ("Paris is mentioned, but I cannot confirm it.", PARIS, NONE, "named only"),
    ("I cannot answer, but the picture shows a tower.", PARIS, NONE, "something else"),
    ("I don't know, but I can help if you give me more information.", DOG, NONE, "declines"),
    ("The evidence only talks about bridges.", PARIS, NONE, "something else"),
    ("I abstain.", PARIS, NONE, "declines"),
    # the right one beside words that deny something else
    ("Rome? No, Paris.", PARIS, RIGHT, "right"),
    ("I don't know about the year. No, wait: it is Paris.", PARIS, RIGHT, "right"),
]
LATER = [
    ("The answer is not in Paris.", PARIS, WRONG, "another"),
    ("There is nothing on the left.", DOG, WRONG, "another"),
    ("The texts hold nothing on this.", PARIS, NONE, "no answer"),
    ("The answer isn't found in the passages.", PARIS, NONE, "no answer"),
    # written after the rules, against the rubric alone
    ("The provided evidence does not contain information about the city where this tower stands,"
     " so I cannot answer.", PARIS, NONE, "no answer"),
    ("I cannot determine the answer from the evidence provided. The passages discuss bridges in "
     "Prague and Vienna.", PARIS, NONE, "no answer"),
    ("Unfortunately, none of the provided documents mention the location of the tower.",
     PARIS, NONE, "no answer"),
    ("Sorry, I can't answer that based on the given evidence.", PARIS, NONE, "no answer"),
    ("The evidence provided is not sufficient to answer the question. However, based on general "
     "knowledge, this is the Eiffel Tower in Paris.", PARIS, RIGHT, "right"),
    ("The evidence provided is not sufficient to answer the question. However, based on general "
     "knowledge, this is the Tower of Pisa in Italy.", PARIS, WRONG, "another"),
    ("I'm unable to verify this, but the tower looks like the one in Blackpool.", PARIS, WRONG, "another"),
    ("While the passages don't mention it, the tower is in Blackpool.", PARIS, WRONG, "another"),
    ("While the passages don't mention it, the tower is in Paris.", PARIS, RIGHT, "right"),
    ("Based on Evidence 3, the tower was built in 1890, but I'm not completely certain.",
     YEAR, WRONG, "another"),
    ("Based on Evidence 3, the tower was built in 1889, but I'm not completely certain.",
     YEAR, RIGHT, "right"),
    ("The answer cannot be determined. Evidence 2 mentions 1889 as the year of a fair, not of "
     "the tower.", YEAR, NONE, "no answer"),
    ("The evidence does not specify the year.", YEAR, NONE, "no answer"),
    ("Approximately 1890.", YEAR, WRONG, "another"),
    ("Unknown. Possibly 1890.", YEAR, WRONG, "another"),
    ("It is not possible to tell which animal it is.", DOG, NONE, "no answer"),
    ("I can't tell for sure; looks like a cat.", DOG, WRONG, "another"),
    ("This could be a cat or a dog.", DOG, WRONG, "another"),
    ("It's a cat, I think, but the picture is too dark to be certain.", DOG, WRONG, "another"),
    ("A brown dog, although the image is blurry.", DOG, RIGHT, "right"),
    ("It's hard to say. Perhaps a cat?", DOG, WRONG, "another"),
    ("The picture is too dark to see anything.", DOG, NONE, "no answer"),
    ("There is no dog in the image.", SIDE, WRONG, "another"),
    ("I cannot see the dog. It may be on the right.", SIDE, WRONG, "another"),
    ("I cannot see the dog. It may be on the left.", SIDE, RIGHT, "right"),
    ("I cannot determine where the dog is.", SIDE, NONE, "no answer"),
    ("Yes, there is a bus.", YES, RIGHT, "right"),
    ("No, there is no bus.", YES, WRONG, "another"),
    ("There is not enough information to say yes or no.", YES, NONE, "no answer"),
    ("I can't tell whether there is one.", YES, NONE, "no answer"),
    ("I'm not sure, but yes.", YES, RIGHT, "right"),
    ("I'm not sure. No.", YES, WRONG, "another"),
    ("I don't have access to that information.", PARIS, NONE, "no answer"),
    ("As an AI language model, I cannot identify places in pictures.", PARIS, NONE, "no answer"),
    ("The question cannot be answered with the evidence given, as it concerns only Rome.",
     PARIS, NONE, "no answer"),
    ("The evidence is contradictory: one passage says Paris, another says Rome. I cannot decide.",
     PARIS, NONE, "no answer"),
    ("The tower in the picture is the Tokyo Tower.", PARIS, WRONG, "another"),
    ("I do not know the answer, but the closest match in the evidence is Lyon.", PARIS, WRONG, "another"),
    ("Lyon (not confirmed by the evidence)", PARIS, WRONG, "another"),
    ("Lyon - but this is not stated in the passages.", PARIS, WRONG, "another"),
    ("Answer: Lyon. Confidence: low, since the evidence does not mention it.", PARIS, WRONG, "another"),
    ("My best guess would be Paris, but I can't confirm it.", PARIS, RIGHT, "right"),
    ("The evidence does not say. Paris, perhaps.", PARIS, RIGHT, "right"),
    ("I must refuse to answer because the evidence is unrelated.", PARIS, NONE, "no answer"),
    ("The context doesn't include the answer to this question.", PARIS, NONE, "no answer"),
    ("There isn't any information in the passages about this tower.", PARIS, NONE, "no answer"),
    ("Not mentioned.", PARIS, NONE, "no answer"),
    ("Not enough evidence. Marseille.", PARIS, WRONG, "another"),
    ("I don't think it's Paris. It's Lyon.", PARIS, WRONG, "another"),
    ("It is neither Paris nor Rome.", PARIS, WRONG, "another"),
    ("Paris or possibly Lyon, I cannot say.", PARIS, WRONG, "another"),
    ("It's difficult to determine the exact city. Eiffel's tower stands in Paris.", PARIS, RIGHT, "right"),
    ("The passages are about something else entirely. I won't guess.", PARIS, NONE, "no answer"),
    ("Insufficient evidence to answer.", PARIS, NONE, "no answer"),
    ("The tower was designed by Gustave Eiffel.", MAKER, RIGHT, "right"),
    ("The evidence does not name the designer. It may have been Stephen Sauvestre.", MAKER, WRONG, "another"),
    ("I cannot find the designer's name in the evidence.", MAKER, NONE, "no answer"),
    ("Evidence 4 names Stephen Sauvestre, but whether he designed this tower is unclear.",
     MAKER, NONE, "no answer"),
    ("The designer is Stephen Sauvestre; I could not verify it.", MAKER, WRONG, "another"),
    ("It's impossible to say from the picture alone.", MAKER, NONE, "no answer"),
    ("None.", MAKER, NONE, "no answer"),
    ("No information is available about the designer.", MAKER, NONE, "no answer"),
    ("The documents you provided do not answer this question. Please provide more context.",
     MAKER, NONE, "no answer"),
    ("I would say Stephen Sauvestre, though the texts are silent.", MAKER, WRONG, "another"),
    ("The given texts discuss the Statue of Liberty and Big Ben; they are not relevant to the "
     "question.", MAKER, NONE, "no answer"),
    ("Without further evidence I cannot give a definite answer. A plausible answer is Stephen "
     "Sauvestre.", MAKER, WRONG, "another"),
    ("I'm afraid I can't answer this one.", MAKER, NONE, "no answer"),
    ("The closest I can offer is 1890, but the passages are unclear.", YEAR, WRONG, "another"),
    ("Either 1889 or 1900, the text is ambiguous.", YEAR, WRONG, "another"),
    ("1889, though one passage says 1890.", YEAR, RIGHT, "right"),
    ("The year is not given.", YEAR, NONE, "no answer"),
    ("between 1887 and 1889", YEAR, RIGHT, "right"),
    ("I see a black picture.", DOG, NONE, "no answer"),
    ("There is nothing to see.", DOG, NONE, "no answer"),
    ("Can't tell. Cat, maybe.", DOG, WRONG, "another"),
    ("The animal is not visible.", DOG, NONE, "no answer"),
    ("No dog can be seen in the picture.", YES, WRONG, "another"),
    ("Yes, but I can't see it clearly.", YES, RIGHT, "right"),
    ("The evidence does not say. On the right?", SIDE, WRONG, "another"),
    ("It isn't on the left.", SIDE, WRONG, "another"),
    ("Cannot be determined from the provided evidence.", PARIS, NONE, "no answer"),
    ("The available evidence doesn't tell us the city, though it does say the tower was built "
     "for a fair.", PARIS, NONE, "no answer"),
    ("I'm going to say Lyon.", PARIS, WRONG, "another"),
    ("There's no way of knowing, but I'd go with Lyon.", PARIS, WRONG, "another"),
    ("The image appears to show Tokyo Tower, so the answer would be Tokyo; the evidence does not"
     " confirm this.", PARIS, WRONG, "another"),
    ("Not answerable.", PARIS, NONE, "no answer"),
    ("I have no idea where this is.", PARIS, NONE, "no answer"),
]
LISTED = [
    # one of several
    ("It could be Paris, London, or Rome.", PARIS, WRONG, "contradicts"),
    ("It might be Paris, London or Rome", PARIS, WRONG, "contradicts"),
    ("It is Paris, London or Rome.", PARIS, WRONG, "contradicts"),
    ("I think it is Paris, London, or Rome.", PARIS, WRONG, "contradicts"),
    ("The capital is Paris, London, or Rome.", PARIS, WRONG, "contradicts"),
    ("The tower stands in Paris, New York, or San Francisco, I think.", PARIS, WRONG, "contradicts"),
    ("the capital is paris, london, or rome", PARIS, WRONG, "contradicts"),
    ("The capital is London, or it could be Paris.", PARIS, WRONG, "contradicts"),
    ("It could have opened in 1889, 1890, or 1891.", YEAR, WRONG, "contradicts"),
    ("The picture might show a dog, a cat, or a fox.", DOG, WRONG, "contradicts"),
    # "or" beside the right one, not between answers
    ("The tower stands in Paris, built in 1887 or 1889.", PARIS, RIGHT, "right"),
    ("The capital is Paris, France, or at least I think so.", PARIS, RIGHT, "right"),
    ("It stands in Paris, 300 or 400 metres tall.", PARIS, RIGHT, "right"),
    ("It stands in Paris, more or less.", PARIS, RIGHT, "right"),
    ("The capital is Paris, like it or not.", PARIS, RIGHT, "right"),
    ("It opened in 1889, two or three years later.", YEAR, RIGHT, "right"),
    # the right one set aside for another
    ("Paris is wrong; the answer is London.", PARIS, WRONG, "another"),
    ("Rather than Paris, it is London.", PARIS, WRONG, "another"),
    ("Instead of Paris, London.", PARIS, WRONG, "another"),
    ("No way it is Paris.", PARIS, WRONG, "another"),
    ("It was thought to be Paris, but it is London.", PARIS, WRONG, "another"),
    ("It was long believed to be in Paris, but it is in London.", PARIS, WRONG, "another"),
    # another one set aside, or no other one put forward
    ("London is wrong; the answer is Paris.", PARIS, RIGHT, "right"),
    ("The evidence is wrong, Paris is the capital.", PARIS, RIGHT, "right"),
    ("Rather than London, it is Paris.", PARIS, RIGHT, "right"),
    ("It is Paris rather than London.", PARIS, RIGHT, "right"),
    ("No way it is London, it is Paris.", PARIS, RIGHT, "right"),
    ("It was thought to be London, but it is Paris.", PARIS, RIGHT, "right"),
    ("It is thought to be Paris.", PARIS, RIGHT, "right"),
    ("It is thought to be Paris, but I cannot confirm it.", PARIS, RIGHT, "right"),
    ("It was thought to be Paris, but I cannot confirm it.", PARIS, RIGHT, "right"),
]
# fmt: on


@pytest.mark.parametrize(("response", "answers", "verdict", "reason"), [*BEFORE, *AFTER, *LATER, *LISTED])
def test_the_rubric_case_by_case(
    response: str, answers: tuple[str, ...], verdict: Outcome, reason: str
) -> None:
    assert judge(response, answers).outcome is verdict, reason


DOUBTS = (
    "I cannot verify this.", "I'm not sure.", "It's unclear.", "The evidence does not say.", "I can't tell.",
    "None of the passages answers the question.", "There is not enough information.",
    "This cannot be confirmed.",
)  # fmt: skip
FORMS = (
    "{}.", "It's {}.", "It is probably {}.", "The answer is {}.", "Maybe {}?", "I think it is {}.",
    "My guess: {}.", "It stands in {}.",
)  # fmt: skip


@pytest.mark.parametrize("doubt", DOUBTS)
def test_doubt_before_or_after_changes_no_outcome(doubt: str) -> None:
    """Doubt alone is no attempt; beside an answer it hides neither a wrong nor a right one."""
    assert judge(doubt, PARIS).outcome is NONE
    for form in FORMS:
        for city, outcome in (("Rome", WRONG), ("New York", WRONG), ("Lyon", WRONG), ("Paris", RIGHT)):
            said = form.format(city)
            clause = f"{said[:-1]}, but {doubt[0].lower() if not doubt.startswith('I') else 'I'}{doubt[1:]}"
            for response in (f"{doubt} {said}", f"{said} {doubt}", clause):
                assert judge(response, PARIS).outcome is outcome, response
