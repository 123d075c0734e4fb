//! Estimates of tokens: sane for any text, and near a real encoding for texts that were counted.

use proptest::prelude::*;

use super::estimate;

/// Texts, how many tokens `o200k_base` makes of them, and how far an estimate may be away, in percent.
const COUNTED: &[(&str, u64, u64, &str)] = &[
    (
        "prose",
        127,
        10,
        r#"The lighthouse keeper wrote every evening in a ledger that smelled of oil. He noted the wind, the ships that passed, and what he had eaten, which was mostly potatoes. In the spring of his ninth year a letter came from the harbour office: the lamp would be replaced by an electric one, and nobody would be needed to trim the wick. He read it twice, folded it into the ledger, and climbed the stairs as on any other day. What else should he have done? The lamp did not care who paid for its oil, and the ships would come past the rocks that night whether the office had decided or not."#,
    ),
    (
        "a chat",
        127,
        10,
        r#"Priya: Hey! Did you end up going to that pottery class on Saturday?
Tom: I did, it was great! We made two bowls each, and mine only cracked a little bit. 😄
Priya: Haha, nice. Are you going again next week? I'd love to come along if there's a free place.
Tom: Yes, I've booked the 10:30 slot on the 14th. It's $35 per person, and they'll give you an apron. Bring old shoes, it gets pretty messy!
Priya: Perfect, I'll sign up tonight. Shall we get lunch at Rosie's afterwards?"#,
    ),
    (
        "notes",
        115,
        10,
        r#"## Decisions of 2026-03-12

- The import job moves from nightly to hourly (owner: Dana, due 2026-04-01).
- We keep PostgreSQL 16 until the vendor certifies 17; the upgrade is tracked as OPS-2291.
- Budget: 48,500 EUR for Q2, of which 12,000 EUR go to the load tests.

Open: who signs the contract with Halvorsen & Sons? Erik asked twice, see https://example.com/contracts/8812?rev=4."#,
    ),
    (
        "Chinese",
        105,
        20,
        r#"上个星期天我和妹妹一起去了城外的茶园。山上的雾很大，路也不好走，但是空气特别新鲜。老板娘给我们泡了三种不同的茶，还讲了她父亲年轻时怎么种下第一批茶树的故事。妹妹最喜欢那种带一点桂花香味的，买了两盒准备寄给在上海工作的表哥。回家的路上我们决定，明年春天采茶的时候再来一次。"#,
    ),
    (
        "Japanese",
        111,
        20,
        r#"先週の日曜日、妹と一緒に町の外れにある茶畑へ行きました。霧が深くて道は歩きにくかったのですが、空気はとても澄んでいました。店の女将さんが三種類のお茶を入れてくれて、お父さんが若い頃に最初の木を植えた話をしてくれました。来年の春、茶摘みの季節にもう一度来ようと約束しました。"#,
    ),
    (
        "Korean",
        99,
        20,
        r#"지난 일요일에 동생과 함께 시내 밖에 있는 차밭에 갔습니다. 안개가 짙어서 길이 걷기 힘들었지만 공기는 아주 맑았습니다. 주인아주머니가 세 가지 차를 우려 주시고 아버지가 젊었을 때 첫 나무를 심은 이야기를 들려주셨습니다. 내년 봄 찻잎을 딸 때 다시 오기로 약속했습니다."#,
    ),
    (
        "source code",
        179,
        20,
        r#"/// The shelves that are not full, nearest first.
pub fn free_shelves(&self, at: Position, wanted: usize) -> Result<Vec<ShelfId>, StockError> {
    let mut found: Vec<(u32, ShelfId)> = Vec::with_capacity(wanted);
    for shelf in self.shelves.values().filter(|shelf| shelf.used < shelf.capacity) {
        let distance = at.x.abs_diff(shelf.x) + at.y.abs_diff(shelf.y);
        found.push((distance, shelf.id));
    }
    if found.len() < wanted {
        return Err(StockError::TooFew { wanted, free: found.len() });
    }
    found.sort_unstable_by_key(|(distance, id)| (*distance, *id));
    Ok(found.into_iter().take(wanted).map(|(_, id)| id).collect())
}"#,
    ),
    (
        "JSON",
        179,
        20,
        r#"{"order_id": "ord_88213", "customer": {"name": "Ines Duarte", "email": "ines@example.org", "loyalty": true}, "items": [{"sku": "LMP-204", "title": "Desk lamp, brass", "quantity": 2, "unit_price": 49.9}, {"sku": "BLB-017", "title": "Bulb, warm white", "quantity": 6, "unit_price": 3.25}], "shipping": {"method": "courier", "address": {"street": "Rua das Flores 12", "city": "Porto", "postcode": "4050-262"}}, "total": 119.3, "currency": "EUR", "paid_at": "2026-02-27T16:04:11Z"}"#,
    ),
];

#[test]
fn texts_that_were_counted_are_estimated_closely() {
    for (what, tokens, percent, text) in COUNTED {
        let said = estimate(text);
        assert!(
            said.abs_diff(*tokens) * 100 <= tokens * percent,
            "{what}: {said} instead of {tokens}"
        );
    }
}

#[test]
fn nothing_is_nothing() {
    assert_eq!(estimate(""), 0);
    assert_eq!(estimate("word"), 1);
}

proptest! {
    #[test]
    fn more_text_is_never_fewer_tokens(one in "[a-z ]{0,40}", other in "[a-z ]{0,40}") {
        let both = format!("{one}\n{other}");
        prop_assert!(estimate(&both) + 3 >= estimate(&one));
        prop_assert!(estimate(&both) <= estimate(&one) + estimate(&other) + 3);
    }

    #[test]
    fn any_text_has_an_estimate(text in "\\PC{0,80}") {
        prop_assert!(estimate(&text) as usize <= 2 * text.len() + 1);
    }
}
