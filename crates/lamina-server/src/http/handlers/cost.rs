//! `GET /v1/cost`: what a language model has taken for a scope, in the shape of the contract.

use axum::http::StatusCode;
use axum::response::Response;
use lamina_api::time;
use lamina_api::v1::cost::{BudgetBody, CostBody, CostQuery, DayBody, EstimateBody, SpentBody};
use lamina_engine::read::cost::{CostReport, Estimate, Spending};
use lamina_types::Micros;

use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply;

const DAY_US: u64 = 24 * 3_600 * 1_000_000;

/// What a language model has taken for a scope.
pub(super) async fn read(call: Call) -> Result<Response, Failure> {
    let query = CostQuery::parse(&call.pairs()?)?;
    let caller = call.caller()?;
    let permit = call.desk.permit_read(&caller, &query.scope, query.view).await?;
    let report = call.app.engine.cost(permit, query.scope.clone(), query.estimate).await?;
    let CostReport { model, waiting, total, days, budget, last_fault, estimate } = report;
    let body = CostBody {
        scope: query.scope.to_string(),
        model,
        waiting,
        total: spent(total),
        days: days
            .into_iter()
            .map(|(day, of)| DayBody { day: date(day), spent: spent(of) })
            .collect(),
        budget: BudgetBody { tokens: budget.tokens, cost_micros: budget.micros },
        last_fault,
        estimate: estimate.map(estimated),
    };
    reply::json(StatusCode::OK, &body)
}

fn spent(of: Spending) -> SpentBody {
    let Spending { calls, failed, events, gave_up, cost } = of;
    SpentBody {
        calls,
        failed,
        events,
        gave_up,
        input_tokens: cost.input_tokens,
        output_tokens: cost.output_tokens,
        cost_micros: cost.micros,
    }
}

fn estimated(of: Estimate) -> EstimateBody {
    let Estimate { events, calls, cost, most, truncated } = of;
    EstimateBody {
        events,
        calls,
        input_tokens: cost.input_tokens,
        output_tokens: cost.output_tokens,
        cost_micros: cost.micros,
        cost_micros_max: most.micros,
        truncated,
    }
}

/// The day of a number of days since the epoch.
fn date(day: u64) -> String {
    let at = i64::try_from(day.saturating_mul(DAY_US)).unwrap_or(i64::MAX);
    time::print(Micros(at)).chars().take(10).collect()
}
