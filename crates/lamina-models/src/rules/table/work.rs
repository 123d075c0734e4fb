//! Work: employers and roles, teams, projects, deals, tools, dates.

use crate::rules::pattern::{
    Aspect, Means, Row, Slot, Who, among, ends, ends_unnamed, is, nth, of,
};

const fn row(says: &'static str, who: Who, aspect: Aspect, means: &'static [Means]) -> Row {
    Row { says, who, aspect, means }
}

use Aspect::{Begin, End, Event, Fact, Plan, State};
use Who::{Anyone, Person, Thing};

/// The speaker's side uses it, whatever the subject is.
const WE_USE: Means =
    Means { predicate: "uses", subject: Slot::Speaker, object: Slot::Subject, ends: false };
const WE_USED: Means =
    Means { predicate: "uses", subject: Slot::Speaker, object: Slot::Taken(0), ends: true };

/// Whoever had the office before has it no more.
const LEAVES_OFFICE: Means =
    Means { predicate: "role", subject: Slot::Taken(0), object: Slot::Taken(1), ends: true };

/// The deal "closed": the verb is the state.
const BY_VERB: Means =
    Means { predicate: "status", subject: Slot::Subject, object: Slot::Verb, ends: false };

pub(super) const ROWS: &[Row] = &[
    // Ownership of work.
    row("own <the>", Person, State, &[of("owner")]),
    row("be responsible|accountable for <the>", Person, State, &[of("owner")]),
    row("be in charge of <the>", Person, State, &[of("owner")]),
    row("be the|a? new|current? owner of <the>", Person, State, &[of("owner")]),
    row(
        "take over <the> from <person>",
        Person,
        Begin,
        &[
            of("owner"),
            Means {
                predicate: "owner",
                subject: Slot::Taken(0),
                object: Slot::Taken(1),
                ends: true,
            },
        ],
    ),
    row("take over from <person> as <role>", Person, Begin, &[nth("role", 1), LEAVES_OFFICE]),
    row(
        "take over as <role> from <person>",
        Person,
        Begin,
        &[
            is("role"),
            Means {
                predicate: "role",
                subject: Slot::Taken(1),
                object: Slot::Taken(0),
                ends: true,
            },
        ],
    ),
    row("replace|succeed <person> as <role>", Person, Begin, &[nth("role", 1), LEAVES_OFFICE]),
    row("hand|pass <the> over|on|off to <person>", Person, Begin, &[among("owner", 0, 1)]),
    row("hand|pass over|on|off <the> to <person>", Person, Begin, &[among("owner", 0, 1)]),
    row("take over|on ownership|responsibility of|for <the>", Person, Begin, &[of("owner")]),
    row("take over <the>", Person, Begin, &[of("owner")]),
    row("be taking over <the>", Person, Begin, &[of("owner")]),
    row("be owned by <person>", Thing, State, &[is("owner")]),
    row("belong to <person>", Thing, State, &[is("owner")]),
    // Employers and roles.
    row(
        "be a|an|the|our? <role> at|for|with|of <org>",
        Person,
        State,
        &[is("role"), nth("works_at", 1)],
    ),
    row("be employed as <role> at|by|with <org>", Person, State, &[is("role"), nth("works_at", 1)]),
    row("be employed at|by|with <org>", Person, State, &[is("works_at")]),
    row(
        "work nights|days|shifts|weekends|mornings|evenings at|for <org> as <role>",
        Person,
        State,
        &[is("works_at"), nth("role", 1)],
    ),
    row(
        "work nights|days|shifts|weekends|mornings|evenings at|for <org>",
        Person,
        State,
        &[is("works_at")],
    ),
    row("work as <role> at|for|with <org>", Person, State, &[is("role"), nth("works_at", 1)]),
    row("work at|for|with <org> as <role>", Person, State, &[is("works_at"), nth("role", 1)]),
    row(
        "start|begin work|working|job? as <role> at|for|with <org>",
        Person,
        Begin,
        &[is("role"), nth("works_at", 1)],
    ),
    row("join <team> at <org>", Person, Begin, &[is("member_of"), nth("works_at", 1)]),
    row("join <team> as <role>", Person, Begin, &[is("member_of"), nth("role", 1)]),
    row("join <team>", Person, Begin, &[is("member_of")]),
    row("join <org> as <role>", Person, Begin, &[is("works_at"), nth("role", 1)]),
    row("join <org>", Person, Begin, &[is("works_at")]),
    row("work|freelance|consult|volunteer as <role>", Person, State, &[is("role")]),
    row("be at|with <employer>", Person, State, &[is("works_at")]),
    row("work in <noun> at|for|with <org>", Person, State, &[nth("works_at", 1)]),
    row("work at|for <org>", Person, State, &[is("works_at")]),
    row("start|begin working|work at|for <org>", Person, Begin, &[is("works_at")]),
    row(
        "start|begin a|my? new? job|role|position? at|with <org>",
        Person,
        Begin,
        &[is("works_at")],
    ),
    row("start|begin as <role>", Person, Begin, &[is("role")]),
    row("intern|freelance|consult at|for|with <org>", Person, State, &[is("works_at")]),
    row(
        "get|land|take a|the|my? new? job|position|gig|internship at|with <org>",
        Person,
        Begin,
        &[is("works_at")],
    ),
    row("have a? new? job at|with <org>", Person, State, &[is("works_at")]),
    row("get|be hired by|at <org>", Person, Begin, &[is("works_at")]),
    row("get|be hired as <role>", Person, Begin, &[is("role")]),
    row("get|be fired|let|laid go|off? from|by|at <org>", Person, End, &[ends("works_at", 0)]),
    row(
        "leave|quit my|his|her|the? job|position|role? at|with <org>",
        Person,
        End,
        &[ends("works_at", 0)],
    ),
    row("resign|retire|depart from? <org>", Person, End, &[ends("works_at", 0)]),
    row("stop working at|for <org>", Person, End, &[ends("works_at", 0)]),
    row("leave <team>", Person, End, &[ends("member_of", 0)]),
    row("stop|quit|give up? playing <playable>", Person, End, &[ends("plays", 0)]),
    row("stop|quit learning|studying <noun>", Person, End, &[ends("studies", 0)]),
    row("quit <gerund>", Person, End, &[ends("habit", 0)]),
    row("leave|quit <employer>", Person, End, &[ends("works_at", 0)]),
    row("be unemployed|jobless", Person, End, &[ends_unnamed("works_at")]),
    row("be between jobs", Person, End, &[ends_unnamed("works_at")]),
    row("be out of work", Person, End, &[ends_unnamed("works_at")]),
    row("lose my|his|her job", Person, End, &[ends_unnamed("works_at")]),
    row("quit my|his|her job <nothing>", Person, End, &[ends_unnamed("works_at")]),
    row("get|be promoted to|as <role>", Person, Begin, &[is("role")]),
    row("get|be appointed|elected|named as? <role>", Person, Begin, &[is("role")]),
    row("become <role> at|of|for <org>", Person, Begin, &[is("role"), nth("works_at", 1)]),
    row("become <role>", Person, Begin, &[is("role")]),
    row("report directly? to <person>", Person, State, &[is("reports_to")]),
    row(
        "manage|lead|head|supervise|run|oversee|co-lead|coach|chair <team>",
        Person,
        State,
        &[is("manages")],
    ),
    row("manage|supervise|lead|head <person>", Person, State, &[is("manages")]),
    row("head up <team>", Person, State, &[is("manages")]),
    row("be in? charge of <team>", Person, State, &[is("manages")]),
    row("be on|in|part|with of? <team>", Person, State, &[is("member_of")]),
    row(
        "be a|an? active|founding|core|board? member of|at <org>",
        Person,
        State,
        &[is("member_of")],
    ),
    row("be a? part of <team>", Person, State, &[is("member_of")]),
    row("belong to <team>", Person, State, &[is("member_of")]),
    row("work on|in <team>", Person, State, &[is("member_of")]),
    row("found|co-found|cofound <org>", Person, Fact, &[is("founded")]),
    row(
        "start|found|launch|set up? a|my|our? own|small|new? company|startup|business|agency|studio called|named <org>",
        Person,
        Fact,
        &[is("founded")],
    ),
    row("be a|the? founder|co-founder|cofounder of|at <org>", Person, State, &[is("founded")]),
    // Learning.
    row("study <noun> at <org>", Person, State, &[is("studies"), nth("studied_at", 1)]),
    row("study at <org>", Person, Fact, &[is("studied_at")]),
    row("graduate from|at <org>", Person, Fact, &[is("studied_at")]),
    row("attend <school>", Person, Fact, &[is("studied_at")]),
    row("go to <school>", Person, Fact, &[is("studied_at")]),
    row("major in <noun>", Person, State, &[is("studies")]),
    row("study <noun>", Person, State, &[is("studies")]),
    row(
        "do a|my|his|her? phd|doctorate|master|masters|degree|bachelor|bachelors|mba 's? in <noun> at <org>",
        Person,
        State,
        &[is("studies"), nth("studied_at", 1)],
    ),
    row(
        "finish|get|have|hold|earn a|an|my|his|her? phd|doctorate|master|masters|degree|bachelor|bachelors|mba 's? in <noun> at|from <org>",
        Person,
        Fact,
        &[nth("studied_at", 1)],
    ),
    row(
        "do a|my|his|her? phd|doctorate|master|masters|degree|bachelor|bachelors|mba 's? in <noun>",
        Person,
        State,
        &[is("studies")],
    ),
    // Dates.
    row("be due by|on|at? <due>", Thing, State, &[is("deadline")]),
    row("be due back|in? by|on? <due>", Thing, State, &[is("deadline")]),
    row(
        "must|be submitted|finished|done|delivered|ready|completed|sent|handed|filed|in|out in|out|over? by|before? <due>",
        Thing,
        State,
        &[is("deadline")],
    ),
    row(
        "be scheduled|planned|booked|set|slated|rescheduled for|on|to <date>",
        Thing,
        State,
        &[is("scheduled_for")],
    ),
    row(
        "be|get moved|postponed|pushed|rescheduled|delayed|bumped|shifted back|out|forward? to|until|till? <date>",
        Thing,
        Begin,
        &[is("scheduled_for")],
    ),
    row("move to <date>", Thing, Begin, &[is("scheduled_for")]),
    row("take place on|at? <date>", Thing, State, &[is("scheduled_for")]),
    row("happen on|at? <date>", Thing, State, &[is("scheduled_for")]),
    row("start|begin on|at? <date>", Thing, State, &[is("scheduled_for")]),
    row(
        "have <occasion> with|at|in|about|for <noun> on|at? <date>",
        Person,
        State,
        &[among("scheduled_for", 0, 2)],
    ),
    row("have <occasion> on|at? <date>", Person, State, &[among("scheduled_for", 0, 1)]),
    row("be on|at? <date>", Thing, State, &[is("scheduled_for")]),
    // Versions.
    row("be on|at|running|using|to version|release? <version>", Thing, State, &[is("version")]),
    row("be on|running|using <release>", Anyone, State, &[is("version")]),
    row("run on? version <version>", Thing, State, &[is("version")]),
    row("run|use on? <release>", Anyone, State, &[is("version")]),
    row(
        "upgrade|update|bump|downgrade|migrate|move|switch|go from <release> to <release>",
        Anyone,
        Begin,
        &[nth("version", 1)],
    ),
    row(
        "upgrade|update|bump|downgrade|migrate|move|switch|go to <release>",
        Anyone,
        Begin,
        &[is("version")],
    ),
    row(
        "upgrade|update|bump|downgrade <tool> from <version> to version? <version>",
        Anyone,
        Begin,
        &[among("version", 0, 2)],
    ),
    row(
        "upgrade|update|bump|downgrade <tool> to version? <version>",
        Anyone,
        Begin,
        &[among("version", 0, 1)],
    ),
    row(
        "be|get upgraded|updated|bumped|downgraded from? <version> to version? <version>",
        Thing,
        Begin,
        &[nth("version", 1)],
    ),
    row(
        "be|get upgraded|updated|bumped|downgraded to version? <version>",
        Thing,
        Begin,
        &[is("version")],
    ),
    row("release|ship|launch|reach|hit version? <version>", Thing, Begin, &[is("version")]),
    row("release|ship|launch|deploy <release>", Anyone, Begin, &[is("version")]),
    // Hosts.
    row("run|live on|at <host>", Thing, State, &[is("runs_on")]),
    row("be running|hosted|deployed on|at|in|to <host>", Thing, State, &[is("runs_on")]),
    row("be on <host>", Thing, State, &[is("runs_on")]),
    // Tools.
    row(
        "migrate|switch|change|transition|convert|move over? from <tool> to <tool>",
        Anyone,
        Begin,
        &[nth("uses", 1), ends("uses", 0)],
    ),
    row(
        "migrate|switch|change|transition over? to <tool> from <tool>",
        Anyone,
        Begin,
        &[is("uses"), ends("uses", 1)],
    ),
    row(
        "migrate|switch|change|transition|convert over? to <tool> instead of <tool>",
        Anyone,
        Begin,
        &[is("uses"), ends("uses", 1)],
    ),
    row(
        "migrate|switch|change|transition|convert|move over? to <tool>",
        Anyone,
        Begin,
        &[is("uses")],
    ),
    row(
        "migrate|switch|move off <tool> and? onto|to <tool>",
        Anyone,
        Begin,
        &[nth("uses", 1), ends("uses", 0)],
    ),
    row("migrate|switch|move off of? <tool>", Anyone, End, &[ends("uses", 0)]),
    row("migrate|switch|move away|off? from|of <tool>", Anyone, End, &[ends("uses", 0)]),
    row(
        "replace|swap <tool> with|by|for <tool>",
        Anyone,
        Begin,
        &[nth("uses", 1), ends("uses", 0)],
    ),
    row(
        "ditch|drop|abandon|leave <tool> in favor|favour of <tool>",
        Anyone,
        Begin,
        &[nth("uses", 1), ends("uses", 0)],
    ),
    row(
        "ditch|drop|abandon|swap <tool> for <tool>",
        Anyone,
        Begin,
        &[nth("uses", 1), ends("uses", 0)],
    ),
    row("replace <tool>", Thing, Begin, &[WE_USE, WE_USED]),
    row("use <tool> instead of <tool>", Anyone, Begin, &[is("uses"), ends("uses", 1)]),
    row("get rid of <tool>", Anyone, End, &[ends("uses", 0)]),
    row("stop|quit using <tool>", Anyone, End, &[ends("uses", 0)]),
    row("ditch|abandon|retire|decommission <tool>", Anyone, End, &[ends("uses", 0)]),
    row("start using <tool>", Anyone, Begin, &[is("uses")]),
    row("use|adopt <tool>", Anyone, State, &[is("uses")]),
    row("rely|standardize|standardise|run on <tool>", Anyone, State, &[is("uses")]),
    row("be built|running|hosted|written on|with|in <tool>", Thing, State, &[is("uses")]),
    // Numbers.
    row("have|own|employ <count>", Anyone, State, &[is("count:")]),
    row(
        "grow|go|expand|move|increase|shrink|drop|jump|be|reduce|scale|upgrade|downgrade|rise|fall|cut up|down|back? from <count> to <count>",
        Thing,
        Begin,
        &[nth("count:", 1)],
    ),
    row(
        "grow|go|expand|move|increase|shrink|drop|jump|be|reduce|scale|upgrade|downgrade|rise|fall|cut up|down|back? from <numeral> to <count>",
        Thing,
        Begin,
        &[nth("count:", 1)],
    ),
    row(
        "grow|go|expand|move|increase|shrink|drop|jump|be|reduce|scale|upgrade|downgrade|rise|fall|cut up|down|back? to|at <count>",
        Thing,
        Begin,
        &[is("count:")],
    ),
    row("be up|down|back to|at <count>", Anyone, Begin, &[is("count:")]),
    row("cost me|us? <money>", Thing, State, &[is("price")]),
    row("be priced at <money>", Thing, State, &[is("price")]),
    row("be <money> per|a|each <noun>", Thing, State, &[is("price")]),
    row(
        "have a|an|our|the? total|annual|marketing|yearly? budget of <money>",
        Anyone,
        State,
        &[is("budget")],
    ),
    row(
        "have|make|generate|earn a|an? annual? revenue of <money>",
        Anyone,
        Event,
        &[is("revenue")],
    ),
    row("make|generate <money> in revenue", Anyone, Event, &[is("revenue")]),
    // Places of things.
    row(
        "move|relocate from <known> to <place>",
        Thing,
        Begin,
        &[nth("located_in", 1), ends("located_in", 0)],
    ),
    row("be in <visited>", Thing, State, &[is("located_in")]),
    row(
        "be headquartered|located|situated|based in|at|near|out <place>",
        Thing,
        State,
        &[is("located_in")],
    ),
    row(
        "have its|their|our|a|an? main|head|second|new? headquarters|hq|office in <place>",
        Thing,
        State,
        &[is("located_in")],
    ),
    // Decisions.
    row("decide|choose|agree|opt|resolve to <activity>", Anyone, Event, &[is("decided")]),
    row("decide|settle|agree on <noun>", Anyone, Event, &[is("decided")]),
    // State of things.
    row("be|get|remain|become <status>", Thing, Begin, &[is("status")]),
    row("go <status>", Thing, Begin, &[is("status")]),
    row("put|place <the> <status>", Anyone, Begin, &[among("status", 0, 1)]),
    row("close|ship|launch|fail|stall|slip|finish|land <nothing>", Thing, Begin, &[BY_VERB]),
    row("fall through|apart|behind <nothing>", Thing, Begin, &[BY_VERB]),
    row("plan|intend to|on <activity>", Person, Plan, &[is("plans")]),
    row("be about to <activity>", Person, Plan, &[is("plans")]),
];
