//! Verbs and their forms. The forms are made, not listed: a regular verb is one word in the list, an
//! irregular one is its three principal parts.

/// A verb form, as a set: "read" is base, past and participle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Form(u8);

impl Form {
    pub(crate) const BASE: Form = Form(1);
    pub(crate) const THIRD: Form = Form(2);
    pub(crate) const PAST: Form = Form(4);
    pub(crate) const PARTICIPLE: Form = Form(8);
    pub(crate) const ING: Form = Form(16);

    pub(crate) fn has(self, other: Form) -> bool {
        self.0 & other.0 != 0
    }
}

/// What a word is as a verb.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Verb {
    pub(crate) lemma: &'static str,
    pub(crate) forms: Form,
}

impl Verb {
    pub(crate) fn or(self, other: Verb) -> Verb {
        Verb { lemma: self.lemma, forms: Form(self.forms.0 | other.forms.0) }
    }
}

/// A verb as it is listed.
pub(crate) struct Listed {
    pub(crate) lemma: &'static str,
    past: Option<&'static str>,
    participle: Option<&'static str>,
}

pub(crate) fn all() -> impl Iterator<Item = Listed> {
    let regular =
        REGULAR.split_whitespace().map(|lemma| Listed { lemma, past: None, participle: None });
    let irregular = IRREGULAR.lines().filter_map(|line| {
        let mut parts = line.split_whitespace();
        let (lemma, past) = (parts.next()?, parts.next());
        Some(Listed { lemma, past, participle: parts.next().or(past) })
    });
    irregular.chain(regular)
}

impl Listed {
    /// Every form with its spelling.
    pub(crate) fn forms(&self) -> Vec<(Form, String)> {
        let lemma = self.lemma;
        let past = || regular(lemma, "ed");
        vec![
            (Form::BASE, lemma.to_owned()),
            (Form::THIRD, third(lemma)),
            (Form::PAST, self.past.map_or_else(past, str::to_owned)),
            (Form::PARTICIPLE, self.participle.map_or_else(past, str::to_owned)),
            (Form::ING, regular(lemma, "ing")),
        ]
    }
}

fn third(lemma: &str) -> String {
    let consonant_y = lemma.ends_with('y') && !ends_in_vowel(lemma.get(..lemma.len() - 1));
    if consonant_y {
        format!("{}ies", lemma.get(..lemma.len() - 1).unwrap_or(lemma))
    } else if ["s", "x", "z", "ch", "sh", "o"].iter().any(|tail| lemma.ends_with(tail)) {
        format!("{lemma}es")
    } else {
        format!("{lemma}s")
    }
}

/// The verbs of two syllables that double their last letter; those of one do by rule.
const DOUBLING: &[&str] =
    &["prefer", "permit", "commit", "submit", "travel", "cancel", "program", "refer", "admit"];

fn regular(lemma: &str, ending: &str) -> String {
    let stem = lemma.get(..lemma.len().saturating_sub(1)).unwrap_or(lemma);
    if lemma.ends_with("ie") && ending == "ing" {
        return format!("{}ying", lemma.get(..lemma.len() - 2).unwrap_or(lemma));
    }
    if lemma.ends_with('e') && !(ending == "ing" && (lemma.ends_with("ee") || lemma == "be")) {
        return format!("{stem}{ending}");
    }
    if lemma.ends_with('y') && ending == "ed" && !ends_in_vowel(Some(stem)) {
        return format!("{stem}ied");
    }
    if doubles(lemma) {
        let last = lemma.chars().next_back().unwrap_or('e');
        return format!("{lemma}{last}{ending}");
    }
    format!("{lemma}{ending}")
}

fn doubles(lemma: &str) -> bool {
    if DOUBLING.contains(&lemma) {
        return true;
    }
    let mut back = lemma.chars().rev();
    let (last, vowel, before) = (back.next(), back.next(), back.next());
    let vowels = lemma.chars().filter(|c| is_vowel(*c)).count();
    vowels == 1
        && last.is_some_and(|c| !is_vowel(c) && !"wxy".contains(c))
        && vowel.is_some_and(is_vowel)
        && before.is_some_and(|c| !is_vowel(c))
}

fn ends_in_vowel(text: Option<&str>) -> bool {
    text.and_then(|text| text.chars().next_back()).is_some_and(is_vowel)
}

fn is_vowel(c: char) -> bool {
    "aeiou".contains(c)
}

/// Lemma, past, participle (if it differs from the past).
const IRREGULAR: &str = "go went gone
get got gotten
come came come
become became become
leave left
quit quit
sell sold
buy bought
bring brought
think thought
teach taught
catch caught
seek sought
fight fought
say said
tell told
hear heard
make made
take took taken
give gave given
write wrote written
drive drove driven
ride rode ridden
rise rose risen
speak spoke spoken
break broke broken
choose chose chosen
know knew known
grow grew grown
fly flew flown
draw drew drawn
throw threw thrown
see saw seen
eat ate eaten
drink drank drunk
swim swam swum
sing sang sung
begin began begun
run ran run
read read
put put
set set
cut cut
cost cost
hit hit
let let
bet bet
meet met
keep kept
sleep slept
feel felt
mean meant
spend spent
send sent
lend lent
build built
lose lost
win won
find found
hold held
stand stood
understand understood
sit sat
pay paid
wear wore worn
forget forgot forgotten
lead led
do did done
have had
wake woke woken
fall fell fallen
hide hid hidden
shake shook shaken
feed fed
shut shut
spread spread
split split
hurt hurt
learn learned
dream dreamed
smell smelled
bear bore born
hang hung
teach taught
lay laid
lie lay lain
overtake overtook overtaken
withdraw withdrew withdrawn
undergo underwent undergone
rebuild rebuilt
redo redid redone
undertake undertook undertaken
shrink shrank shrunk
stick stuck
oversee oversaw overseen
wind wound
swear swore sworn
bite bit bitten
freeze froze frozen
steal stole stolen
tear tore torn
strike struck
light lit
blow blew blown
flee fled
forgive forgave forgiven
overcome overcame overcome
sweep swept
weep wept
outgrow outgrew outgrown
oversleep overslept
overhear overheard
babysit babysat
rewrite rewrote rewritten
rethink rethought
resell resold
undo undid undone";

const REGULAR: &str = "live reside stay move relocate settle work join start found co-found cofound call name
employ hire fire resign retire promote manage head supervise report study graduate major attend enroll
marry divorce date own purchase acquire adopt rescue suffer struggle diagnose prescribe like love enjoy adore
hate dislike detest loathe despise prefer play practice visit travel watch finish plan intend hope aim decide
agree opt use switch migrate hand replace swap upgrade downgrade bump update deploy ship launch close sign cancel
pause stop resume delay postpone reschedule schedule approve reject block unblock fail succeed release merge
archive deprecate handle maintain belong weigh measure turn age fear worry mention claim report hear believe
guess suppose assume imagine wish want need learn train teach cook bake dance paint ski surf skate sew knit weld
type whistle juggle solder sail climb dive code program garden hike jog walk cycle bike meditate exercise stretch
journal commute volunteer smoke vape drop ditch abandon share thank ask answer reply respond explain remind show
convert translate summarize summarise help check fix book order open create add remove delete change list
describe suggest recommend compare find calculate generate draft review search look keep include avoid format
address refer treat ping note remember try happen seem appear sound love miss confirm announce land rent lease
subscribe transfer expand shrink double total include cover support contain consist feature offer provide
host serve store process handle rely depend adopt roll swear chat talk discuss touch follow collect fish hunt
camp carry pack wash clean iron mow water vacuum tidy jump lift row box wrestle skip renovate repaint decorate apply hire
celebrate organize organise arrange prepare present publish submit deliver complete tackle refactor test
debug investigate explore research compete perform record compose produce invest save donate borrow owe earn charge
price bill spend cost identify describe consider wonder realize realise notice discover step base locate headquarter
situate live-stream stream snore bark purr fetch crash burn paste wait laugh cry smile mix misspeak kid joke
intern freelance consult contract mentor coach tutor lecture substitute moderate chair host co-lead commission sponsor
listen pray nap shower brush floss fast shop barbecue grill foster practise rehearse brew attend
doubt suspect reckon insist hint gather pretend act reach contact propose emigrate immigrate accept achieve advise appoint assemble assign assist attach
communicate complain concentrate conduct configure connect construct contribute cultivate dedicate define
demonstrate deny destroy detect develop devote digitize disagree edit educate eliminate embrace enable encourage
engage enter entertain establish evaluate examine expire extend greet hesitate ignore impress improve increase
inform inherit inject inspire install insure integrate introduce invent invite involve memorize mend negotiate
observe obtain occupy operate oppose outsource participate persuade predict prevent protect prove qualify react
rebrand receive recognize recycle reduce refuse relax represent restore restructure retrain reuse reveal seize
select shave solve strengthen suspend terrify unite unlock unpack verify vanish wander assess automate modernize
optimize simplify consolidate refinance redesign reorganize redecorate reapply push pull email mail text message cite register enrol matriculate transition convert default tend end survive recover heal relapse quit
die arrive depart remain resolve stall aspire binge decommission standardize standardise rewatch specialize specialise
analyze analyse apologize apologise argue behave browse bury collaborate confess continue convince cooperate coordinate
cope crave declare defend delegate deserve disappear emerge encounter endure ensure escape evolve exceed exist expect
fulfill google grieve imply indicate inspect interact interpret interrupt lack linger mourn notify occur onboard
originate overlook persist ponder possess preserve proceed procrastinate proofread pursue relate renew rename resist
restart socialize terminate thrive transcribe unsubscribe upload worship yell attract admire adapt adjust allow annoy
anticipate assure attempt await bathe beg breathe cease certify cheat clarify classify collapse combine comply conclude
confuse congratulate consume criticize deceive decrease determine dine disappoint dismiss download dwell elect embarrass
emphasize endorse enforce enhance equip erase escalate exaggerate exclude execute expose facilitate finalize finalise
hurry illustrate imitate implement impose incorporate infect initiate injure insert instruct intervene invade isolate
justify manufacture melt minimize modify motivate multiply navigate nominate obey offend portray prioritize prioritise
prohibit pronounce prosper punish reassure reboot recite reconsider reimburse require retrieve revise scold sneeze soothe
stare sustain telecommute tolerate transform warn whisper yearn crochet embroider snorkel windsurf rollerblade";
