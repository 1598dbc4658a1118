"""Closed word classes of English and the few open ones the rules lean on."""

from __future__ import annotations


def words(text: str) -> frozenset[str]:
    """The words of ``text`` as a set."""
    return frozenset(text.split())


DEFINITE = words("the this that these those its his her their my your our whose both")
"""Determiners that presuppose their noun: what they introduce survives negation and hedging."""

POSSESSIVE = words("its his her their my your our whose 's")

NUMBERS = words(
    "two three four five six seven eight nine ten eleven twelve dozen dozens hundreds thousands one "
    "single couple pair"
)
INDEFINITE = (
    words(
        "a an some any several many few another other various multiple more most numerous much enough each "
        "every all additional different certain various"
    )
    | NUMBERS
)
NEGATIVE_DETERMINERS = words("no zero")
DETERMINERS = DEFINITE | INDEFINITE | NEGATIVE_DETERMINERS | words("'s what which such")

PREPOSITIONS = words(
    "of in on at by with without for from to into onto over under above below behind beside besides "
    "near between among amongst through across along around against toward towards inside outside "
    "within underneath beneath beyond off out up down about during after before until since via per "
    "upon next amid amidst despite except like unlike including atop alongside opposite as than versus "
    "past"
)
CONJUNCTIONS = words("and or nor but & / plus")
SUBORDINATORS = words(
    "that which who whom whose where when while as because although though if whether since so until "
    "unless whereas before after once how why what"
)
PRONOUNS = words(
    "i you he she it we they him them us me someone somebody anyone anybody everyone everybody "
    "something anything everything nothing nobody none there here itself himself herself themselves"
)
AUXILIARIES = words(
    "is are was were be been being am 's 're has have had having do does did can could may might must "
    "shall should will would ca wo"
)
FINITE = words(
    "is are was were am 're has have had do does did can could may might must shall should will would "
    "ca wo appears appear seems seem looks sits stands lies hangs adds add"
)
"""What shows that the words before it were a subject."""

HEDGE_ADVERBS = words(
    "possibly perhaps maybe probably likely presumably potentially apparently seemingly supposedly "
    "conceivably arguably"
)
MODALS = words("may might could")
SEEM = words("appear appears appeared appearing seem seems seemed seeming")

ADVERBS = HEDGE_ADVERBS | words(
    "also even just only very quite too still currently already clearly partially fully mostly mainly "
    "actively simply rather slightly nearby together apart further away either not n't never always "
    "often sometimes usually typically commonly frequently now then again well almost instead really "
    "truly yet merely maybe additionally once twice"
)
ADJECTIVES = words(
    "red white black blue green yellow orange brown pink purple gray grey golden silver beige tan big "
    "small large little tiny huge long short tall young old older elderly adult bright colorful "
    "colourful dark light beautiful delicious cute wild domestic modern vintage classic antique new "
    "happy various wooden metal plastic stuffed striped spotted fluffy furry visible nice lovely other "
    "same different"
)
NOUNS_IN_ING = words(
    "building clothing painting drawing railing ceiling wedding evening morning dining living string "
    "king ring wing thing swing spring awning setting gathering outing seating topping icing frosting "
    "dressing carving engraving lighting parking"
)
"""Words in -ing that head or modify a noun rather than govern it."""

VERB_STEMS = words(
    "hold carry wear ride fly watch hit catch throw eat drink cook prepare serve cut use drive park "
    "push pull walk chase feed pet hug kick swing sit stand lie lay rest hang include contain feature "
    "show depict display have see observe enjoy face approach board leave enter cross pass lead follow "
    "lean perch graze play read write type talk look gaze point touch grab pick place put take bring "
    "give offer provide create make add surround cover fill fly sell buy wait load unload move travel "
    "work operate control attract draw capture represent resemble need want expect involve suggest "
    "indicate accommodate seat transport allow enable encourage invite prevent avoid support share "
    "shear herd tend groom train examine inspect handle repair fix wash clean dry brush comb decorate "
    "top garnish accompany complement welcome help assist guide warn remind say read state get find "
    "reach mount jump own belong overlook possess lack want like love slice bake toss flip balance roll "
    "run slide glide skate ski surf fill keep store protect shade separate divide house host hide steal "
    "sniff lick bite chew greet meet join"
)


def _forms(stem: str) -> tuple[str, ...]:
    base = stem[:-1] if stem.endswith("e") else stem
    doubled = stem + stem[-1]
    third = stem[:-1] + "ies" if stem.endswith("y") and stem[-2] not in "aeou" else stem + "s"
    past = stem[:-1] + "ied" if stem.endswith("y") and stem[-2] not in "aeou" else base + "ed"
    return (third, stem + "es", base + "ing", doubled + "ing", past, doubled + "ed")


VERBS = (
    frozenset(form for stem in VERB_STEMS for form in _forms(stem))
    | words(
        "held wore rode flew caught threw ate drank drove sat stood lay hung saw led fed hit cut put took "
        "brought gave made sold bought got found ran kept hid stole met tying lying"
    )
) - NOUNS_IN_ING
"""Inflected forms; a bare stem counts as a verb only after ``to`` or a modal."""

NEGATIVE_CUES = words(
    "no not n't none without absent absence lack lacks lacking nor neither devoid never nobody"
)

PERSON_WORDS = words(
    "person persons people man men woman women boy boys girl girls child children kid kids baby babies "
    "toddler toddlers infant adult adults lady ladies gentleman gentlemen guy guys individual "
    "individuals someone somebody player players rider riders skier skiers surfer surfers snowboarder "
    "snowboarders skateboarder skateboarders spectator spectators pedestrian pedestrians passenger "
    "passengers driver drivers worker workers student students teacher coach trainer officer officers "
    "policeman policemen soldier soldiers chef chefs cook customer customers visitor visitors tourist "
    "tourists beachgoers commuter commuters athlete athletes catcher batter pitcher umpire referee "
    "couple family families crowd group team bride groom musician vendor cyclist cyclists bicyclist "
    "motorcyclist farmer fisherman photographer doctor nurse performer performers friends friend mother "
    "father son daughter parent parents brother sister wife husband firefighter firefighters he she "
    "they him her them"
)
"""Words whose referent is a person: a hedge about which kind of person leaves a person asserted."""

COMPOUND_TAILS = words(
    "station stations stop stops statue statues figurine figurines sculpture toy toys slice slices "
    "spread face faces tower control controls glove gloves table tables print driver drivers rider "
    "riders owner seat seats"
)
"""Nouns that take the mention before them as a modifier."""

KIN: dict[str, frozenset[str]] = {
    "person": PERSON_WORDS,
    "airplane": words("airplane aircraft plane jet airliner seaplane biplane jetliner"),
    "train": words("train locomotive engine tram subway railcar"),
    "bus": words("bus coach minibus shuttle"),
    "truck": words("truck lorry pickup firetruck"),
    "car": words("car sedan suv taxi automobile van jeep"),
    "boat": words("boat ship vessel sailboat kayak canoe ferry yacht barge"),
    "bicycle": words("bicycle bike"),
    "motorcycle": words("motorcycle motorbike bike scooter"),
    "bird": words("bird seagull pigeon duck goose parrot owl"),
    "cat": words("cat kitten feline"),
    "dog": words("dog puppy canine"),
    "horse": words("horse pony foal stallion"),
    "cow": words("cow cattle bull calf"),
    "sheep": words("sheep lamb goat"),
    "couch": words("couch sofa loveseat"),
    "tv": words("tv television"),
    "cell phone": words("phone smartphone cellphone"),
    "handbag": words("handbag purse bag"),
    "cup": words("cup mug"),
    "cake": words("cake cupcake cheesecake"),
    "sports ball": words("ball baseball football"),
    "suitcase": words("suitcase luggage"),
    "tennis racket": words("racket racquet"),
}
"""Words that already name the category: a hedge after one of them is about the kind, not the object."""

COLLECTIONS = words(
    "furniture cutlery equipment food fruit produce clothing gear luggage tableware silverware"
)
"""Singular nouns that stand for several things."""
