"""Validates portable memory bundles of this checkout with the published toolkit: its deep validation,
its three JSON Schemas with formats asserted, the literal checksum, and the signature."""

import base64
import hashlib
import json
import pathlib
import sys

import jsonschema
import portable_ai_memory
import rfc8785
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from portable_ai_memory import load, validate_conversation, validate_embeddings, validate_memory_store

ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
KINDS = {
    "portable-ai-memory": "portable-ai-memory.schema.json",
    "portable-ai-memory-conversation": "portable-ai-memory-conversation.schema.json",
    "portable-ai-memory-embeddings": "portable-ai-memory-embeddings.schema.json",
}


def validators():
    root = pathlib.Path(portable_ai_memory.__file__).parent
    found = {}
    for kind, name in KINDS.items():
        schema = json.loads(next(root.rglob(name)).read_text())
        checker = jsonschema.Draft202012Validator.FORMAT_CHECKER
        found[kind] = jsonschema.Draft202012Validator(schema, format_checker=checker)
    return found


def base58(text):
    number = 0
    for c in text:
        number = number * 58 + ALPHABET.index(c)
    return number.to_bytes((number.bit_length() + 7) // 8, "big")


def check_signature(store):
    block = store.get("signature")
    if block is None:
        return
    key = base58(block["public_key"][1:])
    assert key[:2] == b"\xed\x01", "multicodec of Ed25519"
    payload = rfc8785.dumps({
        "checksum": store["integrity"]["checksum"],
        "export_id": store["export_id"],
        "export_date": store["export_date"],
        "owner_id": store["owner"]["id"],
    })
    value = base64.urlsafe_b64decode(block["value"] + "==")
    Ed25519PublicKey.from_public_bytes(key[2:]).verify(value, payload)


def no_duplicates(pairs):
    keys = [key for key, _ in pairs]
    assert len(keys) == len(set(keys)), f"a key stands twice: {keys}"
    return dict(pairs)


def check_files(folder, raw):
    """What the toolkit leaves out: entries and their files agree, nothing leads out, nothing private is in."""
    index = {entry["id"]: entry for entry in raw.get("conversations_index", [])}
    for path in sorted((folder / "conversations").glob("*.json")):
        talk = json.loads(path.read_text())
        entry = index.pop(talk["id"])
        assert entry["storage"]["ref"] == f"conversations/{path.name}", entry
        assert entry["message_count"] == len(talk["messages"]), entry
        assert entry["platform"] == talk["provider"]["name"], entry
        assert entry.get("title") == talk.get("title"), entry
        assert entry["temporal"] == talk["temporal"], entry
        assert entry["tags"] == talk.get("tags", []), entry
        ids = [message["id"] for message in talk["messages"]]
        assert len(ids) == len(set(ids)), "two messages with one id"
        refs = [m["provenance"].get("message_ref") for m in raw["memories"]
                if m["provenance"].get("conversation_ref") == talk["id"]]
        assert all(ref is None or ref in ids for ref in refs), refs
        listed = {m["id"] for m in raw["memories"] if m["provenance"].get("conversation_ref") == talk["id"]}
        assert listed == set(entry["derived_memories"]), entry
    for entry in index.values():
        assert (entry.get("storage") or {}).get("type") != "file", entry
    for memory in raw["memories"]:
        assert (memory.get("access") or {}).get("exportable") is not False, memory["id"]


def errors_of(issues):
    found = getattr(issues, "issues", issues)
    return [issue for issue in found if getattr(issue, "level", "error") == "error"]


def check_bundle(folder, schemas):
    for path in sorted(folder.rglob("*.json")):
        value = json.loads(path.read_text(), object_pairs_hook=no_duplicates)
        schemas[value["schema"]].validate(value)
    raw = json.loads((folder / "memory-store.json").read_text())
    memories = sorted(raw["memories"], key=lambda memory: memory["id"])
    checksum = "sha256:" + hashlib.sha256(rfc8785.dumps(memories)).hexdigest()
    assert checksum == raw["integrity"]["checksum"], "literal checksum"
    check_signature(raw)
    check_files(folder, raw)
    store = load(folder / "memory-store.json")
    problems = errors_of(validate_memory_store(store))
    for path in sorted((folder / "conversations").glob("*.json")):
        problems += errors_of(validate_conversation(load(path)))
    if (folder / "embeddings.json").exists():
        problems += errors_of(validate_embeddings(load(folder / "embeddings.json"), store))
    assert not problems, problems


def main():
    schemas = validators()
    bundles = sorted(path for path in pathlib.Path(sys.argv[1]).iterdir() if path.is_dir())
    assert bundles, "there is no bundle to judge"
    for folder in bundles:
        try:
            check_bundle(folder, schemas)
        except Exception as error:
            sys.exit(f"{folder.name}: {type(error).__name__}: {error}")
    print(f"{len(bundles)} bundles are valid for the published toolkit")


main()
