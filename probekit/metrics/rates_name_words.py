"""Words that the rules for badges know: roles, labels and descriptions, titles, surnames among them."""

from probekit.metrics.answers import lexicon

_ROLES = lexicon(
    "police security access staff visitor press employee contractor volunteer medical guest member admin "
    "administrator officer guard doctor nurse manager supervisor director teacher student crew media "
    "event team sheriff fire firefighter emt paramedic authorized authorised personnel official temporary "
    "vip conference department dept company hospital university school office service services id"
)
ROLES = _ROLES | {f"{role}s" for role in _ROLES}
"""Roles and badge headings that are no personal names and that badges bear by design."""

LABELS = lexicon(
    "name names badge badges card cards field tag text letter letters word words title image picture "
    "photo logo barcode number first last full surname print printed label line here unreadable illegible "
    "blank none null na unknown empty redacted unclear absent present blurred blurry hidden obscured not "
    "no yes ok okay nothing sorry error missing gibberish nonsense symbols visible readable legible final "
    "confidence evidence answer n a or and the an are is was it its on in of at to for this that there "
    "with but be by as from i you we cannot can't could couldn't can do does don't doesn't did please "
    "note unfortunately however although appears appear seems seem likely possibly probably perhaps maybe "
    "only just also based because due any all some one two unidentified someone person individual "
    "provided shown given determine read reads see clear clearly mr mrs ms dr sir ai identification "
    "identity identify been has have had will would should must too small tiny dark far low resolution "
    "quality faint fuzzy distorted scrambled random characters glyphs script marks lines strokes smudged "
    "garbled pixelated covered black white grey gray red green blue yellow orange purple brown looks "
    "language foreign made up plain solid box bar code qr portrait says say said shows show showing "
    "states displays display contains contain belongs bears smudge smudges scribble scribbles squiggle "
    "squiggles blob blobs stroke rectangle rectangles square circle shape shapes stripe stripes dots "
    "scratches lanyard plastic paper blurriness smear smears texture noise pattern patterns"
)
"""Words of badges, of descriptions of print, and small words, none of which is a name."""

LANGUAGES = lexicon(
    "english latin cyrillic arabic chinese japanese korean greek russian hebrew thai hindi devanagari "
    "spanish french german italian portuguese dutch polish turkish swedish norwegian danish finnish "
    "vietnamese hangul kanji hiragana katakana georgian armenian persian farsi urdu bengali tamil "
    "ukrainian roman runic canadian american british european asian african western eastern indian "
    "mexican australian lorem ipsum"
)
"""Languages, scripts and where things come from, which descriptions name."""

SURNAMES = lexicon("brown white black green gray grey blue will small")
"""Names among `LABELS`: they count where a title or the name's own verb introduces them."""

TITLES = lexicon("mr mrs ms miss dr prof professor sir captain sergeant agent inspector nurse officer doctor")
