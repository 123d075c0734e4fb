//! The twenty stories of `fixtures/stories`, told to a running engine that reads them with the built-in
//! rules: where a reader takes an episode to begin, one begins. The bar is an F1 of 0.8.

use std::collections::BTreeSet;

use super::*;

const F1_MIN: f64 = 0.8;

/// One event of a story.
#[derive(Debug)]
struct Line {
    begins: bool,
    minute: i64,
    session: String,
    actor: String,
    words: String,
}

/// What happens in a story, and whether all of it is told afterwards, at once.
fn parse(text: &str) -> (Vec<Line>, bool) {
    let mut lines = Vec::new();
    let mut import = false;
    for line in text.lines() {
        match line {
            "concepts:" => break,
            "import" => import = true,
            title if title.starts_with('#') => {}
            line => {
                let (head, rest) = line.split_once('|').expect("words follow a bar");
                let begins = head.starts_with('>');
                let head: Vec<&str> = head.trim_start_matches('>').split_whitespace().collect();
                let [day, clock, session, actor] = head.as_slice() else {
                    panic!("day time session actor: {line}")
                };
                let (hour, minute) = clock.split_once(':').expect("a time of day");
                let number = |text: &str| text.parse::<i64>().expect("a number");
                lines.push(Line {
                    begins,
                    minute: (number(day) * 24 + number(hour)) * 60 + number(minute),
                    session: (*session).to_owned(),
                    actor: format!("user:{actor}"),
                    words: rest.split('|').next().unwrap_or_default().trim().to_owned(),
                });
            }
        }
    }
    (lines, import)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_would_agree_where_episodes_begin() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/stories");
    let disk = Env::real().disk;
    let mut names = disk.list(&folder).unwrap();
    names.sort();
    assert_eq!(names.len(), 20);
    let (mut hits, mut wrong, mut missed) = (0, 0, 0);
    let mut log = String::new();
    for name in names {
        let bytes = lamina_env::disk::read_file(&*disk, &folder.join(&name), 65_536).unwrap();
        let (lines, import) = parse(std::str::from_utf8(&bytes).unwrap());
        let dir = tempfile::tempdir().unwrap();
        let mut world = World::open_at(dir.path(), BEGINNING, Arc::new(Rules));
        let mut events = Vec::new();
        for line in &lines {
            let now = world.engine.now().0;
            let told = BEGINNING + line.minute * MINUTE;
            if !import && told > now {
                world.clock.advance(told - now);
            }
            let say = Say {
                session: Some(&line.session),
                actor: &line.actor,
                minute: line.minute,
                text: &line.words,
                preceded_by: Vec::new(),
            };
            events.push(world.say(say).await);
        }
        // An episode begins with the event that was recorded first of it.
        let mut begun = BTreeSet::new();
        for episode in world.ask(|_| {}).await {
            begun.extend(episode.events.iter().min().copied());
        }
        let mut sessions = BTreeSet::new();
        for (line, event) in lines.iter().zip(&events) {
            let found = begun.contains(event);
            // The first event of a session begins an episode whatever one does: it does not count.
            if sessions.insert(&line.session) {
                assert!(found && line.begins, "{name:?}: {}", line.words);
                continue;
            }
            match (found, line.begins) {
                (true, true) => hits += 1,
                (true, false) => wrong += 1,
                (false, true) => missed += 1,
                (false, false) => {}
            }
            if found != line.begins {
                log += &format!("{name:?}: begins {found}: {}\n", line.words);
            }
        }
        world.check().await;
    }
    let f1 = 2.0 * f64::from(hits) / f64::from(2 * hits + wrong + missed);
    assert!(f1 >= F1_MIN, "F1 {f1:.3} ({hits} hits, {wrong} wrong, {missed} missed)\n{log}");
}
