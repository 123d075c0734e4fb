//! Words against words.

use super::Focus;

fn on(focus: &mut Focus, words: &[&str]) -> Vec<f32> {
    let mut nearest = focus.nothing();
    words.iter().for_each(|word| focus.meet(word, &mut nearest));
    nearest
}

#[test]
fn the_same_word_is_nearest_and_kin_is_nearer_than_strangers() {
    let mut focus = Focus::new(["marriage", "boat"]);
    let same = on(&mut focus, &["our", "marriage"]);
    assert!((same[0] - 1.0).abs() < 0.02, "{same:?}");
    let kin = on(&mut focus, &["wedding"]);
    let strange = on(&mut focus, &["screwdriver"]);
    assert!(kin[0] > strange[0] + 0.1, "{kin:?} {strange:?}");
    assert!(kin.iter().chain(&strange).all(|near| (0.0..=1.0).contains(near)));
}

#[test]
fn nothing_is_near_to_no_words() {
    let mut focus = Focus::new(["boat", ""]);
    assert!(focus.knows(0) && !focus.knows(1) && !focus.knows(2));
    assert_eq!(on(&mut focus, &[]), vec![0.0, 0.0]);
    let once = on(&mut focus, &["ship", "sea"]);
    assert_eq!(once, on(&mut focus, &["sea", "ship", "sea"]), "order and repetition do not matter");
}
