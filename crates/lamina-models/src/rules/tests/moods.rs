//! What is not asserted yields nothing; what is taken back or ended says so.

use expect_test::expect;

use super::check;

#[test]
fn nothing_is_claimed() {
    check(
        "Do you live in Oslo?
         Where does Bob work?
         If I lived in Rome, I would eat gelato every day.
         I heard that Bob left Siemens.
         Bob says he moved to Oslo.
         Maybe I should move to Oslo.
         I wish I had a boat.
         She wrote \"I live in Rome\" on the card.
         Tell me a joke about dogs who live in Paris.
         Just kidding, I'm a pilot.
         Thanks, that was great!
         I could use a coffee.
         Imagine we had 400 users.
         According to Eve, Falcon is cancelled.
         Jane lives in Oslo, I was told.
         It's not true that Maria works at Acme.
         It isn't true that Maria works at Acme.
         Jane denied that she works at Acme.
         Tom works at Acme or Initech.
         Bob likes neither tea nor coffee.
         Neither my wife nor I like fish.
         Alice and Bob live in Rome and Oslo respectively.
         I almost bought a Tesla.
         Summarize: Tom works at Google and lives in Zurich.
         I doubt that Eva speaks Greek.
         You are a helpful assistant.
         People think I'm Italian.
         My horoscope says I'll be rich.
         Everyone loves pizza.
         The movie was three hours long.
         Let's meet at 5, I can send you the file tomorrow.
         I have no idea, I'm just looking.
         I read an article about a man who lives in a cave and has 40 cats.
         This book is about a girl called Lyra who lives in Oxford.",
        expect![[r#"
            Do you live in Oslo?
            Where does Bob work?
            If I lived in Rome, I would eat gelato every day.
            I heard that Bob left Siemens.
            Bob says he moved to Oslo.
            Maybe I should move to Oslo.
            I wish I had a boat.
            She wrote "I live in Rome" on the card.
            Tell me a joke about dogs who live in Paris.
            Just kidding, I'm a pilot.
            Thanks, that was great!
            I could use a coffee.
            Imagine we had 400 users.
            According to Eve, Falcon is cancelled.
            Jane lives in Oslo, I was told.
            It's not true that Maria works at Acme.
            It isn't true that Maria works at Acme.
            Jane denied that she works at Acme.
            Tom works at Acme or Initech.
            Bob likes neither tea nor coffee.
            Neither my wife nor I like fish.
            Alice and Bob live in Rome and Oslo respectively.
            I almost bought a Tesla.
            Summarize: Tom works at Google and lives in Zurich.
            I doubt that Eva speaks Greek.
            You are a helpful assistant.
            People think I'm Italian.
            My horoscope says I'll be rich.
            Everyone loves pizza.
            The movie was three hours long.
            Let's meet at 5, I can send you the file tomorrow.
            I have no idea, I'm just looking.
            I read an article about a man who lives in a cave and has 40 cats.
            This book is about a girl called Lyra who lives in Oxford.
        "#]],
    );
}

#[test]
fn corrections() {
    check(
        "Actually, I live in Bergen.
         Correction: Initrode has 250 seats.
         Sorry, I meant Friday. The demo is on Friday.
         I misspoke, my brother's name is Per.",
        expect![[r#"
            Actually, I live in Bergen.
                user:ann lives_in [Bergen] (corrects)
            Correction: Initrode has 250 seats.
                [Initrode] count:seats 250 (corrects)
            Sorry, I meant Friday. The demo is on Friday.
                [demo] scheduled_for 2025-03-14 (corrects)
            I misspoke, my brother's name is Per.
                user:ann sibling [Per] (corrects)
        "#]],
    );
}

#[test]
fn pronouns_are_resolved_only_when_one_is_meant() {
    check(
        "Petra works at Siemens. She lives in Ulm.
         Petra met Lena. She lives in Ulm.
         My brother is a chef and he plays the drums.
         He lives in Ulm.
         Falcon is a crawler, it uses Redis.",
        expect![[r#"
            Petra works at Siemens. She lives in Ulm.
                [Petra] works_at [Siemens]
                [Petra] lives_in [Ulm]
            Petra met Lena. She lives in Ulm.
            My brother is a chef and he plays the drums.
                user:ann/brother role "chef"
                user:ann/brother plays "drums"
            He lives in Ulm.
            Falcon is a crawler, it uses Redis.
                [Falcon] is_a "crawler"
                [Falcon] uses [Redis]
        "#]],
    );
}
