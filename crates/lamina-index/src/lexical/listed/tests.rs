//! What is kept stays within its bound, and what is asked for again stays.

use super::*;

fn reach(number: u32) -> Reach {
    Reach::Exact(format!("org:a/user:u{number}").parse().unwrap())
}

#[test]
fn lists_are_bounded_by_the_documents_of_their_segment() {
    let lists = Lists::default();
    let listed = |from: u32| Arc::new(Listed::new((from..from + 100).collect(), vec![3; 100]));
    for number in 0..100 {
        lists.put(&reach(number), &listed(number * 100), 1_000);
        assert_eq!(lists.get(&reach(0), 1_000).map(|found| found.len), Some(300), "{number}");
    }
    let kept = lists.kept.lock();
    let docs = |lists: &HashMap<Reach, Arc<Listed>>| -> usize {
        lists.values().map(|listed| listed.docs.len()).sum()
    };
    assert!(docs(&kept.recent) <= 2 * 1_016, "{}", docs(&kept.recent));
    assert!(docs(&kept.older) <= 2 * 1_016, "{}", docs(&kept.older));
}
