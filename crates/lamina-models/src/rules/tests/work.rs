//! Employers, roles, projects, tools, dates and numbers.

use expect_test::expect;

use super::check;

#[test]
fn employers_and_roles() {
    check(
        "I work at Maersk as a data analyst.
         I joined Bosch in 2020 and left in May.
         Ola is the head of sales at Nokia.
         I got a job at Spotify!
         I'm a teacher.
         Mia is on the growth team and reports to Jens.
         I quit my job.
         I don't work at Bosch anymore.
         I lead the search team.
         I founded Brightly in 2018.
         I studied physics at Heidelberg.
         Our CEO is Dana Whitfield.
         I'm working for a small startup called Nimbus.
         I'm no longer with Deloitte.
         Tomasz is the new VP of engineering at Lumen.",
        expect![[r#"
            I work at Maersk as a data analyst.
                user:ann works_at [Maersk]
                user:ann role "data analyst"
            I joined Bosch in 2020 and left in May.
                user:ann works_at [Bosch] from 2020-01-01
            Ola is the head of sales at Nokia.
                [Ola] role "head of sales"
                [Ola] works_at [Nokia]
            I got a job at Spotify!
                user:ann works_at [Spotify]
            I'm a teacher.
                user:ann role "teacher"
            Mia is on the growth team and reports to Jens.
                [Mia] member_of [growth team]
                [Mia] reports_to [Jens]
            I quit my job.
                user:ann works_at "" (ends)
            I don't work at Bosch anymore.
                user:ann works_at [Bosch] (ends)
            I lead the search team.
                user:ann manages [search team]
            I founded Brightly in 2018.
                user:ann founded [Brightly] from 2018-01-01
            I studied physics at Heidelberg.
                user:ann studies "physics" (ends)
                user:ann studied_at [Heidelberg]
            Our CEO is Dana Whitfield.
                [Dana Whitfield] role "CEO"
            I'm working for a small startup called Nimbus.
                user:ann works_at [Nimbus]
            I'm no longer with Deloitte.
                user:ann works_at [Deloitte] (ends)
            Tomasz is the new VP of engineering at Lumen.
                [Tomasz] role "VP of engineering"
                [Tomasz] works_at [Lumen]
        "#]],
    );
}

#[test]
fn projects_and_deals() {
    check(
        "The Initrode deal is on hold.
         Project Falcon shipped last week.
         Falcon is blocked by legal.
         The Falcon budget is 50k EUR.
         Falcon costs $12 per user.
         Initrode has 1,500 employees and 12 offices.
         Ravi is responsible for billing.
         Dora owns the roadmap.
         We decided to drop the beta.
         Our office is in Leeds.
         Theo replaced Karin as head of support.
         Sofia starts on Monday.
         Nadia is responsible for hiring and Viktor for onboarding.",
        expect![[r#"
            The Initrode deal is on hold.
                [Initrode deal] status "on hold"
            Project Falcon shipped last week.
                [Falcon] status "shipped" from 2025-03-03
            Falcon is blocked by legal.
                [Falcon] status "blocked"
            The Falcon budget is 50k EUR.
                [Falcon] budget 50000 EUR
            Falcon costs $12 per user.
                [Falcon] price 12 USD
            Initrode has 1,500 employees and 12 offices.
                [Initrode] count:employees 1500
                [Initrode] count:offices 12
            Ravi is responsible for billing.
                [billing] owner [Ravi]
            Dora owns the roadmap.
                [roadmap] owner [Dora]
            We decided to drop the beta.
                user:ann decided "drop the beta"
            Our office is in Leeds.
                [office] located_in [Leeds]
            Theo replaced Karin as head of support.
                [Theo] role "head of support"
                [Karin] role "head of support" (ends)
            Sofia starts on Monday.
            Nadia is responsible for hiring and Viktor for onboarding.
                [hiring] owner [Nadia]
        "#]],
    );
}

#[test]
fn tools_and_versions() {
    check(
        "We use Kubernetes and Helm.
         We switched from Jira to Linear in February.
         We replaced Redis with Valkey.
         We stopped using Jenkins.
         Falcon is on v3.2.
         We're running Python 3.12.
         I upgraded Postgres to 16.2 yesterday.
         We don't use Docker.
         We dropped Heroku in favour of Fly.
         We moved from AWS to Hetzner in April.
         We bumped React to 19.",
        expect![[r#"
            We use Kubernetes and Helm.
                user:ann uses [Kubernetes]
                user:ann uses [Helm]
            We switched from Jira to Linear in February.
                user:ann uses [Linear] from 2025-02-01
                user:ann uses [Jira] to 2025-02-01 (ends)
            We replaced Redis with Valkey.
                user:ann uses [Valkey]
                user:ann uses [Redis] (ends)
            We stopped using Jenkins.
                user:ann uses [Jenkins] (ends)
            Falcon is on v3.2.
                [Falcon] version "v3.2"
            We're running Python 3.12.
                [Python] version "3.12"
            I upgraded Postgres to 16.2 yesterday.
                [Postgres] version "16.2" from 2025-03-11
            We don't use Docker.
                user:ann uses [Docker] (not)
            We dropped Heroku in favour of Fly.
                user:ann uses [Fly]
                user:ann uses [Heroku] (ends)
            We moved from AWS to Hetzner in April.
                user:ann uses [Hetzner] from 2024-04-01
                user:ann uses [AWS] to 2024-04-01 (ends)
            We bumped React to 19.
                [React] version "19"
        "#]],
    );
}

#[test]
fn dates() {
    check(
        "The report is due on Friday.
         The deadline for Falcon is 2 April.
         The launch is on 3 June at 10:30.
         I have a dentist appointment tomorrow at 3pm.
         The demo was moved to next Thursday.
         The retro is tomorrow.
         The form must be submitted by 30 April.
         Kickoff on Monday at 9am.",
        expect![[r#"
            The report is due on Friday.
                [report] deadline 2025-03-14
            The deadline for Falcon is 2 April.
                [Falcon] deadline 2025-04-02
            The launch is on 3 June at 10:30.
                [launch] scheduled_for 2025-06-03T10:30
            I have a dentist appointment tomorrow at 3pm.
                [dentist appointment] scheduled_for 2025-03-13T15:00
            The demo was moved to next Thursday.
                [demo] scheduled_for 2025-03-20
            The retro is tomorrow.
                [retro] scheduled_for 2025-03-13
            The form must be submitted by 30 April.
                [form] deadline 2025-04-30
            Kickoff on Monday at 9am.
                [Kickoff] scheduled_for 2025-03-17T09:00
        "#]],
    );
}
