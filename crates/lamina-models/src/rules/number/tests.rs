//! Numbers as they are written and said.

use expect_test::{Expect, expect};

use super::{money, number, quantity};
use crate::rules::token::Tokens;

fn check(text: &str, expect: Expect) {
    let mut out = String::new();
    for line in text.lines().map(str::trim) {
        let tokens = Tokens::of(line);
        let number = number(&tokens, 0).map(|number| number.value);
        let quantity = quantity(&tokens, 0).map(|(value, unit, _)| format!("{value} {unit}"));
        let money = money(&tokens, 0).map(|(amount, currency, _)| format!("{amount} {currency}"));
        let shown: Vec<String> = [number, quantity, money]
            .into_iter()
            .map(|found| found.unwrap_or("-".to_owned()))
            .collect();
        out.push_str(&format!("{line}: {}\n", shown.join(" | ")));
    }
    expect.assert_eq(&out);
}

#[test]
fn numbers_quantities_and_money() {
    check(
        "200
         1,200
         1,20
         75,000.50
         1.80 m
         80kg
         35k EUR
         $40
         €2.5m
         12 million euros
         USD 20
         two hundred
         two hundred and ten
         twenty-five
         a dozen
         three thousand
         3rd
         v2.3
         1.2.3
         999999999999999999999
         five billion billion billion",
        expect![[r#"
            200: 200 | - | -
            1,200: 1200 | - | -
            1,20: - | - | -
            75,000.50: 75000.50 | - | -
            1.80 m: 1.80 | 1.80 m | -
            80kg: - | 80 kg | -
            35k EUR: 35000 | - | 35000 EUR
            $40: - | - | 40 USD
            €2.5m: - | - | 2500000 EUR
            12 million euros: 12000000 | - | 12000000 EUR
            USD 20: - | - | 20 USD
            two hundred: 200 | - | -
            two hundred and ten: 210 | - | -
            twenty-five: 25 | - | -
            a dozen: 12 | - | -
            three thousand: 3000 | - | -
            3rd: - | - | -
            v2.3: - | - | -
            1.2.3: - | - | -
            999999999999999999999: - | - | -
            five billion billion billion: 7000000000 | - | -
        "#]],
    );
}
