//! More importers on small files of their sources.

use expect_test::{Expect, expect};

use super::super::testing::{FILE_TIME, archive, open, read_all, show, show_row};
use super::super::{Format, ImportOptions, detect};
use crate::csv::ColumnMap;

/// A file of the fixtures.
macro_rules! fixture {
    ($path:literal) => {
        include_str!(concat!("../../../../../fixtures/import/", $path))
    };
}

fn check(name: &str, content: &str, format: Format, expected: Expect) {
    expected.assert_eq(&show(open(name, content.as_bytes()), format));
}

#[test]
fn gemini_activities_become_sessions() {
    check(
        "MyActivity.json",
        fixture!("gemini/MyActivity.json"),
        Format::Gemini,
        expect![[r#"
            0 2026-03-01T09:00:00Z user: Old question
                id sha256:af656c24906a3a6e20a2dc306b8cea7e#1
                session g-7
                origin {"format":"gemini","activity":{"titleUrl":"https://example.com/app/c/g-7"}}
            1 2026-03-01T09:00:00Z assistant: Old answer
                id sha256:7b1c463f8318040a913c2418011b8f1f#1
                session g-7
                actor agent:gemini
            2 2026-04-01T11:00:00Z user: How do I fix a leak?
                id sha256:63d5750fd123990a8b997d085ff7cc09#1
                session gemini-2026-04-01T11:00:00Z
                origin {"format":"gemini"}
            3 2026-04-01T11:00:00Z assistant: - Dry it
            - Seal it
                id sha256:0e9bcc5dda65ea6c3b75e539b178dd46#1
                session gemini-2026-04-01T11:00:00Z
                actor agent:gemini
            4 2026-04-01T11:10:00Z user: And the cost?
                id sha256:c3d5a00fcfcf3500289890c87a3ea7dc#1
                session gemini-2026-04-01T11:00:00Z
                origin {"format":"gemini","activity":{"attachedFiles":["a.txt"]}}
            5 2026-04-01T11:10:00Z assistant: About 40 euros & change.
                id sha256:37b729c5a5c902b1d8f95c304a6d41a3#1
                session gemini-2026-04-01T11:00:00Z
                actor agent:gemini
            test (0 bytes), format gemini
            This is a Gemini export: `MyActivity.json` has activities.

              read                    8
              written                 6
              known already           0
              replaced                0
              skipped                 2
              failed                  0

            By kind
                       6  message

            Kept
              (records) -> messages with role, time and session

            Carried along in origin
                       1  attachedFiles
                       1  titleUrl

            Lost
                       1  attachedFiles: the bytes of files are not imported

            Skipped
                       1  an activity of another product
                       1  an activity that is no prompt
        "#]],
    );
}

#[test]
fn gemini_page_is_read() {
    check(
        "MyActivity.html",
        fixture!("gemini/MyActivity.html"),
        Format::Gemini,
        expect![[r#"
            0 2026-02-17T20:08:20Z user: Two lines
            of a prompt
                id sha256:19754ed73904207635cce411a07b2a8f#1
                session gemini-2026-02-17T20:08:20Z
                origin {"format":"gemini"}
            1 2026-02-17T20:08:20Z assistant: Fine.
                id sha256:5405a1e42428a6d572e15d5d58eaecfc#1
                session gemini-2026-02-17T20:08:20Z
                actor agent:gemini
            test (0 bytes), format gemini
            This is a Gemini export: `MyActivity.html` has cells of activities.

              read                    3
              written                 2
              known already           0
              replaced                0
              skipped                 1
              failed                  0

            By kind
                       2  message

            Kept
              (records) -> messages with role, time and session

            Skipped
                       1  an activity that is no prompt
        "#]],
    );
}

#[test]
fn grok_last_seen_branch_is_mapped() {
    check(
        "prod-grok-backend.json",
        fixture!("grok/prod-grok-backend.json"),
        Format::Grok,
        expect![[r#"
            0 2026-05-01T10:00:00Z user: Which knot?
                id c-1/r-1
                session c-1
                origin {"format":"grok","conversation_id":"c-1","title":"Knots","conversation":{"starred":true},"response_id":"r-1"}
            1 2026-05-01T10:00:02Z assistant: A cleat hitch.
                id c-1/r-3
                session c-1
                actor agent:grok
                origin {"format":"grok","conversation_id":"c-1","title":"Knots","response_id":"r-3","response":{"parent_response_id":"r-1","model":"grok-a"}}
            2 2026-01-01T00:00:00Z (file) imported text: Speak like a sailor.
                id project/w-1
                labels project:Sailing
                origin {"format":"grok","project":{"name":"Sailing"}}
            3 2026-05-02T10:00:00Z user: a lighthouse
                id media/mp-1
                labels grok:media_prompt
                origin {"format":"grok"}
            test (0 bytes), format grok
            This is a Grok export: `prod-grok-backend.json` has conversations with `responses`.

              read                    7
              written                 4
              known already           0
              replaced                0
              skipped                 3
              failed                  0

            By kind
                       3  message
                       1  text

            Kept
              media_posts -> the prompt as a message
              projects -> content.text with the label project:<name>
              responses -> messages with role, time, session and order

            Carried along in origin
                       1  conversation.starred
                       1  projects[].name
                       1  responses[].model
                       1  responses[].parent_response_id

            Changed
                       1  time: the source has no time; the time of the file was taken

            Lost
                       1  thinking_trace: thoughts of a model are not memory

            Skipped
                       1  a task is configuration, not memory
                       1  the conversation is temporary
                       1  the message is on another branch than the one that was last seen
        "#]],
    );
}

#[test]
fn langgraph_items_are_mapped() {
    check(
        "items.jsonl",
        fixture!("langgraph/items.jsonl"),
        Format::LangGraph,
        expect![[r#"
        0 2026-01-02T10:00:00Z imported text: Nora drinks green tea.
            id nora/preferences/tea
            labels namespace:nora/preferences
            variables namespace=nora/preferences
            recorded 2026-01-01T10:00:00Z
            origin {"format":"langgraph","namespace":"nora/preferences","key":"tea"}
        1 2026-01-03T10:00:00Z json: {"name":"Morning Tern","length":9.0}
            id nora/profile/boat
            labels namespace:nora/profile
            variables namespace=nora/profile
            origin {"format":"langgraph","namespace":"nora/profile","key":"boat"}
        ! MISSING_REQUIRED_FIELD an item needs a `key` and a `value`; checkpoints cannot be imported (items.jsonl, line 3, column 1)
        test (0 bytes), format langgraph
        This is a LangGraph store: `items.jsonl` has items with a namespace.

          read                    3
          written                 2
          known already           0
          replaced                0
          skipped                 0
          failed                  1

        By kind
                   1  json
                   1  text

        Kept
          namespace, key -> label namespace:<a/b>, {namespace} of the scope template
          value -> content

        Errors
          line 3: MISSING_REQUIRED_FIELD an item needs a `key` and a `value`; checkpoints cannot be imported (items.jsonl, line 3, column 1)
    "#]],
    );
}

#[test]
fn basic_memory_note_is_mapped() {
    check(
        "notes/boat.md",
        fixture!("basic-memory/boat.md"),
        Format::BasicMemory,
        expect![[r#"
            0 2026-01-10T08:00:00Z (context) imported text: Morning Tern: The hull needs paint
                id boats/morning-tern#ee6e862d100ed6cc
                labels entity:Morning Tern | category:state | tag:work
                origin {"format":"basic_memory","note":"Morning Tern","observation":"The hull needs paint #work","context":"seen in dry dock"}
            1 2026-01-10T08:00:00Z (context) <Morning Tern> owned_by <Nora Lund>
                id boats/morning-tern#owned_by/Nora Lund
                origin {"format":"basic_memory","context":"since 2019"}
            2 2026-01-10T08:00:00Z (context) <Morning Tern> relates_to <Harbor Lisbon>
                id boats/morning-tern#relates_to/Harbor Lisbon
                origin {"format":"basic_memory"}
            3 2026-01-10T08:00:00Z (context) document text: # Morning Tern

            A wooden sloop from 1961.

            ## Observations

            - [ ] buy paint
            - [manual](https://example.com)

            ## Relations
                id boats/morning-tern
                labels concept:Morning Tern | tag:boat | tag:refit
                origin {"format":"basic_memory","note":{"type":"note"}}
            test (0 bytes), format basic_memory
            This is a note of basic-memory: `boat.md` is a note with front matter or links.

              read                    4
              written                 4
              known already           0
              replaced                0
              skipped                 0
              failed                  0

            By kind
                       2  text
                       2  triple

            Kept
              (prose) -> texts of modality document
              observations -> texts that begin with the note's title
              relations -> facts, the predicate is the relation's name
              title, permalink, tags -> labels concept:<title>, tag:<tag>; the id

            Carried along in origin
                       1  type
        "#]],
    );
}

#[test]
fn csv_triples_are_mapped() {
    check(
        "triples.csv",
        fixture!("csv/triples.csv"),
        Format::Csv,
        expect![[r#"
            0 2024-01-01T00:00:00Z (context) <Nora> lives_in <Porto> [2024-01-01T00:00:00Z..2025-06-01T00:00:00Z] 0.8
                id sha256:73119b11b8978696811a6ed49d4f6ef1#1
                origin {"format":"csv"}
            1 2025-06-01T00:00:00Z (context) <Nora> lives_in <Lisbon> [2025-06-01T00:00:00Z..]
                id sha256:090b4d9444f907be09857b6e1f46be20#1
                origin {"format":"csv"}
            test (0 bytes), format csv
            This is CSV: `triples.csv` is a table.

              read                    2
              written                 2
              known already           0
              replaced                0
              skipped                 0
              failed                  0

            By kind
                       2  triple

            Kept
              subject, predicate, object -> subject, predicate and object of a triple
        "#]],
    );
}

#[test]
fn copilot_answers_follow_their_questions() {
    check(
        "copilot-activity-history.csv",
        fixture!("copilot/copilot-activity-history.csv"),
        Format::Copilot,
        expect![[r#"
            0 2026-02-17T14:36:11Z user: Which wood?
                id sha256:3a0edfef42b7ebcccd74a7bde2c5d847#1
                session Boats
                origin {"format":"copilot"}
            1 2026-02-17T14:36:11Z assistant: Use oak.
                id sha256:5ef5d963d3658613f5a32f5983db6b38#1
                session Boats
                actor agent:copilot
                origin {"format":"copilot"}
            2 2026-02-18T09:05:00Z user: Thanks
                id sha256:17aa2c5ee357aeac8f149b3a096abe3c#1
                session Boats
                origin {"format":"copilot"}
            test (0 bytes), format copilot
            This is a Copilot export: `copilot-activity-history.csv` has the columns of the privacy dashboard.

              read                    3
              written                 3
              known already           0
              replaced                0
              skipped                 0
              failed                  0

            By kind
                       3  message

            Kept
              role -> content.role
              session -> observed_actor.session
              text -> content.text
              time -> context.observed_at

            Changed
                       3  time: the time has no zone; it was read in the assumed one
        "#]],
    );
}

#[test]
fn hindsight_bank_is_mapped() {
    let source = archive(&[
        ("manifest.json", fixture!("hindsight/manifest.json")),
        ("observations.json", fixture!("hindsight/observations.json")),
        ("documents/000000.json", fixture!("hindsight/documents/000000.json")),
        ("directives.json", fixture!("hindsight/directives.json")),
        ("banks.json", "[]"),
    ]);
    expect![[r#"
        0 2026-05-04T10:00:00Z document text: Nora launched the boat on Sunday.
            id doc-1
            labels tag:boat
            origin {"format":"hindsight"}
        1 2026-05-03T00:00:00Z imported text: Nora launched the boat
            id doc-1/fact/0
            labels fact_type:world | entity:Nora
            after doc-1
            recorded 2026-05-04T10:00:00Z
            origin {"format":"hindsight"}
        2 2026-05-05T00:00:00Z imported text: Nora sails often
            id observation/2d434d2047664be6
            labels fact_type:observation
            origin {"format":"hindsight","fact":{"proof_count":2}}
        3 2026-05-01T00:00:00Z imported text: Answer in Danish.
            id directive/d-1
            labels instruction:tone
            origin {"format":"hindsight","record":{"name":"tone"}}
        test (0 bytes), format hindsight
        This is a Hindsight bank: `manifest.json` among 5 files is the manifest of a bank.

          read                    4
          written                 4
          known already           0
          replaced                0
          skipped                 0
          failed                  0

        By kind
                   4  text

        Kept
          documents -> texts of modality document
          facts -> texts with the labels entity:<name>, fact_type:<type>
          mental_models, directives -> texts with the label concept:<name> or instruction:<name>

        Carried along in origin
                   1  directive[].name
                   1  facts[].proof_count

        Lost
                   1  *.json: files of this kind are not imported
    "#]]
    .assert_eq(&show(source, Format::Hindsight));
}

#[test]
fn csv_with_a_map_reads_its_columns_and_refuses_dates_without_zone() {
    let source = open("notes.csv", fixture!("csv/notes.csv").as_bytes());
    let columns = ColumnMap::parse("text=body,time=when,role=who").expect("is a map");
    let options = ImportOptions { columns, ..ImportOptions::new(FILE_TIME) };
    let result = read_all(source, Format::Csv, options);
    let mut out: String = result.rows.iter().map(show_row).collect();
    for error in result.errors {
        out.push_str(&format!("! {} {error}\n", error.code.as_str()));
    }
    expect![[r#"
        0 2026-01-01T10:00:00Z user: Say "hi"; twice
            id sha256:ddad80a03dc4a89e33cbbe6cee75bac1#1
            session t-1
            labels a | b
            origin {"format":"csv","columns":{"colour":"red"}}
        ! INVALID_TIMESTAMP `2026-01-01 10:01` has no zone; end with `Z` or `+hh:mm`, or say which zone to assume (notes.csv, line 3, column 1)
        ! INVALID_ENVELOPE `captain` is no role; there are user, assistant, tool, system (notes.csv, line 4, column 1)
        ! INVALID_BODY the record has 7 fields, the header 6 (notes.csv, line 5, column 1)
    "#]].assert_eq(&out);
}

#[test]
fn csv_without_a_text_column_is_refused_once() {
    let source = open("a.csv", b"x,y\n1,2\n3,4\n");
    let result = read_all(source, Format::Csv, ImportOptions::new(FILE_TIME));
    assert!(result.rows.is_empty());
    let errors: Vec<String> = result.errors.iter().map(ToString::to_string).collect();
    expect!["no column holds the text; say which with `--map text=COLUMN`. The header has `x`, `y` (a.csv, line 1, column 1)"].assert_eq(&errors.join("\n"));
}

#[test]
fn detection_recognizes_every_fixture() {
    let files = [
        ("envelopes.jsonl", fixture!("jsonl/envelopes.jsonl")),
        ("export.jsonl", fixture!("jsonl/export.jsonl")),
        ("page.json", fixture!("mem0/page.json")),
        ("get_all.json", fixture!("mem0/get_all.json")),
        ("export.md", fixture!("mem0/export.md")),
        ("graph.json", fixture!("zep/graph.json")),
        ("records.jsonl", fixture!("zep/records.jsonl")),
        ("version1.af", fixture!("letta/version1.af")),
        ("version2.af", fixture!("letta/version2.af")),
        ("conversations.json", fixture!("chatgpt/conversations.json")),
        ("memories.json", fixture!("chatgpt/memories.json")),
        ("conversations.json", fixture!("claude/conversations.json")),
        ("memories.json", fixture!("claude/memories.json")),
        ("p-1.json", fixture!("claude/projects/p-1.json")),
        ("memory.jsonl", fixture!("mcp-memory/memory.jsonl")),
        ("MyActivity.json", fixture!("gemini/MyActivity.json")),
        ("MyActivity.html", fixture!("gemini/MyActivity.html")),
        ("prod-grok-backend.json", fixture!("grok/prod-grok-backend.json")),
        ("items.jsonl", fixture!("langgraph/items.jsonl")),
        ("boat.md", fixture!("basic-memory/boat.md")),
        ("manifest.json", fixture!("hindsight/manifest.json")),
        ("notes.csv", fixture!("csv/notes.csv")),
        ("triples.csv", fixture!("csv/triples.csv")),
        ("history.csv", fixture!("copilot/copilot-activity-history.csv")),
        ("photo.bin", "\u{1}\u{2}"),
        ("empty.json", "[]"),
    ];
    let found = files.map(|(name, content)| {
        let found = detect(&open(name, content.as_bytes())).expect("is readable");
        format!("{name}: {:?}. {}\n", found.format, found.sentence)
    });
    expect![[r#"
        envelopes.jsonl: Some(Jsonl). This is JSONL: `envelopes.jsonl` has envelopes.
        export.jsonl: Some(Jsonl). This is JSONL: `export.jsonl` has the lines of an export of Lamina.
        page.json: Some(Mem0). This is a mem0 export: `page.json` has records with a `memory`.
        get_all.json: Some(Mem0). This is a mem0 export: `get_all.json` has records with a `memory`.
        export.md: Some(Mem0). This is a mem0 export: `export.md` has blocks with an `id`.
        graph.json: Some(Zep). This is a Zep or Graphiti export: `graph.json` has nodes, edges or episodes.
        records.jsonl: Some(Zep). This is a Zep or Graphiti export: `records.jsonl` has nodes, edges or episodes.
        version1.af: Some(Letta). This is a Letta export: `version1.af` is an agent file of version 1.
        version2.af: Some(Letta). This is a Letta export: `version2.af` is an agent file of version 2.
        conversations.json: Some(ChatGpt). This is a ChatGPT export: `conversations.json` has conversations with a `mapping`.
        memories.json: Some(ChatGpt). This is a ChatGPT export: `memories.json` has a list of `memories`.
        conversations.json: Some(Claude). This is a Claude export: `conversations.json` has conversations with `chat_messages`.
        memories.json: Some(Claude). This is a Claude export: `memories.json` has memories or projects of Claude.
        p-1.json: Some(Claude). This is a Claude export: `p-1.json` has memories or projects of Claude.
        memory.jsonl: Some(McpMemory). This is a file of the MCP memory server: `memory.jsonl` has entities and relations.
        MyActivity.json: Some(Gemini). This is a Gemini export: `MyActivity.json` has activities.
        MyActivity.html: Some(Gemini). This is a Gemini export: `MyActivity.html` has cells of activities.
        prod-grok-backend.json: Some(Grok). This is a Grok export: `prod-grok-backend.json` has conversations with `responses`.
        items.jsonl: Some(LangGraph). This is a LangGraph store: `items.jsonl` has items with a namespace.
        boat.md: Some(BasicMemory). This is a note of basic-memory: `boat.md` is a note with front matter or links.
        manifest.json: Some(Hindsight). This is a Hindsight bank: `manifest.json` is the manifest of a bank.
        notes.csv: Some(Csv). This is CSV: `notes.csv` is a table.
        triples.csv: Some(Csv). This is CSV: `triples.csv` is a table.
        history.csv: Some(Copilot). This is a Copilot export: `history.csv` has the columns of the privacy dashboard.
        photo.bin: None. No format was recognized in `photo.bin`. Name it with --format.
        empty.json: None. No format was recognized in `empty.json`. Name it with --format.
    "#]].assert_eq(&found.concat());
}
