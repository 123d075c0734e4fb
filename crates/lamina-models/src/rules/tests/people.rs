//! Identity, residence, family and bonds.

use expect_test::expect;

use super::{check, read};

#[test]
fn identity() {
    check(
        "Hey there, I'm Ann Meyer and I'm 29.
         My name is Ann, but everyone calls me Annie.
         My email is ann@meyer.dev and my phone number is 0151 2345 6789.
         I am Norwegian and I was born in Bergen.
         My birthday is on 7 July.
         I'm 1.75 m tall and I weigh 64 kg.
         My pronouns are they/them.
         She turned 40 last month.
         I was born on 3 May 1990.
         My Mastodon handle is annm.
         hey, it's Marta here
         you can reach me at ann@meyer.dev
         people call me Flip
         Call me Sam.",
        expect![[r#"
            Hey there, I'm Ann Meyer and I'm 29.
                user:ann name "Ann Meyer"
                user:ann age 29
            My name is Ann, but everyone calls me Annie.
                user:ann name "Ann"
                user:ann alias "Annie"
            My email is ann@meyer.dev and my phone number is 0151 2345 6789.
                user:ann email "ann@meyer.dev"
                user:ann phone "0151 2345 6789"
            I am Norwegian and I was born in Bergen.
                user:ann nationality "Norwegian"
                user:ann born_in [Bergen]
            My birthday is on 7 July.
                user:ann birthday --07-07
            I'm 1.75 m tall and I weigh 64 kg.
                user:ann height 1.75 m
                user:ann weight 64 kg
            My pronouns are they/them.
                user:ann pronouns "they/them"
            She turned 40 last month.
            I was born on 3 May 1990.
                user:ann born_on 1990-05-03
            My Mastodon handle is annm.
                user:ann account "annm"
            hey, it's Marta here
                user:ann name "Marta"
            you can reach me at ann@meyer.dev
                user:ann email "ann@meyer.dev"
            people call me Flip
                user:ann alias "Flip"
            Call me Sam.
                user:ann name "Sam"
        "#]],
    );
}

#[test]
fn residence() {
    check(
        "I live in Oslo.
         We moved from Rome to Oslo in January.
         I've been living in Ghent since 2021.
         I used to live in Porto.
         My sister Eva lives in Bern.
         I'm originally from Cork but I'm based in Lyon now.
         I live in a small flat.
         She lives in New York.",
        expect![[r#"
            I live in Oslo.
                user:ann lives_in [Oslo]
            We moved from Rome to Oslo in January.
                user:ann lives_in [Oslo] from 2025-01-01
                user:ann lives_in [Rome] to 2025-01-01 (ends)
            I've been living in Ghent since 2021.
                user:ann lives_in [Ghent] from 2021-01-01
            I used to live in Porto.
                user:ann lives_in [Porto] to 2025-03-12 (ends)
            My sister Eva lives in Bern.
                user:ann sibling [Eva]
                [Eva] lives_in [Bern]
            I'm originally from Cork but I'm based in Lyon now.
                user:ann from [Cork]
                user:ann lives_in [Lyon]
            I live in a small flat.
            She lives in New York.
        "#]],
    );
}

#[test]
fn family_and_bonds() {
    check(
        "My wife Sara works at Volvo.
         My sons Tom and Max love football.
         Bob's sister is a lawyer.
         My mother is from Turin and my father is 70.
         I'm engaged to Nils.
         Pia is my cousin.
         Tom is a friend of mine.
         My ex-husband Karl moved to Ulm.
         My boss is Ms Okafor.
         We have a cat called Milo.
         My neighbour Hilde has three cats.
         Ben and I got engaged last weekend!
         I have a daughter named Ivy who is 3.
         My brother and his wife moved to Canada in 2020.
         My ex-wife Linda lives in Graz with our son Paul.",
        expect![[r#"
            My wife Sara works at Volvo.
                user:ann spouse [Sara]
                [Sara] works_at [Volvo]
            My sons Tom and Max love football.
                user:ann child [Tom]
                user:ann child [Max]
                [Tom] likes "football"
                [Max] likes "football"
            Bob's sister is a lawyer.
                [Bob]/sister role "lawyer"
            My mother is from Turin and my father is 70.
                user:ann/mother from [Turin]
                user:ann/father age 70
            I'm engaged to Nils.
                user:ann partner [Nils]
            Pia is my cousin.
                user:ann relative [Pia]
            Tom is a friend of mine.
                user:ann friend [Tom]
            My ex-husband Karl moved to Ulm.
                user:ann spouse [Karl] (ends)
                [Karl] lives_in [Ulm]
            My boss is Ms Okafor.
                user:ann reports_to [Ms Okafor]
            We have a cat called Milo.
                user:ann pet [Milo]
                [Milo] is_a "cat"
            My neighbour Hilde has three cats.
                user:ann neighbor [Hilde]
                [Hilde] count:cats 3
            Ben and I got engaged last weekend!
                user:ann partner [Ben] from 2025-03-08
            I have a daughter named Ivy who is 3.
                user:ann child [Ivy]
                [Ivy] age 3
            My brother and his wife moved to Canada in 2020.
                user:ann/brother lives_in [Canada] from 2020-01-01
                user:ann/brother/wife lives_in [Canada] from 2020-01-01
            My ex-wife Linda lives in Graz with our son Paul.
                user:ann spouse [Linda] (ends)
                user:ann child [Paul]
                [Linda] lives_in [Graz]
        "#]],
    );
}

#[test]
fn a_company_is_based_where_it_is_and_a_person_where_they_live() {
    check(
        "Acme is based in Chicago.
         Maria is based in Lyon.
         Lena Fischer is based out of Oslo.
         Globex is based in Berlin and has 200 seats.
         I'm based in Cork.
         My sister is based in Graz.
         The startup is based in Porto.
         Zenobia is living in Rome.",
        expect![[r#"
            Acme is based in Chicago.
                [Acme] located_in [Chicago]
            Maria is based in Lyon.
                [Maria] lives_in [Lyon]
            Lena Fischer is based out of Oslo.
                [Lena Fischer] lives_in [Oslo]
            Globex is based in Berlin and has 200 seats.
                [Globex] located_in [Berlin]
                [Globex] count:seats 200
            I'm based in Cork.
                user:ann lives_in [Cork]
            My sister is based in Graz.
                user:ann/sister lives_in [Graz]
            The startup is based in Porto.
                [startup] located_in [Porto]
            Zenobia is living in Rome.
                [Zenobia] lives_in [Rome]
        "#]],
    );
}

/// Who "she" is may be known from an event before: nobody is better than the wrong one.
#[test]
fn nobody_is_meant_by_a_pronoun_that_nothing_in_the_text_explains() {
    check(
        "She works at Acme.
         He moved to Oslo.
         They live in Rome.
         It costs $40.
         Her husband works at Acme.
         His favourite colour is green.
         Sara met Eva. She lives in Rome.
         Sara is a nurse. She works at Acme.",
        expect![[r#"
            She works at Acme.
            He moved to Oslo.
            They live in Rome.
            It costs $40.
            Her husband works at Acme.
            His favourite colour is green.
            Sara met Eva. She lives in Rome.
            Sara is a nurse. She works at Acme.
                [Sara] role "nurse"
                [Sara] works_at [Acme]
        "#]],
    );
}

/// A label and its value say nothing about anybody, and a label is no name.
#[test]
fn labels_are_no_names() {
    let fragments = [
        ("Status: done", ""),
        ("Budget: 5k", ""),
        ("Owner: Bob", "Bob"),
        ("Location: Berlin", "Berlin"),
        ("Priority: high", ""),
        ("Deadline: Friday", ""),
        ("Summary: all good", ""),
        ("Acme: 200 seats", "Acme"),
    ];
    for (text, names) in fragments {
        let found = read(text);
        assert_eq!(found.claims, [], "{text}");
        let mentioned: Vec<&str> =
            found.mentions.iter().map(|mention| mention.name.as_str()).collect();
        assert_eq!(mentioned.join(" "), names, "{text}");
    }
}
