//! What people have, like, do, can, fear and suffer from.

use crate::rules::pattern::{Aspect, Means, Row, Who, among, ends, is, nth};

const fn row(says: &'static str, who: Who, aspect: Aspect, means: &'static [Means]) -> Row {
    Row { says, who, aspect, means }
}

use Aspect::{Begin, End, Event, State};
use Who::{Anyone, Person};

pub(super) const ROWS: &[Row] = &[
    // Health.
    row("be allergic to <noun>", Person, State, &[is("allergic_to")]),
    row(
        "have a|an? severe|bad|mild|serious|strong|slight|nut|food? allergy|allergies to <noun>",
        Person,
        State,
        &[is("allergic_to")],
    ),
    row(
        "have a|an? severe|bad|mild|serious|strong|slight|nasty|terrible? <allergen> allergy|allergies",
        Person,
        State,
        &[is("allergic_to")],
    ),
    row("have a|an? intolerance to|for <noun>", Person, State, &[is("condition")]),
    row("be diagnosed with|as <condition>", Person, Begin, &[is("condition")]),
    row("get diagnosed with|as <condition>", Person, Begin, &[is("condition")]),
    row("be diagnosed with <noun>", Person, Begin, &[is("condition")]),
    row("get diagnosed with <noun>", Person, Begin, &[is("condition")]),
    row("suffer from|with <noun>", Person, State, &[is("condition")]),
    row("live|struggle|deal with <condition>", Person, State, &[is("condition")]),
    row("have|get|develop <condition>", Person, State, &[is("condition")]),
    row("be <condition>", Person, State, &[is("condition")]),
    row("take|use <medicine>", Person, State, &[is("medication")]),
    row("be taking <medicine>", Person, State, &[is("medication")]),
    row("be on|prescribed|taking <medicine>", Person, State, &[is("medication")]),
    row("put|start <person> on <medicine>", Anyone, Begin, &[among("medication", 0, 1)]),
    row("prescribe <person> <medicine>", Anyone, Begin, &[among("medication", 0, 1)]),
    row("get|be put|prescribed on? <medicine>", Person, Begin, &[is("medication")]),
    row("start taking|on? <medicine>", Person, Begin, &[is("medication")]),
    row("stop|quit taking|using? <medicine>", Person, End, &[ends("medication", 0)]),
    row("come|go off <medicine>", Person, End, &[ends("medication", 0)]),
    row("be a|an|on|strictly? <diet>", Person, State, &[is("diet")]),
    row("go|turn|become|eat a|an? <diet>", Person, Begin, &[is("diet")]),
    row("keep|follow|eat a|an|on? strict|strictly? <diet>", Person, State, &[is("diet")]),
    row("stop being|eating <diet>", Person, End, &[ends("diet", 0)]),
    row("quit|stop <gerund>", Person, End, &[ends("habit", 0)]),
    row("give up <gerund>", Person, End, &[ends("habit", 0)]),
    row("have a? deep|huge|real|mortal? fear|phobia of <noun>", Person, State, &[is("fears")]),
    // Possessions.
    row("drive a|an|my|the <name>", Person, State, &[is("drives")]),
    row("sell my|our|the|his|her <noun> to <person>", Person, End, &[ends("owns", 0)]),
    row("lose|donate my|our|his|her <sold>", Person, End, &[ends("owns", 0)]),
    row("sell my|our|the|his|her <sold>", Person, End, &[ends("owns", 0)]),
    row("give away my|our|the|his|her <sold>", Person, End, &[ends("owns", 0)]),
    row("get rid of my|our|the|his|her <sold>", Person, End, &[ends("owns", 0)]),
    row("buy|purchase|acquire myself|ourselves? <owned>", Person, Begin, &[is("owns")]),
    row("get myself|ourselves? <bought>", Person, Begin, &[is("owns")]),
    row("own <owned>", Person, State, &[is("owns")]),
    row("have <had>", Person, State, &[is("owns")]),
    // Likes.
    row("like|love|enjoy|adore <liked>", Person, State, &[is("likes")]),
    row(
        "be a|an? big|huge|massive|great|real|lifelong|die-hard? fan of <liked>",
        Person,
        State,
        &[is("likes")],
    ),
    row("be fond of <liked>", Person, State, &[is("likes")]),
    row("be crazy|passionate|mad|nuts about <liked>", Person, State, &[is("likes")]),
    row("be keen on <liked>", Person, State, &[is("likes")]),
    row("be big? into <liked>", Person, State, &[is("likes")]),
    row("be obsessed with <liked>", Person, State, &[is("likes")]),
    row("hate|dislike|detest|loathe|despise <liked>", Person, State, &[is("dislikes")]),
    row("stand|bear <liked>", Person, State, &[is("dislikes")]),
    row("be sick of <liked>", Person, State, &[is("dislikes")]),
    row(
        "prefer to be addressed|spoken|answered to? in <language>",
        Person,
        State,
        &[is("language")],
    ),
    row("prefer being addressed in <language>", Person, State, &[is("language")]),
    row("prefer <preferred>", Person, State, &[is("prefers")]),
    row("be afraid|scared|terrified|frightened|petrified of <noun>", Person, State, &[is("fears")]),
    row("fear <noun>", Person, State, &[is("fears")]),
    // Abilities.
    row("speak <language>", Person, State, &[is("speaks")]),
    row("be fluent|conversational|proficient in <language>", Person, State, &[is("speaks")]),
    row("be fluent|proficient|skilled|experienced in|with <skill>", Person, State, &[is("skill")]),
    row(
        "be good|great|excellent|decent|skilled|amazing|brilliant|talented|terrific at <skill>",
        Person,
        State,
        &[is("skill")],
    ),
    row("know|code|program in? <software>", Person, State, &[is("skill")]),
    row("know how to <activity>", Person, State, &[is("skill")]),
    row("play <playable>", Person, State, &[is("plays")]),
    // Doings.
    row("finish reading <title>", Person, Event, &[is("read")]),
    row("read <title>", Person, Event, &[is("read")]),
    row("be reading <title>", Person, State, &[is("read")]),
    row("watch|rewatch|binge <title>", Person, Event, &[is("watched")]),
    row("finish watching <title>", Person, Event, &[is("watched")]),
    row("visit <visited>", Person, Event, &[is("visited")]),
    row("go|travel|fly|drive to <visited>", Person, Event, &[is("visited")]),
    row("be to|in <visited>", Person, Event, &[is("visited")]),
    row("spend <stay> in <visited>", Person, Event, &[nth("visited", 1)]),
    // Goals.
    row("want|hope|aim|aspire|dream to <goal>", Person, State, &[is("goal")]),
    row("have a? goal|dream of <gerund>", Person, State, &[is("goal")]),
    row("plan on <activity>", Anyone, Aspect::Plan, &[is("plans")]),
];
