//! Two ordinary users of one tenant: one acts, and after each act the question is asked whether
//! anything of the other changed, became visible or became unavailable.
//!
//! The stories are generated from the table of routes: a route that changes something and has no story
//! fails here, and so does a parameter that nobody has thought about. The tools of `POST /mcp` have
//! stories by the list of tools. The same stories are told with two tenants, and in `global:` scopes,
//! where tenants meet.

mod act;
mod attacks;
mod importing;
mod offices;
mod parameters;
mod question;
mod removing;
mod ruling;
mod tools;
mod town;
mod withdrawn;
mod writing;

use std::collections::BTreeSet;

use lamina_api::routes::{Method, OtherEndpoint, ROUTES, RouteSpec, RouteStatus};

use self::act::{Act, Scene, Story, Verdict};
use self::question::{Depth, Secrets, Snapshot, said};
use self::tools::{AgentTool, agent_tools};
use self::town::{SHARED_PLACES, TOOL_PLACES, Things, Tools, Town};
use crate::coverage::{name, route_of};
use crate::harness::Own;
use crate::tokens::Signed;

/// Routes that change something and have no story, each with the reason.
const NO_STORY: &[(&str, &str)] = &[];

/// All stories, in the order of their telling.
fn stories() -> impl Iterator<Item = &'static Story> {
    writing::STORIES
        .iter()
        .chain(importing::STORIES)
        .chain(removing::STORIES)
        .chain(ruling::STORIES)
}

/// The routes that change something. A route that is not built changes nothing.
fn changing() -> impl Iterator<Item = &'static RouteSpec> {
    let is_changing = |route: &&RouteSpec| {
        !matches!(route.method, Method::Get | Method::Any) && route.status == RouteStatus::Built
    };
    ROUTES.iter().filter(is_changing)
}

#[test]
fn changing_route_without_story_fails() {
    let told: BTreeSet<&str> = stories().map(|story| story.route).collect();
    let exempt: BTreeSet<&str> = NO_STORY.iter().map(|(route, _)| *route).collect();
    assert!(NO_STORY.iter().all(|(_, reason)| !reason.is_empty()), "say why there is no story");
    let missing: Vec<String> = changing()
        .map(name)
        .filter(|route| !told.contains(route.as_str()) && !exempt.contains(route.as_str()))
        .collect();
    assert_eq!(missing, Vec::<String>::new(), "write a story for the route in `two_users`");
    let known: BTreeSet<String> = changing().map(name).collect();
    let stale: Vec<&&str> = told.iter().chain(&exempt).filter(|it| !known.contains(**it)).collect();
    assert!(stale.is_empty(), "no such route: {stale:?}");
    for endpoint in OtherEndpoint::ALL {
        // An endpoint beside the table brings stories of its own, as the tools do.
        match endpoint {
            // Both call the same tools.
            OtherEndpoint::Mcp | OtherEndpoint::McpMessages => assert!(!tools::STORIES.is_empty()),
        }
    }
}

/// The list of tools comes from the server, of every profile: a tool that changes something and has no
/// story fails here.
#[test]
fn changing_tool_without_story_fails() {
    let own = Own::start();
    let tools = agent_tools(&mut own.server.client(), None);
    let told: BTreeSet<&str> = tools::STORIES.iter().map(|story| story.tool).collect();
    assert_eq!(told.len(), tools::STORIES.len(), "each tool has one story");
    let changing = tools.iter().filter(|tool| tool.changes);
    let missing: Vec<&AgentTool> = changing.filter(|tool| !told.contains(&*tool.name)).collect();
    assert!(missing.is_empty(), "write a story in `two_users::tools` for {missing:?}");
    let known: BTreeSet<&str> = tools.iter().map(|tool| &*tool.name).collect();
    let stale: Vec<&&str> = told.iter().filter(|name| !known.contains(**name)).collect();
    assert!(stale.is_empty(), "no such tool: {stale:?}");
}

/// How strictly the verdicts of the acts hold, which are those of one tenant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Strictness {
    /// To the letter.
    SameTenant,
    /// Where tenants meet, refusals have other reasons.
    SharedScopes,
    /// In another tenant the same path is another scope: only the question counts.
    OtherTenant,
}

/// What is told: whose things are acted against, with which tools.
struct Telling<'a> {
    things: &'a Things,
    tools: &'a Tools,
    secrets: &'a Secrets,
    tenant: &'static str,
    strictness: Strictness,
}

/// What the victim read before, to the two depths that are asked.
struct Before {
    records: Snapshot,
    everything: Snapshot,
}

impl Before {
    fn take(town: &mut Town, things: &Things) -> Before {
        Before {
            records: Snapshot::take(town, things, Depth::Records),
            everything: Snapshot::take(town, things, Depth::Everything),
        }
    }

    /// What changed since, which counts as said.
    fn changed(&mut self, town: &mut Town, things: &Things, depth: Depth) -> Option<String> {
        let after = Snapshot::take(town, things, depth);
        let before = match depth {
            Depth::Records => &self.records,
            Depth::Everything => &self.everything,
        };
        let changed = before.differences(&after);
        if changed.is_empty() {
            return None;
        }
        *self = Before::take(town, things);
        Some(changed)
    }
}

impl Telling<'_> {
    /// Tells one story; gives everything that went against the rules.
    fn tell(
        &self,
        town: &mut Town,
        actor: &mut Signed,
        story: &Story,
        before: &mut Before,
    ) -> Vec<String> {
        let acts = (story.script)(&mut Scene { town, things: self.things, tools: self.tools });
        assert!(!acts.is_empty(), "{} has no act", story.route);
        let route = ROUTES.iter().find(|route| name(route) == story.route).unwrap();
        parameters::check_use(route, story.route, &acts);
        for act in &acts {
            let route = name(route_of(&act.request.method, &act.request.target));
            assert_eq!(route, story.route, "the act is one of another route");
        }
        self.carry_out(town, actor, Chapter { title: story.route, acts }, before)
    }

    /// Carries out acts and asks the question after each; gives everything that went against the rules.
    fn carry_out(
        &self,
        town: &mut Town,
        actor: &mut Signed,
        chapter: Chapter<'_>,
        before: &mut Before,
    ) -> Vec<String> {
        let mut findings = Vec::new();
        for act in chapter.acts {
            let response = tools::send(actor, &act.request);
            findings.extend(self.secrets.leaks(&act.request, &response));
            let act = self.judged(act);
            findings.extend(act.objection(&response));
            let status = response.status;
            if let Some(changed) = before.changed(town, self.things, Depth::Records) {
                findings.push(format!("{} ({status}) changed\n{changed}", said(&act.request)));
            }
            findings.extend(self.secrets.seen_by(actor, self.things, Depth::Records));
        }
        if let Some(changed) = before.changed(town, self.things, Depth::Everything) {
            findings.push(format!("the story of {} changed\n{changed}", chapter.title));
        }
        findings.extend(self.secrets.seen_by(actor, self.things, Depth::Everything));
        findings
    }

    /// Tells the stories of the tools, and puts everything of the victim into every argument of every tool.
    fn tell_tools(&self, town: &mut Town, actor: &mut Signed) {
        let listed = agent_tools(&mut actor.client, Some(&actor.token));
        let mut before = Before::take(town, self.things);
        let mut findings = Vec::new();
        let mut sent = Vec::new();
        for story in tools::STORIES {
            let acts = (story.script)(&mut Scene { town, things: self.things, tools: self.tools });
            assert!(!acts.is_empty(), "{} has no act", story.tool);
            sent.extend(acts.iter().map(|act| said(&act.request)));
            let chapter = Chapter { title: story.tool, acts };
            let mut found = self.carry_out(town, actor, chapter, &mut before);
            found.retain(|finding| !tools::is_own_word(story.tool, finding, &sent));
            findings.extend(found);
        }
        for (number, tool) in listed.iter().enumerate() {
            // A caller for each: what one tool wrote another one may show to the same caller.
            let mut prober = town.team.caller(self.tenant, &format!("user:prober-{number}"));
            let own = format!("project=prober-{number}");
            let mut places = vec!["", own.as_str()];
            // In another tenant the project of the same name is one's own.
            if self.strictness == Strictness::SameTenant {
                places.push(tools::CLOSED_PROJECT);
            }
            let (mut sent, mut found) = (Vec::new(), Vec::new());
            for request in tools::probes(tool, self.things, &places) {
                let response = tools::send(&mut prober, &request);
                sent.push(said(&request));
                found.extend(self.secrets.leaks(&request, &response));
                found.extend(Act::open(request).objection(&response));
            }
            let chapter = Chapter { title: &tool.name, acts: Vec::new() };
            found.extend(self.carry_out(town, &mut prober, chapter, &mut before));
            found.retain(|finding| {
                !tools::is_own_word(&tool.name, finding, &sent)
                    && !tools::is_own_session(finding, &sent)
            });
            findings.extend(found);
        }
        fail_with(findings);
    }

    fn judged(&self, mut act: Act) -> Act {
        act.verdict = match (self.strictness, act.verdict) {
            (Strictness::SameTenant, verdict) => verdict,
            (Strictness::SharedScopes, Verdict::Refused | Verdict::Invalid) => Verdict::Invalid,
            (Strictness::SharedScopes | Strictness::OtherTenant, _) => Verdict::Open,
        };
        act
    }

    /// Tells all stories, and fails with all findings at once.
    fn tell_all(&self, town: &mut Town, actor: &mut Signed) {
        let mut before = Before::take(town, self.things);
        let read = before.changed(town, self.things, Depth::Everything);
        assert_eq!(read, None, "reading changes nothing");
        let mut findings = Vec::new();
        for story in stories() {
            findings.extend(self.tell(town, actor, story, &mut before));
        }
        fail_with(findings);
    }
}

/// The acts of one story.
struct Chapter<'a> {
    title: &'a str,
    acts: Vec<Act>,
}

/// Fails with all findings at once, each named once.
#[track_caller]
fn fail_with(mut findings: Vec<String>) {
    let mut seen = BTreeSet::new();
    findings.retain(|finding| seen.insert(finding.clone()));
    assert!(findings.is_empty(), "{} findings:\n{}", findings.len(), findings.join("\n"));
}

/// By which way the one who acts comes in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Approach {
    Routes,
    Tools,
}

/// Who acts, and how its acts are judged.
struct Attack {
    tenant: &'static str,
    strictness: Strictness,
    approach: Approach,
}

/// Lets a user of a tenant act against these things, and asks the question.
fn act_against(town: &mut Town, things: &Things, attack: &Attack) {
    let Attack { tenant, strictness, approach } = *attack;
    let mut mallory = town.team.caller(tenant, "user:mallory");
    let tools = Tools::made(&mut mallory, "user:mallory");
    let snapshot = Snapshot::take(town, things, Depth::Everything);
    let mut secrets = Secrets::of(&snapshot, things);
    if strictness == Strictness::OtherTenant {
        // The paths name other scopes there, and those may be told.
        secrets.forget_paths(things);
        if approach == Approach::Tools {
            // A rating names the record that its caller named; in a project of one's own it may be read.
            secrets.forget_ids(&[&things.fact, &things.belief, &things.concept]);
        }
    }
    let telling = Telling { things, tools: &tools, secrets: &secrets, tenant, strictness };
    match approach {
        Approach::Routes => telling.tell_all(town, &mut mallory),
        Approach::Tools => telling.tell_tools(town, &mut mallory),
    }
}

#[test]
fn ordinary_user_changes_and_sees_nothing_of_another() {
    let mut town = Town::start();
    let things = Things::own(&mut town);
    let (strictness, approach) = (Strictness::SameTenant, Approach::Routes);
    act_against(&mut town, &things, &Attack { tenant: "acme", strictness, approach });
}

/// The same paths are other scopes in another tenant, so what is allowed there differs; what is asked
/// after each act does not.
#[test]
fn user_of_another_tenant_changes_and_sees_nothing() {
    let mut town = Town::start();
    let things = Things::own(&mut town);
    let (strictness, approach) = (Strictness::OtherTenant, Approach::Routes);
    act_against(&mut town, &things, &Attack { tenant: "other", strictness, approach });
}

#[test]
fn user_of_another_tenant_changes_and_sees_nothing_in_global_scopes() {
    let mut town = Town::start();
    let things = Things::made(&mut town, &SHARED_PLACES);
    let (strictness, approach) = (Strictness::SharedScopes, Approach::Routes);
    act_against(&mut town, &things, &Attack { tenant: "other", strictness, approach });
}

#[test]
fn tools_of_ordinary_user_change_and_see_nothing_of_another() {
    let mut town = Town::start();
    let things = Things::made(&mut town, &TOOL_PLACES);
    let (strictness, approach) = (Strictness::SameTenant, Approach::Tools);
    act_against(&mut town, &things, &Attack { tenant: "acme", strictness, approach });
}

#[test]
fn tools_of_user_of_another_tenant_change_and_see_nothing() {
    let mut town = Town::start();
    let things = Things::made(&mut town, &TOOL_PLACES);
    let (strictness, approach) = (Strictness::OtherTenant, Approach::Tools);
    act_against(&mut town, &things, &Attack { tenant: "other", strictness, approach });
}
