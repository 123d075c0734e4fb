//! Who people are, where they live, whom they belong to.

use crate::rules::pattern::{Aspect, Row, Who, ends, ends_unnamed, is, nth};

const fn row(
    says: &'static str,
    who: Who,
    aspect: Aspect,
    means: &'static [crate::rules::pattern::Means],
) -> Row {
    Row { says, who, aspect, means }
}

use Aspect::{Begin, End, Fact, State};
use Who::{Person, Somebody};

pub(super) const ROWS: &[Row] = &[
    // Identity.
    row("be called|named <name> <nothing>", Person, State, &[is("name")]),
    row("be also|better known as <name>", Person, State, &[is("alias")]),
    row("be known as <name>", Person, State, &[is("alias")]),
    row("go by <name>", Person, State, &[is("alias")]),
    row("be|stand <height>", Person, State, &[is("height")]),
    row("be <age>", Person, State, &[is("age")]),
    row("turn <age>", Person, Begin, &[is("age")]),
    row("be turning <age>", Person, Begin, &[is("age")]),
    row("be aged <age>", Person, State, &[is("age")]),
    row("weigh <quantity>", Person, State, &[is("weight")]),
    row("be born on|in? <birthday> in <place>", Person, Fact, &[is("born_on"), nth("born_in", 1)]),
    row("be born in <place> on|in? <birthday>", Person, Fact, &[is("born_in"), nth("born_on", 1)]),
    row("be born on|in? <birthday>", Person, Fact, &[is("born_on")]),
    row("be born and raised in <place>", Person, Fact, &[is("born_in"), is("from")]),
    row("be born in|near <place>", Person, Fact, &[is("born_in")]),
    row("be raised in <place>", Person, Fact, &[is("from")]),
    row("grow up in|near <place>", Person, Fact, &[is("from")]),
    row("be from <place>", Person, State, &[is("from")]),
    row("come from <place>", Person, State, &[is("from")]),
    row("hail from <place>", Person, State, &[is("from")]),
    row("be a|an? <nationality>", Person, State, &[is("nationality")]),
    row(
        "have|hold a|an|the? <nationality> passport|citizenship|nationality",
        Person,
        State,
        &[is("nationality")],
    ),
    row("be a|an? practicing|practising|devout? <religion>", Person, State, &[is("religion")]),
    row("convert to <religion>", Person, Begin, &[is("religion")]),
    // Where one goes to work: a company or a team is no place to live in.
    row(
        "move|switch|transfer|go back|over|across|on? from <firm> to <org>",
        Person,
        Begin,
        &[nth("works_at", 1), ends("works_at", 0)],
    ),
    row(
        "move|switch|transfer|go back|over|across|on? from <org> to <firm>",
        Person,
        Begin,
        &[nth("works_at", 1), ends("works_at", 0)],
    ),
    row(
        "move|switch|transfer back|over|across|on? to <firm> from <org>",
        Person,
        Begin,
        &[is("works_at"), ends("works_at", 1)],
    ),
    row(
        "move|switch|transfer back|over|across|on? to <firm> as <role>",
        Person,
        Begin,
        &[is("works_at"), nth("role", 1)],
    ),
    row("move|switch|transfer back|over|across|on? to <firm>", Person, Begin, &[is("works_at")]),
    row(
        "move|switch|transfer back|over|across|on? from <team> to <team>",
        Person,
        Begin,
        &[nth("member_of", 1), ends("member_of", 0)],
    ),
    row("move|switch|transfer back|over|across|on? to <team>", Person, Begin, &[is("member_of")]),
    // Residence.
    row("live|reside|settle in|near|at <place>", Person, State, &[is("lives_in")]),
    row("live with <person> in <place>", Person, State, &[nth("lives_in", 1)]),
    row(
        "move|relocate back|over|out|away|house|together? from <place> to <place>",
        Person,
        Begin,
        &[nth("lives_in", 1), ends("lives_in", 0)],
    ),
    row(
        "move|relocate back|over|out|away|house|together? to <place> from <place>",
        Person,
        Begin,
        &[is("lives_in"), ends("lives_in", 1)],
    ),
    row("move|relocate back|over|out|together? to <place>", Person, Begin, &[is("lives_in")]),
    row("move in together|with? <person> in <place>", Person, Begin, &[nth("lives_in", 1)]),
    row("move in together? in <place>", Person, Begin, &[is("lives_in")]),
    row("move|relocate into <noun> in|near <place>", Person, Begin, &[nth("lives_in", 1)]),
    row("move|relocate out|away of <place>", Person, End, &[ends("lives_in", 0)]),
    row("leave <known>", Person, End, &[ends("lives_in", 0)]),
    row("move|relocate away? from <place>", Person, End, &[ends("lives_in", 0)]),
    row("be living in|at|near|out <place>", Person, State, &[is("lives_in")]),
    row("be living out of <place>", Person, State, &[is("lives_in")]),
    row("be based|located in|at|near|out <place>", Somebody, State, &[is("lives_in")]),
    row("be based out of <place>", Somebody, State, &[is("lives_in")]),
    row("leave <place> for <place>", Person, Begin, &[nth("lives_in", 1), ends("lives_in", 0)]),
    // Bonds.
    row("be happily? married to <person>", Person, State, &[is("spouse")]),
    row("marry <person>", Person, Begin, &[is("spouse")]),
    row("get married to <person>", Person, Begin, &[is("spouse")]),
    row("divorce <person>", Person, End, &[ends("spouse", 0)]),
    row("get divorced from <person>", Person, End, &[ends("spouse", 0)]),
    row("be divorced from <person>", Person, End, &[ends("spouse", 0)]),
    row("get divorced", Person, End, &[ends_unnamed("spouse")]),
    row("separate from <person>", Person, End, &[ends("spouse", 0)]),
    row("date <person>", Person, State, &[is("partner")]),
    row("be engaged to <person>", Person, State, &[is("partner")]),
    row("get engaged to <person>", Person, Begin, &[is("partner")]),
    row("be dating <person>", Person, State, &[is("partner")]),
    row("go out with <person>", Person, State, &[is("partner")]),
    row("break up with <person>", Person, End, &[ends("partner", 0)]),
    row("split up? with|from <person>", Person, End, &[ends("partner", 0)]),
    row("be friends with <person>", Person, State, &[is("friend")]),
    row("be neighbors|neighbours with <person>", Person, State, &[is("neighbor")]),
    row("have a|an? <pet>", Person, State, &[is("pet")]),
    row("have|get|adopt|rescue|own|buy <pet>", Person, Begin, &[is("pet")]),
];
