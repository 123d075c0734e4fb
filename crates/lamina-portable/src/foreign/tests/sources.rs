//! Every importer on small files of its source: the rows, the errors with their place, and the report.

use expect_test::{Expect, expect};

use super::super::Format;
use super::super::testing::{archive, open, show};

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
fn jsonl_envelopes_pass_through_and_a_bad_line_costs_one() {
    check(
        "envelopes.jsonl",
        fixture!("jsonl/envelopes.jsonl"),
        Format::Jsonl,
        expect![[r#"
            0 2026-03-01T09:00:00Z envelope {"scope":"user:nora","modality":"conversation","content":{"kind":"message","role":"user","text":"The greenhouse needs a new pump."},"context":{"observed_at":"2026-03-01T09:00:00Z"},"idempotency_key":"nora-1"}
                id nora-1
            1 2026-03-01T10:00:00Z envelope {"scope":"user:nora","actor":"agent:gardener","modality":"observation","content":"Pump ordered.","context":{"observed_at":"2026-03-01T10:00:00Z","labels":["garden"]}}
                id sha256:288480b8da4c2b007dcc10cc881c1ddb#1
            2 2026-03-01T10:00:00Z envelope {"scope":"user:nora","actor":"agent:gardener","modality":"observation","content":"Pump ordered.","context":{"observed_at":"2026-03-01T10:00:00Z","labels":["garden"]}}
                id sha256:288480b8da4c2b007dcc10cc881c1ddb#2
            ! INVALID_BODY the JSON ends too early (envelopes.jsonl, line 5, column 144)
            ! INVALID_ENVELOPE a line is an array, not an envelope (envelopes.jsonl, line 6, column 1)
            ! INVALID_BODY the key `scope` occurs twice in one object (envelopes.jsonl, line 7, column 22)
            test (0 bytes), format jsonl
            This is JSONL: `envelopes.jsonl` has envelopes.

              read                    6
              written                 3
              known already           0
              replaced                0
              skipped                 0
              failed                  3

            By kind
                       3  envelope

            Kept
              (the whole line) -> the envelope

            Errors
              line 5: INVALID_BODY the JSON ends too early (envelopes.jsonl, line 5, column 144)
              line 6: INVALID_ENVELOPE a line is an array, not an envelope (envelopes.jsonl, line 6, column 1)
              line 7: INVALID_BODY the key `scope` occurs twice in one object (envelopes.jsonl, line 7, column 22)
        "#]],
    );
}

#[test]
fn jsonl_lines_of_our_own_export_are_understood() {
    check(
        "export.jsonl",
        fixture!("jsonl/export.jsonl"),
        Format::Jsonl,
        expect![[r#"
            0 2026-03-01T09:00:00Z envelope {"scope":"user:nora","observed_actor":{"id":"user:nora"},"modality":"conversation","content":{"kind":"message","role":"user","text":"I moved to Lisbon."},"context":{"observed_at":"2026-03-01T09:00:00Z"}}
                id evt_00000000000000000000000000000001
                recorded 2026-03-01T09:00:01Z
            1 2026-03-02T09:00:00Z envelope {"scope":"user:nora","observed_actor":{"id":"user:nora"},"modality":"imported","content":{"kind":"text","text":"Nora likes tea."},"context":{"observed_at":"2026-03-02T09:00:00Z"}}
                id evt_00000000000000000000000000000002
                after evt_00000000000000000000000000000001
                recorded 2026-03-02T09:00:01Z
                origin {"format":"mem0","id":"m-9"}
            2 2026-01-01T00:00:00Z (file) line cancellation {"reason":"a typo"}
                id evt_00000000000000000000000000000003
            3 2026-03-03T09:00:00Z envelope {"scope":"user:nora","modality":"document","content":{"kind":"text","text":"A scan of the logbook."},"context":{"observed_at":"2026-03-03T09:00:00Z"}}
                id evt_00000000000000000000000000000004
            ! INVALID_ENVELOPE this line of an export was written by a newer version of Lamina (export.jsonl, line 6, column 1)
            test (0 bytes), format jsonl
            This is JSONL: `export.jsonl` has the lines of an export of Lamina.

              read                    7
              written                 4
              known already           0
              replaced                0
              skipped                 2
              failed                  1

            By kind
                       1  cancellation
                       3  envelope

            Kept
              context.preceded_by -> the imported events
              event -> the envelope

            Changed
                       1  content.blob_ref: blobs do not travel; the transcript became the text

            Skipped
                       1  a blob without a transcript; blobs do not travel
                       1  a derived record; it is derived again from its events

            Errors
              line 6: INVALID_ENVELOPE this line of an export was written by a newer version of Lamina (export.jsonl, line 6, column 1)
        "#]],
    );
}

#[test]
fn mem0_page_of_the_platform_is_mapped() {
    check(
        "page.json",
        fixture!("mem0/page.json"),
        Format::Mem0,
        expect![[r#"
            0 2026-02-01T15:00:00Z imported text: Is allergic to peanuts
                id m-1
                session dinner-7
                actor agent:Kitchen-Helper
                labels mem0_source_id:m-1 | mem0_hash:0a1b | concept:health | concept:food | mem0_metadata.source:chat | mem0_metadata.rating:4
                variables agent_id=Kitchen Helper app_id=recipes run_id=dinner-7 user_id=nora
                expires 2027-01-31T00:00:00Z
                no_supersede true
                origin {"format":"mem0","id":"m-1","record":{"metadata":{"source":"chat","rating":4,"nested":{"a":1}}}}
            1 2026-02-03T08:00:00Z imported text: Lives in Lisbon
                id m-2
                labels mem0_source_id:m-2
                variables user_id=nora
                recorded 2025-02-01T08:00:00Z
                origin {"format":"mem0","id":"m-2","record":{"synthesized":false}}
            2 2025-01-01T00:00:00Z imported text: Lives in Porto
                id m-3
                labels mem0_source_id:m-3 | mem0_superseded
                variables user_id=nora
                replaced by m-2
                origin {"format":"mem0","id":"m-3"}
            ! INVALID_TIMESTAMP `some day` is no time; expected RFC 3339 such as 2026-05-13T15:42:00Z, or seconds since 1970 (page.json, line 37, column 5)
            ! MISSING_REQUIRED_FIELD a mem0 record has no `memory` (page.json, line 38, column 5)
            test (0 bytes), format mem0
            This is a mem0 export: `page.json` has records with a `memory`.

              read                    5
              written                 3
              known already           0
              replaced                0
              skipped                 0
              failed                  2

            By kind
                       3  text

            Kept
              agent_id -> observed_actor.id
              app_id -> {app_id} of the scope template
              categories -> labels concept:<category>
              created_at -> context.observed_at, context.source_recorded_at
              expiration_date -> directives.ttl_for_event_layer
              hash -> label mem0_hash
              id -> label mem0_source_id
              immutable -> directives.no_supersede
              memory -> content.text
              metadata -> labels mem0_metadata.<key>:<value>
              replaced_by -> the event that follows it, label mem0_superseded
              run_id -> observed_actor.session
              updated_at -> context.observed_at
              user_id -> {user_id} of the scope template

            Carried along in origin
                       1  metadata
                       1  synthesized

            Changed
                       1  time: a date without a time was read as its midnight
                       1  time: the time has no zone; it was read in the assumed one

            Lost
                       1  score: it is the score of one search, not a property of the memory

            Errors
              line 37: INVALID_TIMESTAMP `some day` is no time; expected RFC 3339 such as 2026-05-13T15:42:00Z, or seconds since 1970 (page.json, line 37, column 5)
              line 38: MISSING_REQUIRED_FIELD a mem0 record has no `memory` (page.json, line 38, column 5)
        "#]],
    );
}

#[test]
fn mem0_get_all_with_relations_is_mapped() {
    check(
        "get_all.json",
        fixture!("mem0/get_all.json"),
        Format::Mem0,
        expect![[r#"
            0 2026-01-05T10:00:00.123456Z imported text: Plays the cello
                id o-1
                labels mem0_source_id:o-1 | mem0_hash:ff
                variables user_id=otto
                origin {"format":"mem0","id":"o-1","record":{"role":"user","actor_id":"otto"}}
            1 2026-01-01T00:00:00Z (file) <otto> plays <cello>
                id sha256:9fa283dde8754219bb3f4dac61c7b216#1
                origin {"format":"mem0","relation":{"source":"otto","relationship":"plays","target":"cello"}}
            2 2026-01-01T00:00:00Z (file) <otto> sibling_of <nora>
                id sha256:51679ea845e1c7f788f8dd7078dba5a7#1
                origin {"format":"mem0","relation":{"source":"otto","relationship":"sibling_of","destination":"nora"}}
            ! MISSING_REQUIRED_FIELD a relation needs `source`, `relationship` and `target` (get_all.json, line 2, column 140)
            test (0 bytes), format mem0
            This is a mem0 export: `get_all.json` has records with a `memory`.

              read                    4
              written                 3
              known already           0
              replaced                0
              skipped                 0
              failed                  1

            By kind
                       1  text
                       2  triple

            Kept
              created_at -> context.observed_at, context.source_recorded_at
              hash -> label mem0_hash
              id -> label mem0_source_id
              memory -> content.text
              relations -> facts, the predicate is the edge's label
              user_id -> {user_id} of the scope template

            Carried along in origin
                       1  actor_id
                       1  role

            Changed
                       2  time: the source has no time; the time of the file was taken

            Errors
              line 2: MISSING_REQUIRED_FIELD a relation needs `source`, `relationship` and `target` (get_all.json, line 2, column 140)
        "#]],
    );
}

#[test]
fn mem0_markdown_blocks_are_mapped() {
    check(
        "export.md",
        fixture!("mem0/export.md"),
        Format::Mem0,
        expect![[r#"
            0 2026-01-15T10:00:00Z imported text: Run the linter before every commit.

            Second paragraph.
                id md-1
                labels mem0_source_id:md-1 | concept:style | concept:review
                origin {"format":"mem0","id":"md-1","record":{"type":"conventions","confidence":"0.85","branch":"main","files":["src/a.rs","src/b.rs"]}}
            1 2026-01-01T00:00:00Z (file) imported text: Names are nouns.
                id md-3
                labels mem0_source_id:md-3
                origin {"format":"mem0","id":"md-3"}
            test (0 bytes), format mem0
            This is a mem0 export: `export.md` has blocks with an `id`.

              read                    3
              written                 2
              known already           0
              replaced                0
              skipped                 1
              failed                  0

            By kind
                       2  text

            Kept
              categories -> labels concept:<category>
              created_at -> context.observed_at, context.source_recorded_at
              id -> label mem0_source_id
              memory -> content.text

            Carried along in origin
                       1  branch
                       1  confidence
                       1  files
                       1  type

            Changed
                       1  time: the source has no time; the time of the file was taken

            Skipped
                       1  the text is empty
        "#]],
    );
}

#[test]
fn zep_graph_resolves_nodes_that_come_after_edges() {
    check(
        "graph.json",
        fixture!("zep/graph.json"),
        Format::Zep,
        expect![[r#"
            0 2024-03-01T00:00:00Z <Nora: Person> WORKS_AT <Tideline> [2024-03-01T00:00:00Z..2026-01-31T00:00:00Z] 0.9 "Nora works at Tideline"
                id e-1
                labels zep_expired
                variables group_id=team blue
                scope ws:team-blue
                after p-1
                recorded 2024-03-02T09:00:00Z
                origin {"format":"zep","id":"e-1","name":"WORKS_AT","record":{"attributes":{"desk":4}}}
            1 2026-01-01T00:00:00Z imported text: Nora prefers trains
                id e-2
                origin {"format":"zep","id":"e-2","name":"PREFERS"}
            2 2024-03-01T10:00:00Z imported text: Nora builds boats.
                id n-1
                labels concept:Nora | entity_type:Person
                variables group_id=team blue
                scope ws:team-blue
                origin {"format":"zep","id":"n-1","name":"Nora"}
            3 2024-03-01T09:00:00Z user: I started at Tideline.
                id p-1
                session p-1
                actor user:Nora
                recorded 2024-03-01T09:00:05Z
                origin {"format":"zep","id":"p-1","name":"Nora","record":{"source":"message","source_description":"chat"}}
            4 2024-03-01T09:01:00Z assistant: Congratulations!
                id g-1
                session s-1
                actor agent:Helper
                origin {"format":"zep","id":"g-1","name":"Helper"}
            ! MISSING_REQUIRED_FIELD an edge has neither nodes that are known nor a `fact` (graph.json, line 7, column 5)
            ! INVALID_TIMESTAMP `never` is no time; expected RFC 3339 such as 2026-05-13T15:42:00Z, or seconds since 1970 (graph.json, line 8, column 5)
            test (0 bytes), format zep
            This is a Zep or Graphiti export: `graph.json` has nodes, edges or episodes.

              read                    8
              written                 5
              known already           0
              replaced                0
              skipped                 1
              failed                  2

            By kind
                       2  message
                       2  text
                       1  triple

            Kept
              content -> content.text
              created_at -> context.source_recorded_at
              episodes -> events with a session each
              group_id -> ws: scope, {group_id} of the scope template
              labels -> labels concept:<name>, entity_type:<label>
              messages -> messages with role and name
              name -> predicate
              source_node_uuid, target_node_uuid -> subject, object by name
              summary -> content.text
              valid_at, invalid_at -> valid_from, valid_to

            Carried along in origin
                       1  attributes
                       1  source
                       1  source_description

            Changed
                       1  edges: a node of the edge is not in the source; its sentence became a text

            Lost
                       1  fact_embedding: vectors are computed again

            Skipped
                       1  a node without a summary is known by its edges

            Errors
              line 7: MISSING_REQUIRED_FIELD an edge has neither nodes that are known nor a `fact` (graph.json, line 7, column 5)
              line 8: INVALID_TIMESTAMP `never` is no time; expected RFC 3339 such as 2026-05-13T15:42:00Z, or seconds since 1970 (graph.json, line 8, column 5)
        "#]],
    );
}

#[test]
fn zep_records_by_line_are_mapped() {
    check(
        "records.jsonl",
        fixture!("zep/records.jsonl"),
        Format::Zep,
        expect![[r#"
            0 2025-05-01T00:00:00Z <Otto> OWNS <a boat> [2025-05-01T00:00:00Z..] "Otto owns a boat"
                id e-1
                origin {"format":"zep","id":"e-1","name":"OWNS"}
            ! INVALID_ENVELOPE the record is no node, edge, episode or message (records.jsonl, line 4, column 1)
            test (0 bytes), format zep
            This is a Zep or Graphiti export: `records.jsonl` has nodes, edges or episodes.

              read                    4
              written                 1
              known already           0
              replaced                0
              skipped                 2
              failed                  1

            By kind
                       1  triple

            Kept
              created_at -> context.source_recorded_at
              name -> predicate
              source_node_uuid, target_node_uuid -> subject, object by name
              valid_at, invalid_at -> valid_from, valid_to

            Skipped
                       2  a node without a summary is known by its edges

            Errors
              line 4: INVALID_ENVELOPE the record is no node, edge, episode or message (records.jsonl, line 4, column 1)
        "#]],
    );
}

#[test]
fn letta_file_of_version_1_is_mapped() {
    check(
        "version1.af",
        fixture!("letta/version1.af"),
        Format::Letta,
        expect![[r#"
            0 2025-07-01T00:00:00Z imported text: Otto collects maps.
                id archivist/block/human
                actor agent:archivist
                labels concept:human | actor_subject_description
                variables agent_name=archivist
                recorded 2025-06-01T00:00:00Z
                origin {"format":"letta","block":{"limit":2000}}
            1 2025-06-02T00:00:00Z user: Where is the oldest map?
                id sha256:bcb90200caf17eb726113ca36d0b4ed7#1
                session archivist
                variables agent_name=archivist
                origin {"format":"letta"}
            ! INVALID_TIMESTAMP `bad time` is no time; expected RFC 3339 such as 2026-05-13T15:42:00Z, or seconds since 1970 (version1.af, line 1, column 1, /messages/1)
            test (0 bytes), format letta
            This is a Letta export: `version1.af` is an agent file of version 1.

              read                    3
              written                 2
              known already           0
              replaced                0
              skipped                 0
              failed                  1

            By kind
                       1  message
                       1  text

            Kept
              blocks -> events with the label concept:<label>
              messages -> messages with role, time and session

            Carried along in origin
                       1  blocks[].limit

            Lost
                       1  agent_type: configuration of the agent is not memory
                       1  archival passages: an agent file does not hold them; import a file of passages beside it
                       1  version: configuration of the agent is not memory

            Errors
              line 1: INVALID_TIMESTAMP `bad time` is no time; expected RFC 3339 such as 2026-05-13T15:42:00Z, or seconds since 1970 (version1.af, line 1, column 1, /messages/1)
        "#]],
    );
}

#[test]
fn chatgpt_memories_are_mapped() {
    check(
        "memories.json",
        fixture!("chatgpt/memories.json"),
        Format::ChatGpt,
        expect![[r#"
            0 2026-01-02T00:00:00Z imported text: Has a boat called Morning Tern
                id sha256:84e6ff2a09a19bb7a979353e5707fe03#1
                session s-7
                origin {"format":"openai","memory":{"source":{"session_id":"s-7"}}}
            ! MISSING_REQUIRED_FIELD a memory has no `text` (memories.json, line 1, column 119)
            test (0 bytes), format openai
            This is a ChatGPT export: `memories.json` has a list of `memories`.

              read                    2
              written                 1
              known already           0
              replaced                0
              skipped                 0
              failed                  1

            By kind
                       1  text

            Kept
              memories[].created -> context.observed_at, context.source_recorded_at
              memories[].source.session_id -> observed_actor.session
              memories[].text -> content.text

            Carried along in origin
                       1  memories[].source

            Errors
              line 1: MISSING_REQUIRED_FIELD a memory has no `text` (memories.json, line 1, column 119)
        "#]],
    );
}

#[test]
fn chatgpt_last_seen_branch_is_mapped_and_the_rest_counted() {
    check(
        "conversations.json",
        fixture!("chatgpt/conversations.json"),
        Format::ChatGpt,
        expect![[r#"
            0 2026-01-01T00:00:00.500Z (context) imported text: I restore boats.
                id concept:user_profile/934f4a7e0024ef74
                labels concept:user_profile
                origin {"format":"openai","conversation_id":"c-1","title":"Boat names"}
            1 2026-01-01T00:00:00.500Z (context) imported text: Answer in one line.
                id concept:custom_instructions/62b97596f25eab6a
                labels concept:custom_instructions
                origin {"format":"openai","conversation_id":"c-1","title":"Boat names"}
            2 2026-01-01T00:00:01.250Z user: Name my boat.
                id c-1/m-2
                session c-1
                origin {"format":"openai","conversation_id":"c-1","title":"Boat names","conversation":{"update_time":1767226000,"default_model_slug":"model-a","is_archived":false},"message_id":"m-2","message":{"metadata":{"attachments":[{"id":"f-1","name":"boat.png"}]}}}
            3 2026-01-01T00:00:04Z assistant: Morning Tern.
                id c-1/m-5
                session c-1
                actor agent:chatgpt
                origin {"format":"openai","conversation_id":"c-1","title":"Boat names","message_id":"m-5","message":{"metadata":{"model_slug":"model-a"}}}
            4 2026-01-01T00:03:21Z tool: 42
                id c-3/b
                session c-3
                actor agent:python
                origin {"format":"openai","conversation_id":"c-3","message_id":"b"}
            ! INVALID_ENVELOPE `mapping` of a conversation is no object (conversations.json, line 25, column 3)
            ! INVALID_TIMESTAMP `long ago` is no time; expected RFC 3339 such as 2026-05-13T15:42:00Z, or seconds since 1970 (conversations.json, line 26, column 3)
            test (0 bytes), format openai
            This is a ChatGPT export: `conversations.json` has conversations with a `mapping`.

              read                   11
              written                 5
              known already           0
              replaced                0
              skipped                 4
              failed                  2

            By kind
                       3  message
                       2  text

            Kept
              conversation_id -> observed_actor.session
              mapping -> messages with role, time, session and order
              user_editable_context -> texts with the labels concept:user_profile, concept:custom_instructions

            Carried along in origin
                       1  default_model_slug
                       1  is_archived
                       2  mapping[].message.metadata
                       1  update_time

            Lost
                       1  attachments: the bytes of files are not imported; their names are in the origin
                       1  parts.image: media is not imported

            Skipped
                       1  custom instructions that were imported already
                       1  the conversation is marked as not to be remembered
                       1  the message is on another branch than the one that was last seen
                       1  thoughts of a model are not memory

            Errors
              line 25: INVALID_ENVELOPE `mapping` of a conversation is no object (conversations.json, line 25, column 3)
              line 26: INVALID_TIMESTAMP `long ago` is no time; expected RFC 3339 such as 2026-05-13T15:42:00Z, or seconds since 1970 (conversations.json, line 26, column 3)
        "#]],
    );
}

#[test]
fn mcp_memory_file_is_mapped() {
    check(
        "memory.jsonl",
        fixture!("mcp-memory/memory.jsonl"),
        Format::McpMemory,
        expect![[r#"
            0 2026-01-01T00:00:00Z (file) <Nora Lund> is_a "person"
                id entity/Nora Lund
            1 2026-01-01T00:00:00Z (file) imported text: Nora Lund: Restores boats
                id entity/Nora Lund/observation/d7f5975700337963
                labels entity:Nora Lund
                origin {"format":"mcp_memory","entity":"Nora Lund","entity_type":"person","observation":"Restores boats"}
            2 2026-01-01T00:00:00Z (file) imported text: Nora Lund speaks Danish
                id entity/Nora Lund/observation/e4f4a1bc24269e87
                labels entity:Nora Lund
                origin {"format":"mcp_memory","entity":"Nora Lund","entity_type":"person","observation":"Nora Lund speaks Danish"}
            3 2026-01-01T00:00:00Z (file) <Tideline> is_a "company"
                id entity/Tideline
            4 2026-01-01T00:00:00Z (file) <Nora Lund> works_at <Tideline>
                id relation/Nora Lund/works_at/Tideline
            ! MISSING_REQUIRED_FIELD a relation needs `from`, `relationType` and `to` (memory.jsonl, line 4, column 1)
            ! INVALID_ENVELOPE the line is neither an `entity` nor a `relation` (memory.jsonl, line 5, column 1)
            test (0 bytes), format mcp_memory
            This is a file of the MCP memory server: `memory.jsonl` has entities and relations.

              read                    7
              written                 5
              known already           0
              replaced                0
              skipped                 0
              failed                  2

            By kind
                       2  text
                       3  triple

            Kept
              entityType -> facts with the predicate is_a
              observations -> texts that begin with the entity's name
              relations -> facts, the predicate is the relation's type

            Changed
                       5  time: the source has no time; the time of the file was taken

            Errors
              line 4: MISSING_REQUIRED_FIELD a relation needs `from`, `relationType` and `to` (memory.jsonl, line 4, column 1)
              line 5: INVALID_ENVELOPE the line is neither an `entity` nor a `relation` (memory.jsonl, line 5, column 1)
        "#]],
    );
}

#[test]
fn letta_agents_are_read_before_their_passages() {
    let source = archive(&[
        ("a/passages.jsonl", fixture!("letta/passages.jsonl")),
        ("b/guide.af", fixture!("letta/version2.af")),
    ]);
    expect![[r#"
        0 2026-01-02T00:00:00Z (context) imported text: Nora sails on Sundays.
            id Harbor Guide/block/human
            actor agent:Harbor-Guide
            labels concept:human | actor_subject_description
            variables agent_name=Harbor Guide
            origin {"format":"letta","block":{"id":"block-0","limit":5000,"description":"about the person"}}
        1 2026-01-02T00:00:00Z (context) imported text: I know every harbor.
            id Harbor Guide/block/persona
            actor agent:Harbor-Guide
            labels concept:persona | actor_self_description
            variables agent_name=Harbor Guide
            origin {"format":"letta","block":{"id":"block-1","limit":5000}}
        2 2026-01-01T10:00:02Z user: When is high tide?
            id sha256:11a5c231b6c0c9773e87c97c607d4187#1
            session Harbor Guide
            variables agent_name=Harbor Guide
            origin {"format":"letta","message":{"id":"message-2"}}
        3 2026-01-01T10:00:03Z assistant: I look it up.
            id sha256:0dcf63bfd759fbab3fb98b840dfb4375#1
            session Harbor Guide
            actor agent:Harbor-Guide
            labels tool_call:tide_table
            variables agent_name=Harbor Guide
            origin {"format":"letta","message":{"id":"message-3","tool_calls":[{"id":"c-1","function":{"name":"tide_table","arguments":"{\"day\": 1}"}}]}}
        4 2026-01-01T10:00:04Z tool: 14:20
            id sha256:ba33f97d33b857e4e90aecc2ed5b50d7#1
            session Harbor Guide
            actor agent:Harbor-Guide
            variables agent_name=Harbor Guide
            origin {"format":"letta","message":{"tool_call_id":"c-1","id":"message-4"}}
        5 2026-01-01T10:00:05Z assistant: At 14:20.
            id sha256:718aac67045ca63f4d3a32aa1cbb85fa#1
            session Harbor Guide
            actor agent:Harbor-Guide
            variables agent_name=Harbor Guide
            origin {"format":"letta","message":{"id":"message-5","tool_calls":[{"id":"c-2","function":{"name":"send_message","arguments":"{\"message\": \"At 14:20.\"}"}}]}}
        6 2026-01-02T00:00:00Z (context) imported text: A block of nobody.
            id unattached/block/spare
            labels concept:spare
            variables agent_name=unattached
            origin {"format":"letta","block":{"id":"block-2","limit":5000}}
        7 2025-06-03T00:00:00Z imported text: The oldest map is from 1702.
            id passage-1
            actor agent:Harbor-Guide
            labels letta:archival | tag:maps
            variables agent_name=Harbor Guide
            origin {"format":"letta"}
        ! MISSING_REQUIRED_FIELD this is no Letta agent file and no passage with a `text` (a/passages.jsonl, line 2, column 1)
        test (0 bytes), format letta
        This is a Letta export: `b/guide.af` among 2 files is an agent file of version 2.

          read                   12
          written                 8
          known already           0
          replaced                0
          skipped                 3
          failed                  1

        By kind
                   4  message
                   4  text

        Kept
          blocks -> events with the label concept:<label>
          messages -> messages with role, time and session
          text -> content.text

        Carried along in origin
                   1  blocks[].description
                   3  blocks[].id
                   3  blocks[].limit
                   4  messages[].id
                   1  messages[].tool_call_id
                   2  messages[].tool_calls

        Lost
                   1  agents[].system: configuration of the agent is not memory
                   1  agents[].tool_ids: configuration of the agent is not memory
                   1  archival passages: an agent file does not hold them; import a file of passages beside it
                   1  embedding: vectors are computed again
                   1  messages[].content.reasoning: thoughts of a model are not memory
                   1  tools: configuration of the agent is not memory

        Skipped
                   1  a system prompt is configuration of the agent, not memory
                   2  an event of the agent's machinery: a login, a heartbeat, an acknowledgement

        Errors
          line 2: MISSING_REQUIRED_FIELD this is no Letta agent file and no passage with a `text` (a/passages.jsonl, line 2, column 1)
    "#]].assert_eq(&show(source, Format::Letta));
}

#[test]
fn claude_archive_with_projects_and_memories_is_mapped() {
    let source = archive(&[
        ("data/conversations.json", fixture!("claude/conversations.json")),
        ("data/memories.json", fixture!("claude/memories.json")),
        ("data/projects/p-1.json", fixture!("claude/projects/p-1.json")),
        ("data/users.json", fixture!("claude/users.json")),
        ("__MACOSX/data/._users.json", "clutter"),
    ]);
    expect![[r#"
        0 2026-02-01T10:00:00.123456Z document text: Mast of nine metres.
            id c-1/m-1#file-0
            session c-1
            labels file:plan.txt
            origin {"format":"claude","file_name":"plan.txt","message_id":"m-1"}
        1 2026-02-01T10:00:00.123456Z user: Which rope for the halyard?
            id c-1/m-1
            session c-1
            origin {"format":"claude","conversation_id":"c-1","title":"Rigging","conversation":{"summary":"About ropes.","updated_at":"2026-02-01T10:05:00Z","account":{"uuid":"acc"}},"message_id":"m-1","message":{"parent_message_uuid":"00000000-0000-4000-8000-000000000000","files":[{"file_name":"mast.jpg"}]}}
        2 2026-02-01T10:01:00Z assistant: Pre-stretched polyester.
            id c-1/m-3
            session c-1
            actor agent:claude
            origin {"format":"claude","conversation_id":"c-1","title":"Rigging","message_id":"m-3","message":{"parent_message_uuid":"m-1","tool_calls":[{"name":"web_search","input":{"query":"halyard"}}]}}
        3 2026-02-01T10:01:00Z tool: Polyester stretches little.
            id c-1/m-3#tool-0
            session c-1
            actor agent:web_search
        4 2026-01-01T00:00:00Z (file) imported text: Nora restores boats.
            id memory/acc
            labels concept:conversations_memory
        5 2026-01-01T00:00:00Z (file) imported text: The boat is nine metres long.
            id project-memory/p-1
            labels project:p-1
            variables project_id=p-1
        6 2026-01-01T00:00:00Z imported text: Be brief.
            id project/p-1/prompt_template
            labels project:Refit | concept:project_instructions
            variables project_id=p-1
            origin {"format":"claude","project":{"name":"Refit","is_private":true}}
        7 2026-01-01T00:00:00Z (context) document text: Two winches.
            id project/p-1/doc/d-1
            labels project:Refit | file:parts.md
            variables project_id=p-1
            origin {"format":"claude","project_id":"p-1","project":"Refit","file_name":"parts.md"}
        test (0 bytes), format claude
        This is a Claude export: `data/conversations.json` among 5 files has conversations with `chat_messages`.

          read                   11
          written                 8
          known already           0
          replaced                0
          skipped                 3
          failed                  0

        By kind
                   3  message
                   5  text

        Kept
          attachments -> texts of modality document
          chat_messages -> messages with role, time, session and order
          content.tool_result -> messages of role tool
          conversations_memory -> content.text
          description, prompt_template -> content.text with the label project:<name>
          docs -> texts of modality document
          project_memories -> content.text with the label project:<uuid>

        Carried along in origin
                   1  account
                   1  chat_messages[].files
                   2  chat_messages[].parent_message_uuid
                   1  chat_messages[].tool_calls
                   1  content.tool_use
                   1  is_private
                   1  name
                   1  summary
                   1  updated_at

        Changed
                   2  time: the source has no time; the time of the file was taken
                   1  time: the time has no zone; it was read in the assumed one

        Lost
                   1  *.json: files of this kind are not imported
                   1  content.thinking: thoughts of a model are not memory
                   1  files: the bytes of files are not imported; their names are in the origin

        Skipped
                   1  the conversation has no messages
                   1  the message is on another branch than the one that was last seen
                   1  the text is empty
    "#]].assert_eq(&show(source, Format::Claude));
}
