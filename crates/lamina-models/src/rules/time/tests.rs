//! Phrases of time, resolved on Wednesday 12 March 2025 in each tense.

use expect_test::{Expect, expect};
use jiff::civil::date;

use super::{Bound, Tense, days, find};
use crate::rules::token::Tokens;

fn check(text: &str, expect: Expect) {
    let today = date(2025, 3, 12);
    let mut out = String::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let tokens = Tokens::of(line);
        let found = find(&tokens, 0, tokens.len());
        out.push_str(line);
        for phrase in found {
            let bound = match phrase.bound {
                Bound::During => "during",
                Bound::Since => "since",
                Bound::From => "from",
                Bound::Until => "until",
                Bound::By => "by",
                Bound::To(_) => "to",
            };
            out.push_str(&format!(" => {bound}"));
            for tense in [Tense::Past, Tense::Future] {
                match days(phrase.anchor, tense, today) {
                    Some(days) => out.push_str(&format!(" {}..{}", days.first, days.after)),
                    None => out.push_str(" -"),
                }
            }
            if let Bound::To(last) = phrase.bound
                && let Some(days) = days(last, Tense::Future, today)
            {
                out.push_str(&format!(" last {}", days.first));
            }
            if let Some((hour, minute)) = phrase.clock {
                out.push_str(&format!(" at {hour:02}:{minute:02}"));
            }
        }
        out.push('\n');
    }
    expect.assert_eq(&out);
}

#[test]
fn days_and_weeks() {
    check(
        "today
         tomorrow at 3pm
         yesterday
         the day after tomorrow
         on Friday
         on Wednesday
         this Wednesday
         next Wednesday
         last Tuesday
         next Monday
         this week
         next week
         two weeks ago
         a couple of days ago
         in three days
         last night",
        expect![[r#"
            today => during 2025-03-12..2025-03-13 2025-03-12..2025-03-13
            tomorrow at 3pm => during 2025-03-13..2025-03-14 2025-03-13..2025-03-14 at 15:00
            yesterday => during 2025-03-11..2025-03-12 2025-03-11..2025-03-12
            the day after tomorrow => during 2025-03-14..2025-03-15 2025-03-14..2025-03-15
            on Friday => during 2025-03-07..2025-03-08 2025-03-14..2025-03-15
            on Wednesday => during 2025-03-05..2025-03-06 2025-03-12..2025-03-13
            this Wednesday => during 2025-03-05..2025-03-06 2025-03-12..2025-03-13
            next Wednesday => during 2025-03-19..2025-03-20 2025-03-19..2025-03-20
            last Tuesday => during 2025-03-11..2025-03-12 2025-03-11..2025-03-12
            next Monday => during 2025-03-17..2025-03-18 2025-03-17..2025-03-18
            this week => during 2025-03-10..2025-03-17 2025-03-10..2025-03-17
            next week => during 2025-03-17..2025-03-24 2025-03-17..2025-03-24
            two weeks ago => during 2025-02-26..2025-02-27 2025-02-26..2025-02-27
            a couple of days ago => during 2025-03-10..2025-03-11 2025-03-10..2025-03-11
            in three days => during 2025-03-15..2025-03-16 2025-03-15..2025-03-16
            last night => during 2025-03-11..2025-03-12 2025-03-11..2025-03-12
        "#]],
    );
}

#[test]
fn months_years_and_dates() {
    check(
        "in March
         since June
         last May
         in 2019
         3 May
         May 3rd, 2026
         the 3rd of June
         2025-06-03
         03.06.2025
         by 28 November
         until Friday
         from 3 to 7 June
         3-7 June 2026
         from 2015 to 2019
         as of Monday
         on the 6th
         the end of March
         end of the month
         Q3 2025
         last summer
         29 February
         31 February
         I may go
         99999999999 years ago
         in 2000000000 days",
        expect![[r#"
            in March => during 2025-03-01..2025-04-01 2025-03-01..2025-04-01
            since June => since 2024-06-01..2024-07-01 2025-06-01..2025-07-01
            last May => during 2024-05-01..2024-06-01 2024-05-01..2024-06-01
            in 2019 => during 2019-01-01..2020-01-01 2019-01-01..2020-01-01
            3 May => during 2024-05-03..2024-05-04 2025-05-03..2025-05-04
            May 3rd, 2026 => during 2026-05-03..2026-05-04 2026-05-03..2026-05-04
            the 3rd of June => during 2024-06-03..2024-06-04 2025-06-03..2025-06-04
            2025-06-03 => during 2025-06-03..2025-06-04 2025-06-03..2025-06-04
            03.06.2025 => during 2025-06-03..2025-06-04 2025-06-03..2025-06-04
            by 28 November => by 2024-11-28..2024-11-29 2025-11-28..2025-11-29
            until Friday => until 2025-03-07..2025-03-08 2025-03-14..2025-03-15
            from 3 to 7 June => to 2024-06-03..2024-06-04 2025-06-03..2025-06-04 last 2025-06-07
            3-7 June 2026 => to 2026-06-03..2026-06-04 2026-06-03..2026-06-04 last 2026-06-07
            from 2015 to 2019 => to 2015-01-01..2016-01-01 2015-01-01..2016-01-01 last 2019-01-01
            as of Monday => since 2025-03-10..2025-03-11 2025-03-17..2025-03-18
            on the 6th => during 2025-03-06..2025-03-07 2025-04-06..2025-04-07
            the end of March => during 2025-03-31..2025-04-01 2025-03-31..2025-04-01
            end of the month => during 2025-03-31..2025-04-01 2025-03-31..2025-04-01
            Q3 2025 => during 2025-07-01..2025-10-01 2025-07-01..2025-10-01
            last summer => during 2024-06-01..2024-09-01 2024-06-01..2024-09-01
            29 February => during 2024-02-29..2024-03-01 2028-02-29..2028-03-01
            31 February => during - -
            I may go
            99999999999 years ago
            in 2000000000 days => during - -
        "#]],
    );
}
