//! Turns of a life as they are told: jobs that are called moves, animals that died, what was said once and
//! is not so any more, and since when something goes on.

use expect_test::expect;

use super::check;

#[test]
fn one_moves_to_a_company_to_work_there() {
    check(
        "
        Bob moved to Google last week.
        Ana moved from Acme to Globex.
        Ana moved from Globex to a startup called Kettle.
        Priya moved to Stripe in January.
        Marek moved to Umbra Ltd. as a welder.
        Kemal moved over to the data team.
        Bob moved to Denver last week.
        I moved to Apple Valley in 2020.
        We moved to Slack.
        Did Bob move to Google?
        Bob might move to Google.
        ",
        expect![[r#"
            Bob moved to Google last week.
                [Bob] works_at [Google] from 2025-03-03
            Ana moved from Acme to Globex.
                [Ana] works_at [Globex]
                [Ana] works_at [Acme] (ends)
            Ana moved from Globex to a startup called Kettle.
                [Ana] works_at [Kettle]
                [Ana] works_at [Globex] (ends)
            Priya moved to Stripe in January.
                [Priya] works_at [Stripe] from 2025-01-01
            Marek moved to Umbra Ltd. as a welder.
                [Marek] works_at [Umbra Ltd.]
                [Marek] role "welder"
            Kemal moved over to the data team.
                [Kemal] member_of [data team]
            Bob moved to Denver last week.
                [Bob] lives_in [Denver] from 2025-03-03
            I moved to Apple Valley in 2020.
                user:ann lives_in [Apple Valley] from 2020-01-01
            We moved to Slack.
                user:ann uses [Slack]
            Did Bob move to Google?
            Bob might move to Google.
        "#]],
    );
}

#[test]
fn an_animal_that_died_is_no_pet_any_more() {
    check(
        "
        My dog Rex died.
        My hamster Pip passed away last night.
        We had to put our dog Max down on Monday.
        Our rabbit Flo was put to sleep yesterday.
        My dog Rex got sick. He died on Monday.
        My late dog Rex loved sausages.
        I used to have a dog named Rex.
        Our dog Max was hit by a car and died.
        I lost my dog Rex to cancer.
        I lost my dog Rex in the park.
        My dog Rex didn't die.
        My dog Rex is 12 and sleeps all day.
        My dog Rex's brother died.
        My uncle Karl died in 2010.
        If my dog Rex died I would cry.
        ",
        expect![[r#"
            My dog Rex died.
                user:ann pet [Rex] (ends)
                [Rex] is_a "dog"
            My hamster Pip passed away last night.
                user:ann pet [Pip] to 2025-03-11 (ends)
                [Pip] is_a "hamster"
            We had to put our dog Max down on Monday.
                user:ann pet [Max] to 2025-03-10 (ends)
                [Max] is_a "dog"
            Our rabbit Flo was put to sleep yesterday.
                user:ann pet [Flo] to 2025-03-11 (ends)
                [Flo] is_a "rabbit"
            My dog Rex got sick. He died on Monday.
                [Rex] is_a "dog"
                user:ann pet [Rex] to 2025-03-10 (ends)
            My late dog Rex loved sausages.
                user:ann pet [Rex] (ends)
                [Rex] is_a "dog"
            I used to have a dog named Rex.
                user:ann pet [Rex] to 2025-03-12 (ends)
                [Rex] is_a "dog"
            Our dog Max was hit by a car and died.
                [Max] is_a "dog"
                user:ann pet [Max] (ends)
            I lost my dog Rex to cancer.
                user:ann pet [Rex] (ends)
                [Rex] is_a "dog"
                user:ann owns "dog Rex" (ends)
            I lost my dog Rex in the park.
                user:ann pet [Rex]
                [Rex] is_a "dog"
                user:ann owns "dog Rex" (ends)
            My dog Rex didn't die.
                user:ann pet [Rex]
                [Rex] is_a "dog"
            My dog Rex is 12 and sleeps all day.
                user:ann pet [Rex]
                [Rex] is_a "dog"
                [Rex] age 12
            My dog Rex's brother died.
            My uncle Karl died in 2010.
                user:ann relative [Karl]
            If my dog Rex died I would cry.
        "#]],
    );
}

#[test]
fn what_was_told_once_gives_way_to_what_is_so_since() {
    check(
        "
        I told you I live in Rome, but I've since moved to Milan.
        I told you that I work at Bosch, but I have since joined Siemens.
        I told you I live in Rome.
        As I told you, I live in Rome.
        Carla moved to Turin but has since moved back to Genoa.
        ",
        expect![[r#"
            I told you I live in Rome, but I've since moved to Milan.
                user:ann lives_in [Milan]
            I told you that I work at Bosch, but I have since joined Siemens.
                user:ann works_at [Siemens]
            I told you I live in Rome.
                user:ann lives_in [Rome]
            As I told you, I live in Rome.
                user:ann lives_in [Rome]
            Carla moved to Turin but has since moved back to Genoa.
                [Carla] lives_in [Turin] (ends)
                [Carla] lives_in [Genoa]
        "#]],
    );
}

#[test]
fn what_goes_on_for_a_while_began_that_long_ago() {
    check(
        "
        I have lived in Oslo for 3 years.
        I've worked at Acme for six months.
        Mia has been vegetarian for two years.
        Omar's been working at Nokia for over a decade.
        For the past five years I have been working for Roche.
        I've been vegan since 2019.
        I lived in Oslo for 3 years.
        I had lived in Cairo for ten years.
        I'll be in Oslo for 3 months.
        If I had lived in Oslo for ten years I would speak Norwegian.
        ",
        expect![[r#"
            I have lived in Oslo for 3 years.
                user:ann lives_in [Oslo] from 2022-03-12
            I've worked at Acme for six months.
                user:ann works_at [Acme] from 2024-09-12
            Mia has been vegetarian for two years.
                [Mia] diet "vegetarian" from 2023-03-12
            Omar's been working at Nokia for over a decade.
                [Omar] works_at [Nokia] from 2015-03-12
            For the past five years I have been working for Roche.
                user:ann works_at [Roche] from 2020-03-12
            I've been vegan since 2019.
                user:ann diet "vegan" from 2019-01-01
            I lived in Oslo for 3 years.
                user:ann lives_in [Oslo] (ends)
            I had lived in Cairo for ten years.
                user:ann lives_in [Cairo] (ends)
            I'll be in Oslo for 3 months.
            If I had lived in Oslo for ten years I would speak Norwegian.
        "#]],
    );
}

#[test]
fn a_legal_form_is_part_of_a_name() {
    check(
        "
        ACME, Inc. has 200 seats.
        Globex Corp. employs 1,200 people.
        I work for Umbra Ltd. and live in Hull.
        Initech, Inc. is based in Dayton.
        Does Initech, Inc. have 40 offices?
        Ana, Ben and Carl live in Hull.
        ",
        expect![[r#"
            ACME, Inc. has 200 seats.
                [ACME, Inc.] count:seats 200
            Globex Corp. employs 1,200 people.
                [Globex Corp.] count:people 1200
            I work for Umbra Ltd. and live in Hull.
                user:ann works_at [Umbra Ltd.]
                user:ann lives_in [Hull]
            Initech, Inc. is based in Dayton.
                [Initech, Inc.] located_in [Dayton]
            Does Initech, Inc. have 40 offices?
            Ana, Ben and Carl live in Hull.
                [Ana] lives_in [Hull]
                [Ben] lives_in [Hull]
                [Carl] lives_in [Hull]
        "#]],
    );
}

#[test]
fn what_somebody_has_may_be_called_by_its_make() {
    check(
        "
        My car is a Tesla.
        Our car is an old Volvo V70.
        My wife's car is a 2019 Honda.
        Nina's phone is a Pixel 8.
        My phone is an iPhone.
        My first car was a Beetle.
        My car is a mess.
        My dream car is a Porsche.
        My next car will be a Tesla.
        My car is not a Tesla.
        Is my car a Tesla?
        ",
        expect![[r#"
            My car is a Tesla.
                user:ann owns "Tesla"
            Our car is an old Volvo V70.
                user:ann owns "Volvo V70"
            My wife's car is a 2019 Honda.
                user:ann/wife owns "Honda"
            Nina's phone is a Pixel 8.
                [Nina] owns "Pixel 8"
            My phone is an iPhone.
                user:ann owns "iPhone"
            My first car was a Beetle.
            My car is a mess.
            My dream car is a Porsche.
            My next car will be a Tesla.
            My car is not a Tesla.
                user:ann owns "Tesla" (not)
            Is my car a Tesla?
        "#]],
    );
}
