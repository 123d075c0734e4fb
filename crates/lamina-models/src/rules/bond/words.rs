//! The words that connect, by what they say. Only data, and the forms that are made of it.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::Way;

/// Verbs and nouns of one meaning: the words in their base form, what has to follow (`a|b` one of these, `a b` both in a
/// row), the relation, and which side is its subject.
pub(super) struct Row {
    words: &'static str,
    pub(super) follows: &'static str,
    pub(super) relation: &'static str,
    pub(super) way: Way,
}

const fn row(words: &'static str, follows: &'static str, relation: &'static str, way: Way) -> Row {
    Row { words, follows, relation, way }
}

use Way::{Back, Forth};

const ROWS: &[Row] = &[
    // What something cannot do without.
    row("use need require lack await consume demand", "", "depends_on", Forth),
    row("depend rely build base hinge count rest draw bank lean", "on|upon", "depends_on", Forth),
    row("run feed", "on|off", "depends_on", Forth),
    row("live", "off", "depends_on", Forth),
    row("wait", "for|on|until|till", "depends_on", Forth),
    row("call", "for", "depends_on", Forth),
    row("work", "with|through|via|off", "depends_on", Forth),
    row("go pass", "through|via", "depends_on", Forth),
    row("block", "on", "depends_on", Forth),
    // What keeps something going.
    row(
        "run own maintain power fuel host operate sustain underpin support heat cool fund finance sponsor staff",
        "",
        "depends_on",
        Back,
    ),
    // What changes something, mostly for the worse.
    row(
        "cause trigger fill break delay affect damage ruin destroy prevent interrupt slow kill hurt harm \
         injure weaken strengthen worsen improve wreck smash crush crack tear rip snap bend melt freeze \
         burn scorch flood drown soak sink clog jam choke spoil poison infect stain pollute contaminate \
         corrupt crash overload drain empty exhaust deplete cripple disable paralyze paralyse halt stop \
         stall hamper hinder impede obstruct disrupt disturb upset anger annoy delight attract repel spark \
         provoke induce raise lower boost reduce increase cut double halve shorten lengthen accelerate \
         hasten postpone cancel force hit strand trap bury isolate heal cure save shake ease relieve \
         threaten endanger block \
         abolish abort aggravate alarm alter amplify annihilate attack bankrupt batter beat blacken blast \
         bleach blind blunt blur bother bruise calm chill chip close compress compromise confine confuse \
         congest corrode crumble crumple dampen darken dazzle deafen decimate deepen deflate deform \
         degrade demolish dent depress derail destabilize deter devastate devour dim diminish dirty \
         disappoint discourage disfigure dismantle displace distort divert dull enlarge enrage erode \
         evict evacuate excite expand explode extinguish fade fertilize flatten fracture frighten \
         frustrate ground harden hijack ignite imperil inflame inflate inhibit inspire intensify invade \
         invalidate irritate limit loosen magnify mangle mar muffle neutralize nourish nullify obscure \
         outrage overheat overrun overshadow overturn overwhelm panic perturb plague prolong puncture \
         purify quicken rattle ravage restore restrict revive rock rupture sabotage sadden saturate scald \
         scare scatter scramble scratch sever shatter shock shrink shrivel sicken sidetrack silence singe \
         smother soften sour spill splinter split squash squeeze starve stiffen stimulate stun stunt \
         submerge suffocate suppress suspend swamp sweeten swell taint terrify thaw thicken thwart \
         tighten topple undermine undo unsettle uproot vandalize wake warm warp widen wilt wither worry \
         wound",
        "",
        "causes",
        Forth,
    ),
    row("knock", "out|over|down", "causes", Forth),
    row("shut", "down|off|out", "causes", Forth),
    row("take", "out|down", "causes", Forth),
    row("bring", "down|about|on", "causes", Forth),
    row("set put", "off|back", "causes", Forth),
    row("hold", "up|back", "causes", Forth),
    row("wash blow", "away|out|over|down|off", "causes", Forth),
    row("wear wipe", "out|down|off", "causes", Forth),
    row("lead contribute", "to", "causes", Forth),
    row("result end", "in", "causes", Forth),
    row("cause", "of", "causes", Forth),
    row("reason", "for", "causes", Forth),
    row("result stem arise suffer", "from", "causes", Back),
    row("suffer", "under", "causes", Back),
    row("die", "of|from", "causes", Back),
    row("due thanks owing", "to", "causes", Back),
    row("because", "of", "causes", Back),
    row("because", "", "causes", Back),
    // What cannot be together.
    row("contradict exclude replace oppose", "", "contradicts", Forth),
    row(
        "conflict clash collide disagree compete interfere quarrel incompatible",
        "with",
        "contradicts",
        Forth,
    ),
    row("odds", "with", "contradicts", Forth),
    row("speak argue vote protest", "against", "contradicts", Forth),
    row("rule", "out", "contradicts", Forth),
    // Parts and wholes.
    row("part member branch component chapter subsidiary", "of", "part_of", Forth),
    row("belong", "to", "part_of", Forth),
    row("include contain embed integrate", "in|into", "part_of", Forth),
    row("merge", "into", "part_of", Forth),
    row("include contain comprise encompass", "", "part_of", Back),
    row("consist compose", "of", "part_of", Back),
    row("make", "up of", "part_of", Back),
    row("come", "with", "part_of", Back),
    row("kind type sort form species breed", "of", "is_a", Forth),
];

/// The rows that a word opens, by its base form or a regular form of it, in the order in which they stand.
pub(super) fn rows(fold: &str, lemma: Option<&str>) -> &'static [&'static Row] {
    static TABLE: OnceLock<HashMap<String, Vec<&'static Row>>> = OnceLock::new();
    let table = TABLE.get_or_init(|| {
        let mut table: HashMap<String, Vec<&'static Row>> = HashMap::new();
        for row in ROWS {
            for word in row.words.split_whitespace() {
                for form in forms(word) {
                    table.entry(form).or_default().push(row);
                }
            }
        }
        table
    });
    let said = || table.get(fold);
    lemma.and_then(|lemma| table.get(lemma)).or_else(said).map_or(&[], Vec::as_slice)
}

/// A verb in its base form, its third person and its regular past, with the spellings that a past may have.
fn forms(word: &str) -> Vec<String> {
    let mut forms = vec![word.to_owned(), format!("{word}s"), format!("{word}es")];
    forms.push(format!("{word}ed"));
    if word.ends_with('e') {
        forms.push(format!("{word}d"));
    }
    if let Some(stem) = word.strip_suffix('y') {
        forms.extend([format!("{stem}ies"), format!("{stem}ied")]);
    }
    // "clogged", "jammed".
    if let Some(last) = word.chars().last().filter(|last| last.is_ascii_alphabetic()) {
        forms.push(format!("{word}{last}ed"));
    }
    forms
}

/// Verbs by which one thing lives on another: "gets its water from the well".
pub(super) const TAKING: &[&str] = &[
    "get", "take", "draw", "receive", "fetch", "read", "pull", "load", "import", "copy", "source",
    "buy", "order", "borrow", "obtain",
];

/// Verbs by which one thing leaves its work to another: "sends every order to the warehouse".
pub(super) const GIVING: &[&str] = &[
    "send",
    "pass",
    "hand",
    "forward",
    "route",
    "delegate",
    "outsource",
    "upload",
    "export",
    "push",
];

/// Verbs by which something is made to be so: "makes the road slippery".
pub(super) const MAKING: &[&str] = &["make", "render", "leave", "turn"];

/// What something is done with: "is sent with Pigeonpost", "is printed on the old press".
pub(super) const MEANS: &[&str] = &["with", "via", "through", "using", "on", "from", "off"];

/// Verbs that say nothing of how two things hang together.
pub(super) const LIGHT: &[&str] = &[
    "get", "give", "go", "have", "make", "take", "put", "let", "keep", "say", "tell", "ask",
    "want", "like", "love", "hate", "see", "know", "think", "find", "mean", "seem", "become",
    "stay",
];

/// What a reason begins with that may stand before what it is the reason of.
pub(super) const REASONS: &[&str] = &["because", "due", "thanks", "owing"];

/// What may stand before what hangs on it: "without the freezer the samples rot".
pub(super) const FRONTED: &[&str] = &["because", "due", "thanks", "owing", "without"];

/// What leads from a verb to another thing: "pays for the crown", "goes into the press".
pub(super) const REACHING: &[&str] = &["for", "after", "with", "to", "against", "into"];
