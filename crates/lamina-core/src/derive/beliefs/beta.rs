//! The Beta distribution: the regularised incomplete beta function and its inverse.
//!
//! Own code rather than a statistics crate, because two functions are needed and their error must be
//! known. The function is the continued fraction of the incomplete beta function, evaluated by the
//! modified Lentz method on the side where it converges fast; the inverse is Newton's method kept
//! inside a shrinking bracket. Both agree with independent oracles to better than 1e-9.

/// Terms of the continued fraction. It needs about the square root of the larger parameter.
const TERMS_MAX: u32 = 20_000;
/// Steps of the inverse; a bracket halved so often is a point.
const STEPS_MAX: u32 = 200;
/// What stands in for zero in a denominator.
const TINY: f64 = 1e-300;

/// The probability that a Beta(`a`, `b`) variable is at most `x`.
///
/// A side without any mass makes it a point: Beta(a, 0) is always 1, Beta(0, b) always 0.
pub fn cumulative(a: f64, b: f64, x: f64) -> f64 {
    if x >= 1.0 {
        return 1.0;
    }
    if x < 0.0 || b <= 0.0 {
        return 0.0;
    }
    if a <= 0.0 {
        return 1.0;
    }
    if x == 0.0 {
        return 0.0;
    }
    let front = (a * x.ln() + b * (-x).ln_1p() - ln_beta(a, b)).exp();
    let lower = if x < (a + 1.0) / (a + b + 2.0) {
        front * fraction(a, b, x) / a
    } else {
        1.0 - front * fraction(b, a, 1.0 - x) / b
    };
    lower.clamp(0.0, 1.0)
}

/// The `x` below which a Beta(`a`, `b`) variable lies with probability `p`.
pub fn quantile(a: f64, b: f64, p: f64) -> f64 {
    if b <= 0.0 {
        return 1.0;
    }
    if a <= 0.0 || p <= 0.0 {
        return 0.0;
    }
    if p >= 1.0 {
        return 1.0;
    }
    let (mut low, mut high) = (0.0_f64, 1.0_f64);
    let mut x = a / (a + b);
    let scale = ln_beta(a, b);
    for _ in 0..STEPS_MAX {
        let off = cumulative(a, b, x) - p;
        if off > 0.0 {
            high = x;
        } else {
            low = x;
        }
        let density = ((a - 1.0) * x.ln() + (b - 1.0) * (-x).ln_1p() - scale).exp();
        let newton = x - off / density;
        // A step that leaves the bracket, or is no number, is replaced by halving it.
        let next = if newton > low && newton < high { newton } else { low + (high - low) / 2.0 };
        if (next - x).abs() <= 1e-15 || high - low <= 1e-15 {
            return next;
        }
        x = next;
    }
    x
}

fn fraction(a: f64, b: f64, x: f64) -> f64 {
    let away = |value: f64| if value.abs() < TINY { TINY } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / away(1.0 - (a + b) * x / (a + 1.0));
    let mut sum = d;
    for m in 1..=TERMS_MAX {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / away(1.0 + even * d);
        c = away(1.0 + even / c);
        sum *= d * c;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / away(1.0 + odd * d);
        c = away(1.0 + odd / c);
        let step = d * c;
        sum *= step;
        if (step - 1.0).abs() < 1e-16 {
            break;
        }
    }
    sum
}

fn ln_beta(a: f64, b: f64) -> f64 {
    ln_gamma(a) + ln_gamma(b) - ln_gamma(a + b)
}

/// The logarithm of the gamma function of a positive number, by Stirling's series beyond 15 and the
/// recurrence below it.
fn ln_gamma(x: f64) -> f64 {
    let (mut x, mut product) = (x, 1.0_f64);
    while x < 15.0 {
        product *= x;
        x += 1.0;
    }
    let r = 1.0 / (x * x);
    let series = (1.0 / 12.0
        - r * (1.0 / 360.0 - r * (1.0 / 1_260.0 - r * (1.0 / 1_680.0 - r / 1_188.0))))
        / x;
    (x - 0.5) * x.ln() - x + 0.5 * (2.0 * std::f64::consts::PI).ln() + series - product.ln()
}

#[cfg(test)]
mod tests;
