//! Sentences that need more than a row: what stands before a comma, what points back, what only places.

use expect_test::expect;

use super::check;

#[test]
fn a_time_before_a_comma_dates_what_follows() {
    check(
        "In March, I joined Acme.
         Since 2019, I've lived in Oslo.
         Starting Monday, Andrei is responsible for the on-call rota.
         From Monday I work at Grab.
         From 2015 until 2018 I lived in Ghent.
         The design doc is due by end of day Friday.
         I quit smoking in 2019.
         I'm between jobs, they let me go in January.
         My goal for this year is to read 30 books.",
        expect![[r#"
            In March, I joined Acme.
                user:ann works_at [Acme] from 2025-03-01
            Since 2019, I've lived in Oslo.
                user:ann lives_in [Oslo] from 2019-01-01
            Starting Monday, Andrei is responsible for the on-call rota.
                [on-call rota] owner [Andrei] from 2025-03-17
            From Monday I work at Grab.
                user:ann works_at [Grab] from 2025-03-17
            From 2015 until 2018 I lived in Ghent.
                user:ann lives_in [Ghent] from 2015-01-01 to 2018-01-01 (ends)
            The design doc is due by end of day Friday.
                [design doc] deadline 2025-03-14
            I quit smoking in 2019.
                user:ann habit "smoking" to 2019-01-01 (ends)
            I'm between jobs, they let me go in January.
                user:ann works_at "" (ends)
            My goal for this year is to read 30 books.
                user:ann goal "read 30 books" from 2025-01-01
        "#]],
    );
}

#[test]
fn clauses_that_only_place_assert_nothing() {
    check(
        "When we move to Oslo, we'll need a car.
         Once I join Acme, I'll have less time.
         After we migrate to Postgres we can drop MySQL.
         When we order in I'd rather have dosa than pizza.
         Whether we use Go or Rust doesn't matter.
         It seems that Lena left Google.
         My guess is that Ben works at Intel.
         Write me a story about a man who lives in Rome and has a dog named Rex.
         Tell Anna that I love pizza.
         Say my name is Bob and I'm 30, how would the form look?
         Can you summarise this paragraph? Anna is a doctor. She has two kids.
         Translate this: I live in Berlin. I have two cats.
         The email reads: I quit my job at Meta.
         The protagonist, Elena, lives in Naples and studies Latin.
         ERROR: user alice is not a member of the admin group
         The door is open.
         I have a train to catch.",
        expect![[r#"
            When we move to Oslo, we'll need a car.
            Once I join Acme, I'll have less time.
            After we migrate to Postgres we can drop MySQL.
            When we order in I'd rather have dosa than pizza.
                user:ann prefers "dosa"
            Whether we use Go or Rust doesn't matter.
            It seems that Lena left Google.
            My guess is that Ben works at Intel.
            Write me a story about a man who lives in Rome and has a dog named Rex.
            Tell Anna that I love pizza.
            Say my name is Bob and I'm 30, how would the form look?
            Can you summarise this paragraph? Anna is a doctor. She has two kids.
            Translate this: I live in Berlin. I have two cats.
            The email reads: I quit my job at Meta.
            The protagonist, Elena, lives in Naples and studies Latin.
            ERROR: user alice is not a member of the admin group
            The door is open.
            I have a train to catch.
        "#]],
    );
}

#[test]
fn what_points_back_is_found() {
    check(
        "I hate cilantro. My husband loves it.
         Priya left Zentrix in August. She works at Meridian Labs now.
         I left Brightwater, I'm now at Palfinger.
         We have a dog. His name is Rex.
         I have a sister. Her name is Petra and she lives in Graz.
         We adopted two greyhounds last spring, Bess and Tolly.
         Our cat, Miso, is 14 years old.",
        expect![[r#"
            I hate cilantro. My husband loves it.
                user:ann dislikes "cilantro"
                user:ann/husband likes "cilantro"
            Priya left Zentrix in August. She works at Meridian Labs now.
                [Priya] works_at [Zentrix] to 2024-08-01 (ends)
                [Priya] works_at [Meridian Labs]
            I left Brightwater, I'm now at Palfinger.
                user:ann works_at [Brightwater] (ends)
                user:ann works_at [Palfinger]
            We have a dog. His name is Rex.
                user:ann pet [Rex]
                [Rex] is_a "dog"
            I have a sister. Her name is Petra and she lives in Graz.
                user:ann sibling [Petra]
                [Petra] lives_in [Graz]
            We adopted two greyhounds last spring, Bess and Tolly.
                user:ann pet [Bess] from 2024-03-01
                user:ann pet [Tolly] from 2024-03-01
            Our cat, Miso, is 14 years old.
                user:ann pet [Miso]
                [Miso] is_a "cat"
                [Miso] age 14
        "#]],
    );
}

#[test]
fn verbs_that_begin_and_stop_others() {
    check(
        "Meera stopped managing the QA team last month.
         We started using Nomad in May.
         I stopped taking sertraline.
         We're going with the Helsinki venue.
         We're going with my sister to the cinema.
         My doctor put me on sertraline last week.
         We moved off Jenkins and onto GitHub Actions in June.
         We use Terraform for infra and Grafana for dashboards.
         Our stack is Django, React and Postgres.",
        expect![[r#"
            Meera stopped managing the QA team last month.
                [Meera] manages [QA team] to 2025-02-01 (ends)
            We started using Nomad in May.
                user:ann uses [Nomad] from 2024-05-01
            I stopped taking sertraline.
                user:ann medication "sertraline" (ends)
            We're going with the Helsinki venue.
                user:ann decided "go with the Helsinki venue"
            We're going with my sister to the cinema.
            My doctor put me on sertraline last week.
                user:ann medication "sertraline" from 2025-03-03
            We moved off Jenkins and onto GitHub Actions in June.
                user:ann uses [GitHub Actions] from 2024-06-01
                user:ann uses [Jenkins] to 2024-06-01 (ends)
            We use Terraform for infra and Grafana for dashboards.
                user:ann uses [Terraform]
                user:ann uses [Grafana]
            Our stack is Django, React and Postgres.
                user:ann uses [Django]
                user:ann uses [React]
                user:ann uses [Postgres]
        "#]],
    );
}

#[test]
fn instructions_with_their_case_first() {
    check(
        "Whenever I send a recipe, convert cups to grams.
         When I ask for code, always use Python.
         Whenever I cook, music helps me focus.
         If I ask about dates, use ISO format.",
        expect![[r#"
            Whenever I send a recipe, convert cups to grams.
                user:ann instruction "Whenever I send a recipe, convert cups to grams"
            When I ask for code, always use Python.
                user:ann instruction "When I ask for code, always use Python"
            Whenever I cook, music helps me focus.
            If I ask about dates, use ISO format.
        "#]],
    );
}

#[test]
fn names_of_every_shape() {
    check(
        "I work nights at St. Mary's Hospital as an ICU nurse.
         I work in marketing at a fintech called Ledgerly.
         I just finished reading Season of Migration to the North.
         My dad has Parkinson's.
         I use an insulin pump.
         Our CTO Henrik resigned yesterday.
         My mum lives in Cardiff and my dad passed away in 2015.
         We play volleyball every Tuesday.
         My kids are 4 and 7.",
        expect![[r#"
            I work nights at St. Mary's Hospital as an ICU nurse.
                user:ann works_at [St. Mary's Hospital]
                user:ann role "ICU nurse"
            I work in marketing at a fintech called Ledgerly.
                user:ann works_at [Ledgerly]
            I just finished reading Season of Migration to the North.
                user:ann read "Season of Migration to the North"
            My dad has Parkinson's.
                user:ann/dad condition "Parkinson's"
            I use an insulin pump.
            Our CTO Henrik resigned yesterday.
                [Henrik] role "CTO"
            My mum lives in Cardiff and my dad passed away in 2015.
                user:ann/mum lives_in [Cardiff]
            We play volleyball every Tuesday.
                user:ann plays "volleyball"
                user:ann habit "play volleyball every Tuesday"
            My kids are 4 and 7.
        "#]],
    );
}

#[test]
fn what_is_put_in_between_changes_no_subject() {
    check(
        "Elif, who joined last month, is our new QA lead.
         My mum, who lives in Split, is 70.
         Anna, whom I met in Rome, works at Bosch.
         My brother, whose wife is a doctor, lives in Ulm.
         The Zurich team, which Lea leads, has 9 people.
         My husband Piotr, a civil engineer, works for Skanska.
         The client, Vattenfall, has 340 licenses.
         We're 12 people, two are vegetarian.
         My name is spelled with a K.
         She is my business partner.
         I'm the product owner for Checkout.",
        expect![[r#"
            Elif, who joined last month, is our new QA lead.
                [Elif] role "QA lead"
            My mum, who lives in Split, is 70.
                user:ann/mum lives_in [Split]
                user:ann/mum age 70
            Anna, whom I met in Rome, works at Bosch.
                [Anna] works_at [Bosch]
            My brother, whose wife is a doctor, lives in Ulm.
                user:ann/brother lives_in [Ulm]
            The Zurich team, which Lea leads, has 9 people.
                [Zurich team] count:people 9
            My husband Piotr, a civil engineer, works for Skanska.
                [Piotr] role "civil engineer"
                user:ann spouse [Piotr]
                [Piotr] works_at [Skanska]
            The client, Vattenfall, has 340 licenses.
                [Vattenfall] count:licenses 340
            We're 12 people, two are vegetarian.
            My name is spelled with a K.
            She is my business partner.
            I'm the product owner for Checkout.
                user:ann role "product owner"
        "#]],
    );
}

#[test]
fn notes_with_a_mark_for_is() {
    check(
        "Budget for the rebrand: 40k EUR.
         Falcon deadline: 3 October.
         Owner of the runbook: Sanna.
         Status of Atlas: on hold.
         Weekly status: Mango is done.
         We've got three cats: Pip, Dot and Fig.
         I was going to visit Rome but got sick.
         Explain it like I'm five.
         I have a fear of heights.
         I have a PhD in chemistry from ETH Zurich.",
        expect![[r#"
            Budget for the rebrand: 40k EUR.
                [rebrand] budget 40000 EUR
            Falcon deadline: 3 October.
                [Falcon] deadline 2025-10-03
            Owner of the runbook: Sanna.
                [runbook] owner [Sanna]
            Status of Atlas: on hold.
                [Atlas] status "on hold"
            Weekly status: Mango is done.
                [Mango] status "done"
            We've got three cats: Pip, Dot and Fig.
                user:ann pet [Pip]
                user:ann pet [Dot]
                user:ann pet [Fig]
                user:ann count:cats 3
            I was going to visit Rome but got sick.
            Explain it like I'm five.
            I have a fear of heights.
                user:ann fears "heights"
            I have a PhD in chemistry from ETH Zurich.
                user:ann studied_at [ETH Zurich]
        "#]],
    );
}
