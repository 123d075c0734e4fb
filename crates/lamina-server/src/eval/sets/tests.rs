//! Small examples of each layout, made for these tests.

use std::path::Path;

use lamina_env::Disk;
use lamina_env::sim::SimDisk;

use super::{Conversation, Layout, digits};

fn disk(files: &[(&str, &str)]) -> SimDisk {
    let disk = SimDisk::new();
    for (name, text) in files {
        let path = Path::new(name);
        disk.create_dir_all(path.parent().unwrap()).unwrap();
        disk.create_new(path).unwrap().write_at(text.as_bytes(), 0).unwrap();
    }
    disk
}

fn read(layout: Layout, files: &[(&str, &str)], path: &str) -> anyhow::Result<Vec<Conversation>> {
    layout.read(&disk(files), Path::new(path), None)
}

#[test]
fn locomo_turns_have_sessions_speakers_and_times() {
    let text = r#"[{"sample_id":"c1","conversation":{"speaker_a":"Ada","speaker_b":"Ben",
        "session_1_date_time":"1:56 pm on 8 May, 2023","session_1":[
          {"speaker":"Ada","dia_id":"D1:1","text":"The roof leaks."},
          {"speaker":"Ben","dia_id":"D1:2","text":"Look.","blip_caption":"a wet floor"}]},
        "qa":[{"question":"What leaks?","evidence":["D1:1; D1:2","D"],"category":4},
              {"question":"What burns?","evidence":["D1:1"],"category":5},
              {"question":"Where?","evidence":[],"category":4}]}]"#;
    let set = read(Layout::Locomo, &[("/d/l.json", text)], "/d/l.json").unwrap();
    let [conversation] = set.as_slice() else { panic!("one conversation") };
    assert_eq!(conversation.records[1].text, "Look. [shares a wet floor]");
    assert_eq!(conversation.records[1].at.to_string(), "2023-05-08T13:56:20");
    assert_eq!(conversation.records[0].actor, "user:ada");
    assert_eq!(conversation.questions.len(), 2, "one has no evidence");
    assert_eq!(conversation.questions[0].evidence.len(), 2);
    assert!(conversation.questions[1].evidence.is_empty(), "adversarial");
}

#[test]
fn beam_questions_know_updates_and_sides() {
    let chat = r#"[{"batch_number":1,"turns":[[
        {"role":"user","id":0,"time_anchor":"March-15-2024","content":"I have 3 cards. ->-> 1,1"},
        {"role":"assistant","id":1,"content":"Good."},{"role":"user","id":2,"content":"5 now."}]]}]"#;
    let asked = r#"{"knowledge_update":[{"question":"How many?",
        "source_chat_ids":{"original_info":[0],"updated_info":[2]}}],
        "abstention":[{"question":"Which colour?"}],
        "summarization":[{"question":"All?","source_chat_ids":[[0,1],[77]]}]}"#;
    let files = [("/d/1/chat.json", chat), ("/d/1/probing_questions.json", asked)];
    let set = read(Layout::Beam, &files, "/d").unwrap();
    let [chat] = set.as_slice() else { panic!("one chat") };
    assert_eq!(chat.records[0].text, "I have 3 cards.");
    assert_eq!(chat.records[0].at.to_string(), "2024-03-15T00:00:20");
    let update = chat.questions.iter().find(|q| q.category == "knowledge_update").unwrap();
    assert!(update.update.is_some() && update.sides.is_none());
    let all = chat.questions.iter().find(|q| q.category == "summarization").unwrap();
    assert_eq!(all.evidence.len(), 2, "77 is nothing that was said");
    assert!(chat.questions.iter().any(|q| q.evidence.is_empty()), "abstention");
}

#[test]
fn longmemeval_evidence_is_sessions() {
    let text = r#"[{"question_id":"q1","question_type":"single","question":"What?",
        "answer_session_ids":["s2"],"haystack_dates":["2023/05/20 (Sat) 02:21","2023-05-19T10:00:00"],
        "haystack_session_ids":["s1","s2"],"haystack_sessions":[[{"role":"user","content":"b"}],
        [{"role":"user","content":"a"},{"role":"assistant","content":"c"}]]}]"#;
    let set = read(Layout::LongMemEval, &[("/d/m.json", text)], "/d/m.json").unwrap();
    let units: Vec<&str> = set[0].records.iter().map(|record| record.unit.as_str()).collect();
    assert_eq!(units, ["s2", "s2", "s1"], "in the order of their dates");
}

#[test]
fn memdaily_and_own() {
    let daily = r#"[{"tid":0,"message_list":[{"mid":0,"message":"a","time":"2024年04月01日 周一 08:38"}],
        "question_list":[{"question":"q","target_step_id":[0]}]}]"#;
    let set = read(Layout::MemDaily, &[("/d/01_x.json", daily)], "/d").unwrap();
    assert_eq!(set[0].records[0].at.to_string(), "2024-04-01T08:38:00");
    let own = "{\"id\":1,\"said\":\"The roof leaks.\",\"at\":\"2026-03-01 10:00\"}\n\n\
               {\"question\":\"What leaks?\",\"evidence\":[1]}\n";
    let set = read(Layout::Own, &[("/d/o.jsonl", own)], "/d/o.jsonl").unwrap();
    assert_eq!((set[0].records.len(), set[0].questions.len()), (1, 1));
    let wrong = read(Layout::Own, &[("/d/o.jsonl", "{}")], "/d/o.jsonl").unwrap_err();
    assert!(format!("{wrong:#}").contains("line 1"), "{wrong:#}");
}

#[test]
fn a_date_is_its_numbers() {
    assert_eq!(digits("2023/05/20 (Sat) 02:21").unwrap().to_string(), "2023-05-20T02:21:00");
    assert!(digits("soon").is_err() && digits("2023-13-01").is_err());
}

#[test]
fn realmem_question_is_asked_at_the_beginning_of_its_session() {
    let text = r#"{"dialogues":[
        {"session_uuid":"s1","current_time":"2025-12-19 (Friday)","dialogue_turns":[
            {"speaker":"User","is_query":false,"content":"I bought oak."}]},
        {"session_uuid":"s2","current_time":"2025-12-20 (Saturday)","dialogue_turns":[
            {"speaker":"User","is_query":true,"content":"Which wood?","category_name":"c"},
            {"speaker":"Assistant","is_query":false,"content":"Oak.","memory_session_uuids":["s1","s2"]}]}]}"#;
    let set = read(Layout::RealMem, &[("/d/m.json", text)], "/d").unwrap();
    assert_eq!((set[0].records.len(), set[0].questions.len()), (3, 1));
    let asked = &set[0].questions[0];
    assert_eq!(asked.at.as_deref(), Some("2025-12-20T00:00:00Z"));
    assert_eq!(asked.evidence.iter().collect::<Vec<_>>(), ["s1"], "its own session is no evidence");
}

#[test]
fn gatemem_checkpoint_stands_after_its_turn_and_requests_to_delete_are_told() {
    let episodes = concat!(
        r#"{"episode_id":"e1","turns":[{"turn_id":"t1","timestamp":"2026-03-03T08:00","#,
        r#""speaker":{"principal_id":"ann","role":"guest"},"text":"My room is 12."},"#,
        r#"{"turn_id":"t2","timestamp":"2026-03-03T08:03","speaker":{"principal_id":"ann","#,
        r#""role":"guest"},"text":"Please delete my room number."}]}"#,
    );
    let checkpoints = concat!(
        r#"{"episode_id":"e1","as_of_turn_id":"t2","asker":{"principal_id":"bo","role":"clerk"},"#,
        r#""query_type":"privacy","query_text":"Which room?","#,
        r#""judge_spec":{"include":[],"not_include":["room 12"]},"leak_targets":["12"]}"#,
    );
    let all = [("/d/episodes.jsonl", episodes), ("/d/checkpoints.jsonl", checkpoints)];
    let read = super::gatemem::read(&disk(&all), std::path::Path::new("/d")).unwrap();
    let [episode] = read.as_slice() else { panic!("one episode") };
    assert!(!episode.turns[0].asks_to_delete() && episode.turns[1].asks_to_delete());
    let asked = &episode.checkpoints[&1][0];
    assert_eq!((asked.actor.as_str(), asked.role.as_str()), ("user:bo", "clerk"));
    assert_eq!(asked.excludes.len(), 2);
}
