//! `lamina models estimate`: what a language model would cost, from the log, without asking one.

use std::sync::Arc;

use anyhow::{Context as _, anyhow};
use lamina_core::policy::{Caller, Derivation};
use lamina_engine::derive::models::Models;
use lamina_engine::derive::models::budget::Prices;
use lamina_engine::read::cost::{Asking, Estimate};
use lamina_engine::{Boot, Engine, Error, Settings};
use lamina_env::Env;
use lamina_types::ScopePath;
use serde_json::json;

use super::args::EstimateArgs;
use super::exit::{Exit, Failure};
use super::maintenance::must_exist;
use super::{load, opening, print};
use crate::config::Config;

/// Counts what the events of a scope would take.
pub(super) fn estimate(args: EstimateArgs) -> Result<Exit, Failure> {
    let scope: ScopePath = args
        .scope
        .parse()
        .with_context(|| format!("`{}` is not a scope", args.scope))
        .map_err(Failure::usage)?;
    let EstimateArgs { data, tenant, price_input, price_output, batch_events, json, .. } = args;
    let config = load(data.into())?;
    let env = Env::real();
    must_exist(&config, &env)?;
    let known = asking(&config);
    let asking = Asking {
        batch_events: batch_events.unwrap_or(known.batch_events),
        prices: Prices {
            input_micros: price_input.unwrap_or(known.prices.input_micros),
            output_micros: price_output.unwrap_or(known.prices.output_micros),
        },
        ..known
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.context("the runtime cannot start").map_err(Failure::unreadable)?;
    let settings = Settings {
        segment_bytes: config.segment_bytes,
        free_bytes_min: config.free_bytes_min,
        ledger: config.ledger.clone(),
        ..Settings::new(&config.data)
    };
    let (engine, _) = Engine::open(settings, env).map_err(opening::failure)?;
    let boot = Boot { preset: config.preset, document: Arc::clone(&config.deployment) };
    let counted = runtime.block_on(async {
        let counted = count(&engine, &boot, (&tenant, &scope), asking).await;
        engine.shutdown().await;
        counted
    })?;
    print(&if json { as_json(&counted) } else { as_text(&tenant, &scope, asking, &counted) })?;
    Ok(Exit::Fine)
}

/// What the settings say, or what would hold without any.
fn asking(config: &Config) -> Asking {
    let models = config.models.as_ref();
    Asking {
        batch_events: models.map_or(Models::BATCH_EVENTS as u64, |models| models.batch_events),
        output_tokens_max: models
            .map_or(Models::OUTPUT_TOKENS_MAX, |models| u64::from(models.wire.output_tokens_max)),
        prices: models.map(|models| models.prices).unwrap_or_default(),
    }
}

async fn count(
    engine: &Engine,
    boot: &Boot,
    (tenant, scope): (&str, &ScopePath),
    asking: Asking,
) -> Result<Estimate, Failure> {
    let missing = |what: String| Failure::unreadable(anyhow!(what));
    let ordinal = engine.tenant(tenant);
    let ordinal = ordinal.ok_or_else(|| missing(format!("there is no tenant `{tenant}`")))?;
    // Whoever has the directory may do this, as derivation itself: in one scope and nowhere else.
    let actor = "system:derive".parse().expect("the name is well formed");
    let stack = engine.stack(boot, &Caller::local(actor, ordinal), None).await;
    let stack = stack.map_err(Failure::unreadable)?;
    let entry = Derivation { tenant: ordinal, scope: scope.clone(), consolidate_into: None };
    let permit = stack.permit_derive(&entry);
    let counted = engine.model_estimate(permit, scope.clone(), asking).await;
    counted.map_err(|error| match error {
        Error::NotFound => missing(format!("nothing was ever written to {scope}")),
        other => Failure::unreadable(other),
    })
}

fn as_text(tenant: &str, scope: &ScopePath, asking: Asking, counted: &Estimate) -> String {
    let Estimate { events, calls, cost, most, .. } = *counted;
    let Asking { batch_events, prices, .. } = asking;
    let mut text = format!(
        "{scope} of tenant {tenant}: a model would be shown {events} events\n  \
         calls   {calls}, with up to {batch_events} events each\n  \
         tokens  about {} in and {} out, at most {} and {}\n",
        cost.input_tokens, cost.output_tokens, most.input_tokens, most.output_tokens
    );
    text += &match prices == Prices::default() {
        true => "  money   no prices are set: give --price-input and --price-output\n".to_owned(),
        false => format!(
            "  money   about {}, at most {} (a million tokens: {} in, {} out)\n",
            money(cost.micros),
            money(most.micros),
            money(prices.input_micros),
            money(prices.output_micros)
        ),
    };
    text + "nothing was asked\n"
}

/// Millionths as an amount, with two decimals at least.
fn money(micros: u64) -> String {
    let decimals = format!("{:06}", micros % 1_000_000);
    let kept = decimals.trim_end_matches('0').len().max(2);
    format!("{}.{}", micros / 1_000_000, decimals.get(..kept).unwrap_or(&decimals))
}

fn as_json(counted: &Estimate) -> String {
    let Estimate { events, calls, cost, most, .. } = *counted;
    let shape = json!({
        "events": events,
        "calls": calls,
        "about": {
            "input_tokens": cost.input_tokens,
            "output_tokens": cost.output_tokens,
            "money_micros": cost.micros,
        },
        "at_most": {
            "input_tokens": most.input_tokens,
            "output_tokens": most.output_tokens,
            "money_micros": most.micros,
        },
    });
    format!("{shape:#}\n")
}
