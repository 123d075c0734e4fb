//! Files, symbols, imports, calls and tests of indexed source code.

use super::{Extraction, Properties, RuleResult, transform};
use crate::zaxy::fields::Fields;

pub(super) fn apply(x: &mut Extraction<'_>) -> Option<RuleResult> {
    match x.event.kind.as_str() {
        "code.file.indexed" => file(x),
        "code.symbol.indexed" => symbol(x),
        "code.import.indexed" => import(x),
        "code.dependency.indexed" => dependency(x),
        "code.call.indexed" => call(x),
        "code.coverage.indexed" => coverage(x),
        _ => return None,
    }
    Some(Ok(()))
}

fn origin(p: Fields<'_>) -> Properties {
    Properties::new().some("source_sha256", p.text("source_sha256")).extend(transform(p))
}

fn located(path: &str, language: &str) -> Properties {
    Properties::new().put("source_path", path).put("language", language)
}

fn file(x: &mut Extraction<'_>) {
    let p = x.fields();
    let path = p.text_or("path", "code-file");
    let language = p.text_or("language", "unknown");
    let lines = p.positive("lines", 0);
    let actor = x.event.actor.as_str();
    let properties = located(&path, &language)
        .text("source_sha256", p.text("sha256"))
        .integer("bytes", &p.positive("bytes", 0))
        .integer("lines", &lines)
        .extend(transform(p));
    let summary = format!("{language} source file with {lines} lines");
    x.bare(actor, "actor");
    x.entity(path.as_str(), "code_file", Some(summary), properties);
    x.edge(actor, "indexed_code_file", path);
}

fn symbol(x: &mut Extraction<'_>) {
    let p = x.fields();
    let path = p.text_or("path", "code-file");
    let language = p.text_or("language", "unknown");
    let short = p.text_or("name", "symbol");
    let qualified = p.text_or("qualified_name", &short);
    let kind = p.text_or("kind", "symbol");
    let start = p.positive("start_line", 1);
    let end = p.positive("end_line", &start);
    let name = format!("{path}::{qualified}");
    let summary = format!("{language} {kind} {qualified} defined in {path}:{start}-{end}");
    let properties = located(&path, &language)
        .put("symbol_name", short)
        .put("qualified_name", qualified)
        .put("symbol_kind", kind)
        .integer("source_start_line", &start)
        .integer("source_end_line", &end)
        .extend(origin(p));
    x.entity(path.as_str(), "code_file", None, located(&path, &language));
    x.entity(name.as_str(), "code_symbol", Some(summary), properties);
    x.edge(path, "defines_symbol", name);
}

fn import(x: &mut Extraction<'_>) {
    let p = x.fields();
    let path = p.text_or("path", "code-file");
    let language = p.text_or("language", "unknown");
    let module = p.text_or("module", "unknown");
    let imported = p.text_or("name", &module);
    let kind = p.text_or("kind", "import");
    let start = p.positive("start_line", 1);
    let name = format!("import:{module}:{imported}");
    let summary = format!("{language} {kind} {imported} from {module} in {path}:{start}");
    let properties = located(&path, &language)
        .put("module", module)
        .put("import_name", imported)
        .put("import_kind", kind)
        .integer("source_start_line", &start)
        .extend(origin(p));
    x.entity(path.as_str(), "code_file", None, located(&path, &language));
    x.entity(name.as_str(), "code_import", Some(summary), properties);
    x.edge(path, "imports", name);
}

fn dependency(x: &mut Extraction<'_>) {
    let p = x.fields();
    let source = p.text_or("source_path", "source-code-file");
    let target = p.text_or("target_path", "target-code-file");
    let language = p.text_or("language", "unknown");
    let module = p.text_or("module", "unknown");
    let imported = p.text_or("import_name", &module);
    let start = p.positive("start_line", 1);
    for path in [&source, &target] {
        x.entity(path.as_str(), "code_file", None, located(path, &language));
    }
    let name = format!("{source}->{target}:{start}");
    let summary = format!("{source} imports {imported} from {module} via {target}:{start}");
    let properties = Properties::new()
        .put("source_path", source.as_str())
        .put("target_path", target.as_str())
        .put("language", language)
        .put("module", module)
        .put("import_name", imported)
        .integer("source_start_line", &start)
        .put("resolution", p.text_or("resolution", "unknown"))
        .extend(origin(p));
    x.entity(name, "code_dependency", Some(summary), properties);
    x.edge(source, "depends_on_file", target);
}

fn call(x: &mut Extraction<'_>) {
    let p = x.fields();
    let path = p.text_or("path", "code-file");
    let language = p.text_or("language", "unknown");
    let caller = p.text_or("caller", "caller");
    let callee = p.text_or("callee", "callee");
    let qualified = p.text_or("callee_qualified_name", &callee);
    let target_path = p.text("target_path");
    let target_name = p.text("target_qualified_name");
    let start = p.positive("start_line", 1);
    let source = format!("{path}::{caller}");
    let own = located(&path, &language).put("qualified_name", caller.as_str());
    x.entity(source.as_str(), "code_symbol", None, own);
    let summary = format!("{caller} calls {qualified} in {path}:{start}");
    let name = format!("{source}->{qualified}:{start}");
    let properties = located(&path, &language)
        .put("caller", caller)
        .put("callee", callee)
        .put("callee_qualified_name", qualified)
        .text("target_path", target_path.clone())
        .text("target_qualified_name", target_name.clone())
        .integer("source_start_line", &start)
        .put("resolution", p.text_or("resolution", "unresolved"))
        .extend(origin(p));
    x.entity(name, "code_call", Some(summary), properties);
    if let (Some(target_path), Some(target_name)) = (target_path, target_name) {
        let target = format!("{target_path}::{target_name}");
        let properties = located(&target_path, &language).put("qualified_name", target_name);
        x.entity(target.as_str(), "code_symbol", None, properties);
        x.edge(source, "calls_symbol", target);
    }
}

fn coverage(x: &mut Extraction<'_>) {
    let p = x.fields();
    let test_path = p.text_or("test_path", "test-code-file");
    let test_name = p.text_or("test_name", "test");
    let test_qualified = p.text_or("test_qualified_name", &test_name);
    let target_path = p.text_or("target_path", "target-code-file");
    let target_name = p.text_or("target_name", "target");
    let target_qualified = p.text_or("target_qualified_name", &target_name);
    let language = p.text_or("language", "unknown");
    let start = p.positive("start_line", 1);
    let test = format!("{test_path}::{test_qualified}");
    let target = format!("{target_path}::{target_qualified}");
    let test_properties = located(&test_path, &language)
        .put("symbol_name", test_name.as_str())
        .put("qualified_name", test_qualified.as_str())
        .put("symbol_kind", "test");
    let target_properties = located(&target_path, &language)
        .put("symbol_name", target_name.as_str())
        .put("qualified_name", target_qualified.as_str());
    x.entity(test.as_str(), "code_symbol", None, test_properties);
    x.entity(target.as_str(), "code_symbol", None, target_properties);
    let summary = format!("{test_qualified} tests {target_qualified} at {test_path}:{start}");
    let properties = Properties::new()
        .put("test_path", test_path)
        .put("test_name", test_name)
        .put("test_qualified_name", test_qualified)
        .put("target_path", target_path)
        .put("target_name", target_name)
        .put("target_qualified_name", target_qualified)
        .put("language", language)
        .integer("source_start_line", &start)
        .put("resolution", p.text_or("resolution", "unknown"));
    x.entity(format!("{test}=>{target}:{start}"), "code_coverage", Some(summary), properties);
    x.edge(test, "tests_symbol", target);
}
