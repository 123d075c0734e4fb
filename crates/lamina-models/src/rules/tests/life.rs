//! Health, possessions, likes, habits, abilities, plans, instructions.

use expect_test::expect;

use super::check;

#[test]
fn health() {
    check(
        "I'm allergic to nuts and pollen.
         I have asthma.
         My dad was diagnosed with Parkinson's disease in 2019.
         I take ibuprofen.
         I stopped taking omeprazole.
         I'm vegan.
         I went gluten free last year.
         I don't have diabetes.
         She suffers from insomnia.",
        expect![[r#"
            I'm allergic to nuts and pollen.
                user:ann allergic_to "nuts"
                user:ann allergic_to "pollen"
            I have asthma.
                user:ann condition "asthma"
            My dad was diagnosed with Parkinson's disease in 2019.
                user:ann/dad condition "Parkinson's disease" from 2019-01-01
            I take ibuprofen.
                user:ann medication "ibuprofen"
            I stopped taking omeprazole.
                user:ann medication "omeprazole" (ends)
            I'm vegan.
                user:ann diet "vegan"
            I went gluten free last year.
                user:ann diet "gluten-free" from 2024-01-01
            I don't have diabetes.
                user:ann condition "diabetes" (not)
            She suffers from insomnia.
        "#]],
    );
}

#[test]
fn possessions_and_likes() {
    check(
        "I have a motorbike.
         I bought a Brompton last week.
         I sold my piano.
         I have a question.
         I love tea and jazz.
         I don't like olives.
         I can't stand loud music.
         My favourite colour is teal.
         I prefer trains over planes.
         I'd rather have a window seat.
         I'm afraid of heights.
         I'm a big fan of Björk.
         love hiking, hate running
         Not a big fan of cilantro tbh
         Tea is my favourite drink.
         I just got a new MacBook Pro.",
        expect![[r#"
            I have a motorbike.
                user:ann owns "motorbike"
            I bought a Brompton last week.
                user:ann owns "Brompton" from 2025-03-03
            I sold my piano.
                user:ann owns "piano" (ends)
            I have a question.
            I love tea and jazz.
                user:ann likes "tea"
                user:ann likes "jazz"
            I don't like olives.
                user:ann dislikes "olives"
            I can't stand loud music.
                user:ann dislikes "loud music"
            My favourite colour is teal.
                user:ann favorite:color "teal"
            I prefer trains over planes.
                user:ann prefers "trains"
            I'd rather have a window seat.
                user:ann prefers "window seat"
            I'm afraid of heights.
                user:ann fears "heights"
            I'm a big fan of Björk.
                user:ann likes "Björk"
            love hiking, hate running
                user:ann likes "hiking"
                user:ann dislikes "running"
            Not a big fan of cilantro tbh
                user:ann dislikes "cilantro"
            Tea is my favourite drink.
                user:ann favorite:drink "Tea"
            I just got a new MacBook Pro.
                user:ann owns "MacBook Pro"
        "#]],
    );
}

#[test]
fn habits_and_abilities() {
    check(
        "I run every morning.
         I usually swim on Mondays.
         Bob walks to work every day.
         I speak Danish and Farsi.
         I play the flute.
         I can juggle.
         I can come tomorrow.
         I'm good at chess.
         I used to play tennis.
         I stopped smoking.
         I used to smoke.
         I meditate daily.
         I know how to sail.
         I get up at 5:30 every day.
         I often listen to podcasts while cooking.",
        expect![[r#"
            I run every morning.
                user:ann habit "run every morning"
            I usually swim on Mondays.
                user:ann habit "swim on Mondays"
            Bob walks to work every day.
                [Bob] habit "walk to work every day"
            I speak Danish and Farsi.
                user:ann speaks "Danish"
                user:ann speaks "Farsi"
            I play the flute.
                user:ann plays "flute"
            I can juggle.
                user:ann skill "juggle"
            I can come tomorrow.
            I'm good at chess.
                user:ann skill "chess"
            I used to play tennis.
                user:ann plays "tennis" to 2025-03-12 (ends)
            I stopped smoking.
                user:ann habit "smoking" (ends)
            I used to smoke.
                user:ann habit "smoke" to 2025-03-12 (ends)
            I meditate daily.
                user:ann habit "meditate daily"
            I know how to sail.
                user:ann skill "sail"
            I get up at 5:30 every day.
                user:ann habit "get up at 5:30 every day"
            I often listen to podcasts while cooking.
                user:ann habit "listen to podcasts while cooking"
        "#]],
    );
}

#[test]
fn plans_goals_and_travels() {
    check(
        "I'm going to visit Lima in May.
         I'm planning to learn Welsh.
         We will migrate the database next week.
         I'm flying to Rome tomorrow.
         I want to run a marathon.
         My goal is to write a novel.
         I went to Kyoto last May.
         I visited Rome and loved it.
         I just finished reading Dune.
         We watched Alien yesterday.
         I might visit Peru.
         I'm going to Vienna for the weekend.
         My plan is to retire at 60.
         Going to start therapy next month.
         We decided to postpone the trip until July.
         I prefer short answers, if possible.",
        expect![[r#"
            I'm going to visit Lima in May.
                user:ann plans "visit Lima" from 2025-05-01 to 2025-06-01
            I'm planning to learn Welsh.
                user:ann plans "learn Welsh"
            We will migrate the database next week.
                user:ann plans "migrate the database" from 2025-03-17 to 2025-03-24
            I'm flying to Rome tomorrow.
                user:ann plans "fly to Rome" from 2025-03-13
            I want to run a marathon.
                user:ann goal "run a marathon"
            My goal is to write a novel.
                user:ann goal "write a novel"
            I went to Kyoto last May.
                user:ann visited [Kyoto] from 2024-05-01 to 2024-06-01
            I visited Rome and loved it.
                user:ann visited [Rome]
            I just finished reading Dune.
                user:ann read "Dune"
            We watched Alien yesterday.
                user:ann watched "Alien" from 2025-03-11
            I might visit Peru.
            I'm going to Vienna for the weekend.
                user:ann plans "go to Vienna" from 2025-03-15 to 2025-03-17
            My plan is to retire at 60.
                user:ann plans "retire at 60"
            Going to start therapy next month.
                user:ann plans "start therapy" from 2025-04-01 to 2025-05-01
            We decided to postpone the trip until July.
                user:ann decided "postpone the trip until July"
            I prefer short answers, if possible.
                user:ann prefers "short answers"
        "#]],
    );
}

#[test]
fn instructions() {
    check(
        "Always answer in French.
         Never use emojis.
         From now on, call me Al.
         Please write a poem.
         Please always cite your sources.
         Don't ever mention my age.",
        expect![[r#"
            Always answer in French.
                user:ann instruction "Always answer in French"
            Never use emojis.
                user:ann instruction "Never use emojis"
            From now on, call me Al.
                user:ann instruction "call me Al"
            Please write a poem.
            Please always cite your sources.
                user:ann instruction "always cite your sources"
            Don't ever mention my age.
                user:ann instruction "Don't ever mention my age"
        "#]],
    );
}
