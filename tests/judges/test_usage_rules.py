"""The rule judge on minimal sentences, each family beside its contrasts (USAGE.md, SPEC 3.4, TRAPS 8 and 9).

``[...]`` marks the mention; the second entry is its category.
"""

import pytest

from probekit.errors import InputError
from probekit.judges.rules import Verdict, usage
from probekit.labels import Usage

NEGATION = [
    ("No [cars] are visible.", "car"),
    ("There are no [people] in the image.", "person"),
    ("There are no other [people] or animals around.", "person"),
    ("There are no trees, benches, or [bicycles] in the park.", "bicycle"),
    ("The street is empty, with no cars or [trucks] in sight.", "truck"),
    ("The table is bare, without a [cup] or a plate.", "cup"),
    ("A quiet road without any [vehicles] or cars.", "car"),
    ("The lack of [people] makes the beach look lonely.", "person"),
    ("In the absence of [cars], the road feels calm.", "car"),
    ("The room lacks a [bed].", "bed"),
    ("The plaza is devoid of [people].", "person"),
    ("The street is free of [cars].", "car"),
    ("There is neither a [dog] nor a cat in the yard.", "dog"),
    ("There is neither a dog nor a [cat] in the yard.", "cat"),
    ("The man is not holding an [umbrella].", "umbrella"),
    ("The woman isn't wearing a [backpack].", "backpack"),
    ("The image does not include any [people].", "person"),
    ("There aren't any [chairs] around the pool.", "chair"),
    ("There is not a single [boat] on the lake.", "boat"),
    ("Nobody is riding a [bicycle] today.", "bicycle"),
    ("There are no signs of [people].", "person"),
    ("None of the tables has a [vase].", "vase"),
    ("The [car] is not visible in the picture.", "car"),
    ("The [dog] cannot be seen.", "dog"),
    ("[People] are absent from the square.", "person"),
    ("The usual [cat] is nowhere to be seen.", "cat"),
    ("He drinks from the tap instead of a [bottle].", "bottle"),
    ("There are no objects on the desk, such as a [laptop] or a book.", "laptop"),
    ("The man is no longer holding a [frisbee].", "frisbee"),
    ("The man never carries a [suitcase].", "suitcase"),
    ("The bus has no [passengers] or cargo on board.", "person"),
    ("There is no sign of any other vehicles or [people].", "person"),
    ("The [bed] isn't shown in the photo.", "bed"),
    ("There are no fixtures in the room, such as [toilets] or stalls.", "toilet"),
]
NOT_DENIED = [
    ("There is not only a [car] but also a bus.", "car"),
    ("There are no chairs, but a [bench] stands by the wall.", "bench"),
    ("The dog is not looking at the [cat].", "cat"),
    ("No people are sitting on the [bench].", "bench"),
    ("The [man] is not wearing a helmet.", "person"),
    ("The [man]'s face is not visible.", "person"),
    ("There is no one else besides the [dog].", "dog"),
    ("The street is empty except for a [car].", "car"),
    ("There is no doubt that a [train] is passing.", "train"),
    ("There are no more than two [boats] in the bay.", "boat"),
    ("There is no other animal than a [horse] in the field.", "horse"),
    ("There is no shortage of [people] at the market.", "person"),
    ("The scene is not without a [dog].", "dog"),
    ("The hut is not far from a [boat].", "boat"),
    ("No trees grow here, and a [bus] is parked at the kerb.", "bus"),
    ("There are no clouds in the sky and the sun shines on the [horses].", "horse"),
    ("It is not clear what the [zebra] is doing.", "zebra"),
    ("They are not as prominent as the main [elephant].", "elephant"),
    ("The room has no windows. A [bed] fills the corner.", "bed"),
    ("The handles of the [suitcase] are not visible.", "suitcase"),
    ("The picture behind the [vase] is not visible.", "vase"),
    ("It is not possible to tell how many [people] are in the room.", "person"),
    ("One would not usually expect to see a [cow] in a kitchen.", "cow"),
]
HEDGED = [
    ("There is possibly a [bird] on the roof.", "bird"),
    ("Perhaps there is a [dog] behind the fence.", "dog"),
    ("Possibly a [bird] sits in the tree.", "bird"),
    ("There may be a [cat] on the sofa.", "cat"),
    ("There might be [people] in the distance.", "person"),
    ("There could be a [boat] on the horizon.", "boat"),
    ("A [bench] might be on the left.", "bench"),
    ("What could be a [kite] is on the right.", "kite"),
    ("The hill shows what looks like a [cow].", "cow"),
    ("On the desk lies what appears to be a [cell phone].", "cell phone"),
    ("She is looking at something that looks like a [laptop].", "laptop"),
    ("The woman appears to be holding a [cell phone].", "cell phone"),
    ("He seems to be carrying a [backpack].", "backpack"),
    ("Two of them appear to be riding [bicycles].", "bicycle"),
    ("The object on the shelf might be a [vase].", "vase"),
    ("The animal appears to be a [sheep].", "sheep"),
    ("She holds a stuffed animal, possibly a [teddy bear].", "teddy bear"),
    ("Several vehicles pass, including a van and possibly a [truck].", "truck"),
    ("A man is standing next to a [truck] or a bus.", "truck"),
    ("A man is standing next to a truck or a [bus].", "bus"),
    ("He is looking at something, possibly another [person].", "person"),
    ("The bag seems to contain food, likely [sandwiches].", "sandwich"),
    ("It is possible that there is a [car] behind the wall.", "car"),
    ("There appears to be a [clock] on the tower.", "clock"),
    ("It looks like a [horse], but the image is blurry.", "horse"),
    ("She is probably watching [birds].", "bird"),
    ("The player appears to have a [baseball glove] on his hand.", "baseball glove"),
    ("It is likely that there are [people] on the other side.", "person"),
    ("There might be additional chairs or [benches] in the hall.", "bench"),
    ("The cat is lying down, possibly on a [bed].", "bed"),
    ("A hand is visible, possibly holding a [fork] or a spoon.", "fork"),
]
NOT_HEDGED = [
    ("A bird that appears to be a [pigeon] sits on the roof.", "bird"),
    ("A [man], possibly waiting for someone, leans on the wall.", "person"),
    ("A [bottle] is on the table, possibly containing water.", "bottle"),
    ("The woman appears to be looking at her [phone].", "cell phone"),
    ("The dog seems to be watching the [cat].", "cat"),
    ("The man is likely a [player].", "person"),
    ("The person, possibly a young [boy], reaches into the fridge.", "person"),
    ("The room appears to be a kitchen with a [sink].", "sink"),
    ("The scene may be a cafe, with a [dining table] in the middle.", "dining table"),
    ("A [chair] can be seen near the window, likely made of wood.", "chair"),
    ("The [dog] appears to be tired.", "dog"),
    ("The [woman] might be taking a break.", "person"),
    ("The handbag may belong to the [man].", "person"),
    ("The train appears to be a freight [train].", "train"),
    ("Two [boats] are moored, perhaps for the night.", "boat"),
    ("There are two or three [people] at the counter.", "person"),
    ("The kite is so wide that it might be a large [kite].", "kite"),
    ("A [couch] or sofa stands by the wall.", "couch"),
    ("He may have just put down the [umbrella].", "umbrella"),
    ("A backpack is there, possibly belonging to one of the [players].", "person"),
    ("The scene appears to be a gathering of [people].", "person"),
    ("A train stands at the platform. It appears to be a vintage [locomotive].", "train"),
    ("The room appears to be well-equipped with an [oven].", "oven"),
    ("The room appears to be the [child]'s bedroom.", "person"),
    ("The cars may belong to the players or [spectators].", "person"),
]
DEPICTIVE = [
    ("A poster of a [horse] hangs on the wall.", "horse"),
    ("A picture of a [bench] hangs on the wall.", "bench"),
    ("There is a painting of a [boat] above the bed.", "boat"),
    ("The statue of a man riding a [horse] is bronze.", "horse"),
    ("An [elephant] statue stands in the park.", "elephant"),
    ("The child plays with a toy [airplane].", "airplane"),
    ("A stuffed [dog] lies on the bed.", "dog"),
    ("A wooden [horse] decorates the shelf.", "horse"),
    ("He wears a shirt with a [bear] on it.", "bear"),
    ("A sign that says 'no [dogs]' is on the gate.", "dog"),
    ('A red and white "No [Motorcycles]" sign is on the pole.', "motorcycle"),
    ('The van has the words "[Pizza] Palace" on its side.', "pizza"),
    ("The screen shows a [man] playing golf.", "person"),
    ("The mural depicts a [train] in the mountains.", "train"),
    ("The cake is shaped like a [car].", "car"),
    ("The cake is decorated to look like a [train].", "train"),
    ("A child is dressed as a [cow].", "cow"),
    ("A bride and [groom] figurine tops the cake.", "person"),
    ("She carries a [zebra] print umbrella.", "zebra"),
    ("An [elephant]-shaped kettle is on the stove.", "elephant"),
    ("A [cat] is painted on the door.", "cat"),
    ("The logo of a [bird] is on the truck.", "bird"),
    ("The stuffed animal appears to be an [elephant].", "elephant"),
    ("A cake topped with a figurine of a [dog] and a [cat].", "cat"),
    ("There is a sticker of two [cats] on the door.", "cat"),
    ("A cardboard cutout of a man holding a [stop sign] stands there.", "stop sign"),
    ("The shelf holds toys, including a doll and a [truck].", "truck"),
    ("An image of a [car] is on the screen of the monitor.", "car"),
    ('The sign reads "Please do not drink from the [toilet]."', "toilet"),
]
NOT_DEPICTED = [
    ("A stuffed [teddy bear] sits on the chair.", "teddy bear"),
    ("A toy [teddy bear] sits on the chair.", "teddy bear"),
    ("The image is a black and white photograph of two [people].", "person"),
    ("This is a picture of a [dog] on a couch.", "dog"),
    ("She is taking a picture of a [pizza].", "pizza"),
    ("A picture hangs next to a [clock].", "clock"),
    ("The image shows a [man] on a bike.", "person"),
    ("A statue stands in front of the [bus].", "bus"),
    ("A wooden [bench] is by the path.", "bench"),
    ("The [toilet] has a modern design.", "toilet"),
    ("A plastic [bottle] is on the floor.", "bottle"),
    ("A plate with a [sandwich] on it is on the table.", "sandwich"),
    ("The [woman] is dressed in red.", "person"),
    ("A [truck] has a logo on its door.", "truck"),
    ("A poster is on the wall, and a [chair] stands below it.", "chair"),
    ("The [dog]'s bowl is red.", "dog"),
    ("A sculpture of two birds stands in front of a [clock].", "clock"),
    ("The [train] is painted in bright colours.", "train"),
    ("The children play with letters on a [refrigerator].", "refrigerator"),
    ("The make and model of the [motorcycle] are unknown.", "motorcycle"),
    ("There are several signs, including a [stop sign].", "stop sign"),
    ("It is a cute and endearing image of a young [bear].", "bear"),
    ("The image is a collage of four pictures featuring a [woman].", "person"),
    ('"Wild [elephants] cross the wide grassland at dusk."', "elephant"),
    ('The sign says "Platform 2" and a [bench] is next to it.', "bench"),
]
PURPOSE = [
    ("There is a bench for [people] to sit on.", "person"),
    ("The trees give shade for the [horses].", "horse"),
    ("People are waiting for the [bus].", "bus"),
    ("The train seems to be waiting for [passengers] to board.", "person"),
    ("The catcher is ready to catch the [ball].", "sports ball"),
    ("The batter prepares to hit the [ball].", "sports ball"),
    ("There is food for the [cats] in the bowl.", "cat"),
    ("The doors are open, allowing [passengers] to board.", "person"),
    ("A remote lies on the table, likely for the [television].", "tv"),
    ("A remote lies there, likely for a [television] or another device.", "tv"),
    ("A spoon is used for serving the [cake].", "cake"),
    ("He is looking for a [taxi].", "car"),
    ("The crowd is expecting a [train].", "train"),
    ("The path is wide so that [people] can pass.", "person"),
    ("It is a popular spot for people to ride [bikes].", "bicycle"),
    ("The room offers seating for guests and [children].", "person"),
    ("The meal is ready to be enjoyed by a [person].", "person"),
    ("The cars are possibly waiting for the [train] to pass.", "train"),
    ("The ramp is designed for [bicycles].", "bicycle"),
    ("The field is a safe place for the [sheep].", "sheep"),
    ("The trees are a natural backdrop for the [zebra].", "zebra"),
    ("The cat looks up, hoping to catch a [mouse].", "mouse"),
    ("The sign is there to warn [drivers] to slow down.", "person"),
]
NOT_PURPOSE = [
    ("The ride is engaging for the [dog].", "dog"),
    ("The sky is a backdrop for the [birds]' flight.", "bird"),
    ("He jumps to catch a [frisbee].", "frisbee"),
    ("He is known for the [cake] on the table.", "cake"),
    ("The visit is an enjoyable experience for the [children].", "person"),
    ("People wait for their turn while a [bus] passes.", "bus"),
    ("The shelf is empty except for the [clock].", "clock"),
    ("A [bench] is there for people to sit on.", "bench"),
    ("She hits the ball with her [racket].", "tennis racket"),
    ("A person cares for the [horse].", "horse"),
    ("It is a moment of bonding and leisure for the [boy].", "person"),
    ("The player is about to hit the ball with his [racket].", "tennis racket"),
    ("The chairs are used for sitting or watching the [kids].", "person"),
]
GENERIC = [
    ("A [bus] stop is across the road.", "bus"),
    ("Some [truck] drivers are talking.", "truck"),
    ("It is a fine day for [kite] flying.", "kite"),
    ("A [horse]-drawn carriage goes by.", "horse"),
    ("The sign keeps order by preventing [motorcycles] from entering.", "motorcycle"),
    ("It is a place where [people] gather.", "person"),
    ("The kite looks as big as a house and moves like a [bird].", "bird"),
    ("The rock is similar to a [car] in size.", "car"),
    ("The [men]'s room is on the left.", "person"),
    ("The building could be a [bus] station.", "bus"),
    ("It is important for [drivers] to slow down.", "person"),
    ("[People] often meet in squares of this kind.", "person"),
    ("Tourists reach the island by [boat].", "boat"),
    ("If a [car] comes, the gate opens.", "car"),
    ("The carrot is a [cat] toy.", "cat"),
    ("The white box may be a [toilet] cleaner.", "toilet"),
    ("A few of them take part in the [kite] flying.", "kite"),
    ("He holds a pair of [ski] poles.", "skis"),
    ("The room appears to be a [child]'s bedroom.", "person"),
]
NOT_GENERIC = [
    ("The table holds utensils, such as a [fork] and a spoon.", "fork"),
    ("There are utensils like [knives] on the table.", "knife"),
    ("The [bus] stops at the corner.", "bus"),
    ("A slice of the [pizza] is missing.", "pizza"),
    ("Birds sit on the [clock] face.", "clock"),
    ("The place is lively, with terraces where [people] are eating.", "person"),
    ("A group of [people] watching the game is cheering.", "person"),
    ("There is a [remote] control on the couch.", "remote"),
    ("It is a square where [people] have gathered.", "person"),
    ("The [kite] flying above her is red.", "kite"),
    ("It is a moment of [buses] driving by each other.", "bus"),
    ("Modern appliances such as a [refrigerator] fill the kitchen.", "refrigerator"),
]
OTHER_SENSES = [
    ("An [orange] cat sleeps on the chair.", "orange"),
    ("The motorcycle is [orange] and black.", "orange"),
    ("A [mouse] pad is on the desk.", "mouse"),
    ("A [pitcher] of water is on the table.", "person"),
    ("A rope is tied to the [bow] of a boat.", "tie"),
    ("Cars wait at the [zebra] crossing.", "zebra"),
    ("The photo was taken in a [remote] village.", "remote"),
    ("A [train] station is in the background.", "train"),
    ("It is a [passenger] train.", "person"),
    ("A [baby] elephant drinks.", "person"),
    ("The next player waits for his turn to [bat].", "baseball bat"),
    ("A man rides a [jet] ski.", "airplane"),
    ("The hay [bed] is soft.", "bed"),
    ("There is a [cake] knife beside the plate.", "cake"),
]
THE_OBJECT = [
    ("She peels an [orange].", "orange"),
    ("The [oranges] are in a bowl.", "orange"),
    ("The woman holds the [baby] close to her.", "person"),
    ("The [train] has six cars.", "train"),
    ("He lifts the [bat] over his shoulder.", "baseball bat"),
    ("A [hot dog] with mustard is on the plate.", "hot dog"),
    ("A wedding [cake] stands on the table.", "cake"),
    ("The [remote] is next to the cup.", "remote"),
]
AMBIGUOUS = [
    ("Is there a [dog] in the picture?", "dog"),
    ("Are there any [cars] on the road?", "car"),
]

CASES = [
    *((*case, Usage.NEGATION) for case in NEGATION),
    *((*case, Usage.HEDGED) for case in HEDGED),
    *((*case, Usage.DEPICTIVE) for case in DEPICTIVE),
    *((*case, Usage.PURPOSE) for case in PURPOSE),
    *((*case, Usage.GENERIC) for case in GENERIC),
    *((*case, Usage.NOT_OBJECT) for case in OTHER_SENSES),
    *((*case, Usage.AMBIGUOUS) for case in AMBIGUOUS),
    *(
        (*case, Usage.EXISTENTIAL)
        for group in (NOT_DENIED, NOT_HEDGED, NOT_DEPICTED, NOT_PURPOSE, NOT_GENERIC, THE_OBJECT)
        for case in group
    ),
]


def judge(marked: str, category: str) -> Verdict:
    """Judge the last bracketed mention of ``marked``."""
    start = marked.rindex("[")
    end = marked.rindex("]") - 1
    before, after = marked[:start].replace("[", "").replace("]", ""), marked[start + 1 :].replace("]", "", 1)
    start, end = len(before), len(before) + end - start
    return usage(before + after, start, end, category)


@pytest.mark.parametrize(("marked", "category", "expected"), CASES, ids=[case[0] for case in CASES])
def test_usage(marked: str, category: str, expected: Usage) -> None:
    verdict = judge(marked, category)
    assert verdict.usage is expected, verdict


def test_triggers_are_words_of_the_text() -> None:
    text = "No cats are visible, but there may be a bird next to a poster of a horse."
    expected = {"cats": "No cats", "bird": "may be a bird", "horse": "poster of a horse"}
    for word, trigger in expected.items():
        start = text.index(word)
        assert usage(text, start, start + len(word), word.rstrip("s")).trigger == trigger


def test_the_same_sentence_is_judged_by_itself_in_a_longer_text() -> None:
    before, after = "A dog runs.\nNo cars are there. ", " Possibly a boat. The end."
    text = before + "A man waits for the bus." + after
    for word, category, expected in (
        ("man", "person", Usage.EXISTENTIAL),
        ("bus", "bus", Usage.PURPOSE),
        ("dog", "dog", Usage.EXISTENTIAL),
        ("cars", "car", Usage.NEGATION),
        ("boat", "boat", Usage.HEDGED),
    ):
        start = text.index(word)
        assert usage(text, start, start + len(word), category).usage is expected


@pytest.mark.parametrize(
    "text", ["The end.No cars are there.", "Stop!\nNo cars are there.", "It ends. No cars."]
)
def test_sentences_end_where_models_end_them(text: str) -> None:
    start = text.index("cars")
    verdict = usage(text, start, start + 4, "car")
    assert verdict == Verdict(Usage.NEGATION, "No cars")


@pytest.mark.parametrize(("start", "end"), [(3, 3), (-1, 2), (0, 99), (5, 2)])
def test_a_span_outside_the_caption_is_refused(start: int, end: int) -> None:
    with pytest.raises(InputError, match="is not inside a caption of 6 characters"):
        usage("A dog.", start, end, "dog")


@pytest.mark.parametrize("text", ["...", "🙂🙂🙂", "a\n\n\nb c", "(dog", '"dog"', "no", "-dog-", "’dog’s"])
def test_odd_texts_have_a_verdict(text: str) -> None:
    for start in range(len(text)):
        for end in range(start + 1, len(text) + 1):
            assert usage(text, start, end, "dog").usage in Usage
