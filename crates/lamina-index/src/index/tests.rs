//! The whole index through its public face, on a simulated disk.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lamina_env::Disk as _;
use lamina_env::sim::{SimClock, SimDisk, SimRng};
use lamina_types::{Micros, RecordedAt, ScopePath, ValidAt};

use super::{Index, Opened, Setup};
use crate::applied::Reason;
use crate::document::{Change, Document, LabelHash, Layer, Layers, Part, RecordKey};
use crate::embed::StaticEmbedder;
use crate::error::Error;
use crate::filter::{Filter, Reach};
use crate::lexical::{LexicalQuery, Statistics};
use crate::vector::{Space, Vector, VectorQuery};

mod oracle;
mod crash;
mod inspected;

const DIR: &str = "/data/search";
const NONE: [u64; 0] = [];

fn space() -> Space {
    StaticEmbedder::new().space().clone()
}

fn setup(disk: &SimDisk) -> Setup {
    Setup {
        disk: Arc::new(disk.clone()),
        clock: Arc::new(SimClock::at(Micros(0))),
        dir: PathBuf::from(DIR),
        log: [7; 20],
        log_end: u64::MAX,
        space: space(),
        cache_bytes_max: 1 << 20,
    }
}

fn open(disk: &SimDisk) -> (Index, Opened) {
    Index::open(setup(disk)).unwrap()
}

fn scope(path: &str) -> ScopePath {
    path.parse().unwrap()
}

fn id(number: u64) -> [u8; 16] {
    let mut id = [0; 16];
    id[..8].copy_from_slice(&number.to_be_bytes());
    id[8..].copy_from_slice(&number.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes());
    id
}

fn document(number: u64, path: &str, text: &str) -> Document {
    let at = i64::try_from(number).unwrap();
    Document {
        layer: Layer::Event,
        id: id(number),
        scope: scope(path),
        offset: number,
        recorded: RecordedAt(Micros(at)),
        valid_from: ValidAt(Micros(at)),
        valid_until: Some(ValidAt(Micros(at))),
        labels: Vec::new(),
        parts: vec![Part { text: text.to_owned(), vector: StaticEmbedder::new().embed_one(text) }],
    }
}

fn put(number: u64, path: &str, text: &str) -> Change {
    Change::Put(document(number, path, text))
}

fn remove(number: u64) -> Change {
    Change::Remove { layer: Layer::Event, id: id(number) }
}

/// Numbers of the documents that are found by words, best first.
fn words(index: &Index, tenant: u32, text: &str, filter: Filter<'_>) -> Vec<u64> {
    let query = LexicalQuery {
        text,
        also: &[],
        language: None,
        filter,
        statistics: Statistics::Visible,
        limit: 100,
    };
    index.lexical(tenant, &query).unwrap().hits.iter().map(|hit| hit.offset).collect()
}

/// Numbers of the documents that are found by meaning, nearest first.
fn meaning(index: &Index, tenant: u32, text: &str, filter: Filter<'_>, limit: usize) -> Vec<u64> {
    let vector = StaticEmbedder::new().embed_one(text).unwrap();
    let query = VectorQuery { space: &space(), vector: &vector, filter, limit };
    index.vector(tenant, &query).unwrap().iter().map(|hit| hit.offset).collect()
}

fn all() -> Filter<'static> {
    Filter::subtree(scope("org:a"))
}

#[test]
fn what_is_put_is_found_at_once_and_after_a_commit_and_after_a_reopen() {
    let disk = SimDisk::new();
    let (index, opened) = open(&disk);
    assert_eq!(opened, Opened { applied: 0, rebuilt: Some(Reason::Missing) });
    index.apply(1, &[put(1, "org:a", "the violin concert"), put(2, "org:a", "a walk")], 3).unwrap();
    let check = |index: &Index| {
        assert_eq!(words(index, 1, "violins", all()), [1]);
        assert_eq!(meaning(index, 1, "music", all(), 1), [1]);
        assert_eq!(index.stats(1).unwrap().documents, 2);
    };
    check(&index);
    assert_eq!(index.commit().unwrap(), 3);
    assert_eq!(index.pending(), 0);
    check(&index);
    drop(index);
    let (index, opened) = open(&disk);
    assert_eq!(opened, Opened { applied: 3, rebuilt: None });
    check(&index);
}

#[test]
fn a_commit_in_the_middle_shows_every_document_once() {
    let disk = SimDisk::new();
    let (index, _) = open(&disk);
    for number in 0..20 {
        index.apply(1, &[put(number, "org:a", "violin")], number + 1).unwrap();
        if number % 7 == 3 {
            index.commit().unwrap();
        }
        let mut found = words(&index, 1, "violin", all());
        found.sort_unstable();
        assert_eq!(found, (0..=number).collect::<Vec<_>>());
    }
}

#[test]
fn a_second_put_replaces_the_first_wherever_that_is() {
    for commits in 0..4 {
        let (index, _) = open(&SimDisk::new());
        index.apply(1, &[put(1, "org:a", "violin"), put(2, "org:a", "violin cello")], 3).unwrap();
        if commits & 1 != 0 {
            index.commit().unwrap();
        }
        index.apply(1, &[put(1, "org:a", "trumpet")], 4).unwrap();
        if commits & 2 != 0 {
            index.commit().unwrap();
        }
        assert_eq!(words(&index, 1, "violin", all()), [2]);
        assert_eq!(words(&index, 1, "trumpet", all()), [1]);
        assert_eq!(meaning(&index, 1, "trumpet", all(), 5).len(), 2);
        index.apply(1, &[remove(1)], 5).unwrap();
        assert_eq!(words(&index, 1, "trumpet", all()), NONE);
        assert_eq!(meaning(&index, 1, "trumpet", all(), 5), [2]);
        index.commit().unwrap();
        assert_eq!(words(&index, 1, "trumpet violin", all()), [2]);
        assert_eq!(meaning(&index, 1, "trumpet", all(), 5), [2]);
    }
}

#[test]
fn tenants_see_nothing_of_each_other() {
    let (index, _) = open(&SimDisk::new());
    index.apply(1, &[put(1, "org:a", "violin concert")], 2).unwrap();
    let ask = |statistics| {
        let filter = all();
        let query = LexicalQuery {
            text: "violin",
            also: &[],
            language: None,
            filter,
            statistics,
            limit: 5,
        };
        index.lexical(1, &query).unwrap()
    };
    let before = (ask(Statistics::Visible), ask(Statistics::Shipped));
    let others: Vec<Change> = (10..60).map(|number| put(number, "org:a", "violin")).collect();
    index.apply(2, &others, 60).unwrap();
    index.commit().unwrap();
    assert_eq!((ask(Statistics::Visible), ask(Statistics::Shipped)), before);
    assert_eq!(words(&index, 1, "violin", all()), [1]);
    assert_eq!(words(&index, 2, "violin", all()).len(), 50);
    assert_eq!(words(&index, 3, "violin", all()), NONE);
    index.drop_tenant(2).unwrap();
    assert_eq!(words(&index, 2, "violin", all()), NONE);
    assert_eq!(words(&index, 1, "violin", all()), [1]);
}

#[test]
fn other_scopes_change_no_score() {
    let (index, _) = open(&SimDisk::new());
    index.apply(1, &[put(1, "org:a/user:x", "violin concert")], 2).unwrap();
    let ask = || {
        let query = LexicalQuery {
            text: "violin",
            also: &[],
            language: None,
            filter: Filter::exact(scope("org:a/user:x")),
            statistics: Statistics::Visible,
            limit: 5,
        };
        index.lexical(1, &query).unwrap()
    };
    let before = ask();
    let others: Vec<Change> =
        (10..60).map(|number| put(number, "org:a/user:y", "violin")).collect();
    index.apply(1, &others, 60).unwrap();
    assert_eq!(ask(), before);
    index.commit().unwrap();
    assert_eq!(ask(), before);
}

#[test]
fn filters_are_part_of_the_question() {
    let (index, _) = open(&SimDisk::new());
    let mut changes: Vec<Change> =
        (0..200).map(|number| put(number, "org:a/user:loud", "violin violin violin")).collect();
    let mut quiet = document(300, "org:a/user:quiet", "a violin among many other words here");
    quiet.labels = vec![LabelHash(5), LabelHash(9)];
    quiet.layer = Layer::Fact;
    quiet.valid_until = Some(ValidAt(Micros(400)));
    changes.push(Change::Put(quiet));
    for commit in [false, true] {
        index.apply(1, &changes, 301).unwrap();
        if commit {
            index.commit().unwrap();
        }
        let cases: Vec<Filter<'_>> = vec![
            Filter::exact(scope("org:a/user:quiet")),
            Filter::subtree(scope("org:a/user:quiet")),
            Filter { except: vec![Reach::Exact(scope("org:a/user:loud"))], ..all() },
            Filter { layers: Layers::of(&[Layer::Fact]), ..all() },
            Filter { labels: vec![vec![LabelHash(1), LabelHash(5)], vec![LabelHash(9)]], ..all() },
            Filter { valid: Some((ValidAt(Micros(300)), ValidAt(Micros(301)))), ..all() },
            Filter { valid: Some((ValidAt(Micros(399)), ValidAt(Micros(900)))), ..all() },
            Filter { visible: Some(&|seen| seen.offset == 300), ..all() },
        ];
        for filter in cases {
            let name = format!("{filter:?}, committed: {commit}");
            assert_eq!(words(&index, 1, "violin", filter.clone()), [300], "{name}");
            assert_eq!(meaning(&index, 1, "violin", filter, 1), [300], "{name}");
        }
        let none = [
            Filter::exact(scope("org:a")),
            Filter { labels: vec![vec![LabelHash(5)], vec![LabelHash(6)]], ..all() },
            Filter { valid: Some((ValidAt(Micros(400)), ValidAt(Micros(900)))), ..all() },
            Filter { layers: Layers::of(&[Layer::Belief]), ..all() },
        ];
        for filter in none {
            let name = format!("{filter:?}, committed: {commit}");
            assert_eq!(words(&index, 1, "violin", filter.clone()), NONE, "{name}");
            assert_eq!(meaning(&index, 1, "violin", filter, 1), NONE, "{name}");
        }
        let until = Filter { recorded_until: Some(RecordedAt(Micros(4))), ..all() };
        assert_eq!(words(&index, 1, "violin", until.clone()).len(), 5);
        assert_eq!(meaning(&index, 1, "violin", until, 50).len(), 5);
    }
}

#[test]
fn an_index_that_cannot_be_used_is_made_anew() {
    let disk = SimDisk::new();
    let made = |change: &dyn Fn(&mut Setup)| {
        let disk = disk.fork();
        let mut setup = setup(&disk);
        change(&mut setup);
        let (index, opened) = Index::open(setup).unwrap();
        assert_eq!(words(&index, 1, "violin", all()).is_empty(), opened.rebuilt.is_some());
        opened
    };
    let (index, _) = open(&disk);
    index.apply(1, &[put(1, "org:a", "violin")], 9).unwrap();
    index.commit().unwrap();
    drop(index);
    assert_eq!(made(&|_| {}), Opened { applied: 9, rebuilt: None });
    let rebuilt = |reason| Opened { applied: 0, rebuilt: Some(reason) };
    assert_eq!(made(&|setup| setup.log = [8; 20]), rebuilt(Reason::OtherLog));
    assert_eq!(made(&|setup| setup.log_end = 8), rebuilt(Reason::AheadOfLog));
    assert_eq!(made(&|setup| setup.log_end = 9), Opened { applied: 9, rebuilt: None });
    assert_eq!(made(&|setup| setup.dir = "/data/other".into()), rebuilt(Reason::Missing));
    let damage = disk.fork();
    damage.poke(&Path::new(DIR).join("applied"), 5, &[0xFF]).unwrap();
    let (_, opened) = open(&damage);
    assert_eq!(opened, rebuilt(Reason::Damaged));
    let old = disk.fork();
    let mut bytes = old.contents(&Path::new(DIR).join("applied")).unwrap();
    bytes[0] ^= 0x40;
    let body = bytes.len() - 4;
    let crc = crc32c::crc32c(&bytes[..body]).to_le_bytes();
    bytes[body..].copy_from_slice(&crc);
    old.poke(&Path::new(DIR).join("applied"), 0, &bytes).unwrap();
    let (_, opened) = open(&old);
    assert_eq!(opened, rebuilt(Reason::OtherLayout));
}

/// The files that hold these bytes anywhere: as they are, or as a dictionary of terms holds them, from
/// the last to the first with a sign after each.
fn files_with(disk: &SimDisk, needle: &[u8]) -> Vec<PathBuf> {
    let holds = |path: &PathBuf| {
        let bytes = disk.contents(path).unwrap();
        let backwards = |window: &[u8]| window.iter().step_by(2).eq(needle.iter().rev());
        bytes.windows(needle.len()).any(|window| window == needle)
            || bytes.windows(needle.len() * 2 - 1).any(backwards)
    };
    disk.files().into_iter().filter(holds).collect()
}

#[test]
fn after_a_purge_no_file_has_the_word_or_the_vector() {
    let disk = SimDisk::new();
    let (index, _) = open(&disk);
    // Bytes of rare letters stand in a dictionary as they are, after the first; those of common ones are
    // abbreviated.
    let secret = "ზანზიბარი confidential";
    let mut changes: Vec<Change> =
        (0..50).map(|number| put(number, "org:a", "an ordinary message")).collect();
    changes.push(put(99, "org:a/user:hiddenone", secret));
    index.apply(1, &changes, 100).unwrap();
    index.commit().unwrap();
    let further: Vec<i8> = (1..=64).collect();
    let space = Space { model: "further".to_owned(), dims: 64 };
    index.begin_space(space.clone()).unwrap();
    let mut hidden = document(99, "org:a/user:hiddenone", secret);
    hidden.parts[0].vector = Vector::of_bytes(further.clone().into());
    index.put_further(&space, 1, std::slice::from_ref(&hidden)).unwrap();
    let more: Vec<Change> = (60..70).map(|number| put(number, "org:a", "more text")).collect();
    index.apply(1, &more, 101).unwrap();
    index.commit().unwrap();
    let vector = StaticEmbedder::new().embed_one(secret).unwrap();
    let vector: Vec<u8> = vector.bytes().iter().map(|value| value.cast_unsigned()).collect();
    let further: Vec<u8> = further.iter().map(|value| value.cast_unsigned()).collect();
    let traces: [&[u8]; 5] = ["ანზიბარი".as_bytes(), b"hiddenone", &vector, &further, &id(99)];
    for trace in traces {
        assert!(
            !files_with(&disk, trace).is_empty(),
            "{trace:?} is not looked for in the right way"
        );
    }
    index.apply(1, &[remove(99)], 102).unwrap();
    index.purge(1).unwrap();
    // Whoever was at work on it meanwhile comes too late.
    index.put_further(&space, 1, &[hidden]).unwrap();
    index.commit().unwrap();
    for trace in traces {
        assert_eq!(files_with(&disk, trace), Vec::<PathBuf>::new());
    }
    assert_eq!(words(&index, 1, "ordinary", all()).len(), 50);
    assert_eq!(words(&index, 1, "text", all()).len(), 10);
    assert_eq!(meaning(&index, 1, "message", all(), 100).len(), 60);
    assert_eq!(index.purge(1).unwrap().segments, 0, "there is nothing left to purge");
}

#[test]
fn a_question_from_another_space_is_refused() {
    let (index, _) = open(&SimDisk::new());
    index.apply(1, &[put(1, "org:a", "violin")], 2).unwrap();
    let vector = Vector::of(&[1.0; 256]).unwrap();
    let other = Space { model: "another".to_owned(), dims: 256 };
    let query = VectorQuery { space: &other, vector: &vector, filter: all(), limit: 3 };
    assert!(matches!(index.vector(1, &query), Err(Error::OtherSpace { .. })));
    let short = Vector::of(&[1.0; 8]).unwrap();
    let query = VectorQuery { space: &space(), vector: &short, filter: all(), limit: 3 };
    assert!(matches!(index.vector(1, &query), Err(Error::OtherSpace { .. })));
    let mut document = document(5, "org:a", "violin");
    document.parts[0].vector = Some(short);
    let wrong = index.apply(1, &[Change::Put(document)], 6);
    assert!(matches!(wrong, Err(Error::WrongDims { expected: 256, found: 8 })));
}

#[test]
fn a_further_space_is_built_while_others_are_served() {
    let disk = SimDisk::new();
    let (index, _) = open(&disk);
    let spaces = ["small", "other"].map(|model| Space { model: model.to_owned(), dims: 4 });
    let [small, other] = &spaces;
    let first: Vec<Change> = (0..6).map(|number| put(number, "org:a", "violin")).collect();
    index.apply(1, &first, 6).unwrap();
    let vectors_of = |number: u64| {
        let mut document = document(number, "org:a", "violin");
        document.parts[0].vector = Vector::of(&[1.0, number as f32, 0.0, 1.0]);
        document
    };
    let fed = |index: &Index, space: &Space, numbers: std::ops::Range<u64>| {
        let documents: Vec<Document> = numbers.clone().map(vectors_of).collect();
        index.put_further(space, 1, &documents).unwrap();
        index.further_applied(space, numbers.end).unwrap();
    };
    let standing = |index: &Index| -> Vec<(String, u64, bool)> {
        let told = index.further().into_iter();
        told.map(|further| (further.space.model, further.applied, further.whole)).collect()
    };
    let question = Vector::of(&[0.0, 1.0, 0.0, 0.0]).unwrap();
    let ask = |index: &Index, space: &Space| -> Vec<u64> {
        let query = VectorQuery { space, vector: &question, filter: all(), limit: 9 };
        index.vector(1, &query).unwrap().iter().map(|hit| hit.offset).collect()
    };
    index.begin_space(small.clone()).unwrap();
    index.apply(1, &[remove(2)], 7).unwrap();
    fed(&index, small, 0..4);
    index.apply(1, &[remove(3)], 8).unwrap();
    assert_eq!(meaning(&index, 1, "violin", all(), 9).len(), 4, "the first space is served");
    assert!(index.is_dirty());
    index.commit().unwrap();
    assert!(!index.is_dirty());
    drop(index);

    let (index, opened) = open(&disk);
    assert_eq!(opened.rebuilt, None);
    assert_eq!(standing(&index), [("small".to_owned(), 4, false)], "it goes on where it was");
    fed(&index, small, 4..6);
    index.complete_space(small).unwrap();
    assert_eq!(ask(&index, small), [5, 4, 1, 0], "what was removed meanwhile is in neither");
    let left = Path::new(DIR).join("tenant-1").join("vectors-0000000000000000");
    disk.create_dir_all(&left).unwrap();
    index.begin_space(other.clone()).unwrap();
    fed(&index, other, 0..2);
    let both = [("small".to_owned(), 6, true), ("other".to_owned(), 2, false)];
    assert_eq!(standing(&index), both);
    assert_eq!(ask(&index, small), [5, 4, 1, 0], "what is whole goes on");
    index.apply(1, &[remove(5)], 9).unwrap();
    drop(index);
    let (index, _) = open(&disk);
    assert_eq!(standing(&index).len(), 2);
    index.apply(1, &[remove(5)], 9).unwrap();
    fed(&index, other, 0..6);
    index.complete_space(other).unwrap();
    assert_eq!(ask(&index, small), [4, 1, 0], "until it is dropped");
    index.keep_space(other).unwrap();
    assert_eq!(ask(&index, other), [4, 1, 0]);
    let query = VectorQuery { space: small, vector: &question, filter: all(), limit: 9 };
    assert!(matches!(index.vector(1, &query), Err(Error::OtherSpace { .. })), "it is gone");
    drop(index);
    let (index, _) = open(&disk);
    assert_eq!(ask(&index, other), [4, 1, 0]);
    let folders = disk.list(&Path::new(DIR).join("tenant-1")).unwrap();
    assert_eq!(folders.iter().filter(|name| name.starts_with("vectors-")).count(), 2);
    let gone = index.further_applied(small, 1);
    assert!(matches!(gone, Err(Error::NoSuchSpace(_))));
}

/// Another table makes other vectors: they are not compared with those of before.
#[test]
fn an_index_of_another_table_is_made_anew() {
    let disk = SimDisk::new();
    let (index, _) = open(&disk);
    index.apply(1, &[put(1, "org:a", "violin")], 2).unwrap();
    index.commit().unwrap();
    drop(index);
    let space = Space { model: "lamina-static-0".to_owned(), dims: 256 };
    let (_, opened) = Index::open(Setup { space, ..setup(&disk) }).unwrap();
    assert_eq!((opened.rebuilt, opened.applied), (Some(Reason::OtherSpace), 0));
}

#[test]
fn a_long_record_is_found_by_its_parts() {
    let (index, _) = open(&SimDisk::new());
    let mut long = document(1, "org:a", "the first part is about violins");
    long.parts.push(Part { text: "the second is about submarines".to_owned(), vector: None });
    index.apply(1, &[Change::Put(long)], 2).unwrap();
    for _ in 0..2 {
        let query = LexicalQuery {
            text: "submarine",
            also: &[("violin", 0.5)],
            language: None,
            filter: all(),
            statistics: Statistics::Shipped,
            limit: 5,
        };
        let answer = index.lexical(1, &query).unwrap();
        let parts: Vec<u32> = answer.hits.iter().map(|hit| hit.key.part).collect();
        assert_eq!(parts, [1, 0]);
        let held = |part| {
            let key = RecordKey { layer: Layer::Event, id: id(1), part };
            let held = index.holds(1, &[key]).unwrap()[0];
            (held.lexical, held.vector)
        };
        assert_eq!([held(0), held(1), held(2)], [(true, true), (true, false), (false, false)]);
        index.commit().unwrap();
    }
    index.apply(1, &[remove(1)], 3).unwrap();
    assert_eq!(words(&index, 1, "violin submarine", all()), NONE);
}

#[test]
fn clearing_leaves_nothing_and_starts_at_the_beginning() {
    let disk = SimDisk::new();
    let (index, _) = open(&disk);
    index.apply(1, &[put(1, "org:a", "violin")], 9).unwrap();
    index.commit().unwrap();
    index.clear().unwrap();
    assert_eq!(index.applied(), 0);
    assert_eq!(words(&index, 1, "violin", all()), NONE);
    assert_eq!(disk.files(), [Path::new(DIR).join("applied")]);
    index.apply(1, &[put(1, "org:a", "violin")], 9).unwrap();
    assert_eq!(words(&index, 1, "violin", all()), [1]);
}

#[test]
fn more_tenants_than_are_kept_open() {
    let disk = SimDisk::new();
    let (index, _) = open(&disk);
    let count = 70;
    for tenant in 0..count {
        index.apply(tenant, &[put(u64::from(tenant), "org:a", "violin")], 1).unwrap();
        if tenant % 10 == 9 {
            index.commit().unwrap();
        }
    }
    index.commit().unwrap();
    for tenant in 0..count {
        assert_eq!(words(&index, tenant, "violin", all()), [u64::from(tenant)]);
    }
    assert!(index.open_tenants().len() <= super::OPEN_MAX);
}

/// Whether meaning is compared in a thread of its own is not to be seen in what is found.
#[test]
fn asking_by_both_finds_what_asking_by_each_finds() {
    let (index, _) = open(&SimDisk::new());
    let said = ["a violin concert", "a train to Oslo", "tickets for tomorrow", "the user runs"];
    let numbered = (0_u64..).zip(said.iter().cycle());
    let changes: Vec<Change> = numbered
        .take(70)
        .map(|(number, text)| put(number, if number < 3 { "org:a/user:x" } else { "org:a" }, text))
        .collect();
    index.apply(1, &changes, 100).unwrap();
    let (asked, space) = ("when does the train leave", space());
    let vector = StaticEmbedder::new().embed_one(asked).unwrap();
    // Few, many, none; and a tenant that has nothing.
    let scopes = ["org:a/user:x", "org:a", "org:b"].map(|path| (1, Filter::exact(scope(path))));
    for (tenant, filter) in scopes.into_iter().chain([(2, all())]) {
        let query = LexicalQuery {
            text: asked,
            also: &[],
            language: None,
            filter: filter.clone(),
            statistics: Statistics::Visible,
            limit: 20,
        };
        let near =
            VectorQuery { space: &space, vector: &vector, filter: filter.clone(), limit: 20 };
        let (by_words, by_meaning) = index.both(tenant, &query, &near).unwrap();
        assert_eq!(by_words, index.lexical(tenant, &query).unwrap());
        assert_eq!(by_meaning.unwrap(), index.vector(tenant, &near).unwrap());
    }
    let other = Space { model: "another".to_owned(), dims: 256 };
    let near = VectorQuery { space: &other, vector: &vector, filter: all(), limit: 3 };
    let query = LexicalQuery {
        text: asked,
        also: &[],
        language: None,
        filter: all(),
        statistics: Statistics::Visible,
        limit: 20,
    };
    let (by_words, by_meaning) = index.both(1, &query, &near).unwrap();
    assert!(!by_words.hits.is_empty(), "words are found whatever becomes of meaning");
    assert!(matches!(by_meaning, Err(Error::OtherSpace { .. })));
}
