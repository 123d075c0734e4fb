//! Against oracles that share nothing with the code: binomial sums for whole parameters, numeric
//! integration for the others.

use super::{cumulative, quantile};

/// For whole parameters the distribution is a binomial tail: a finite sum of positive terms.
fn binomial(a: u32, b: u32, x: f64) -> f64 {
    // From the side where the first term is not lost in underflow.
    if x > 0.5 {
        return 1.0 - binomial(b, a, 1.0 - x);
    }
    let n = a + b - 1;
    let mut term = (1.0 - x).powi(n as i32);
    let mut sum = if a == 0 { term } else { 0.0 };
    for j in 1..=n {
        term *= f64::from(n - j + 1) / f64::from(j) * x / (1.0 - x);
        if j >= a {
            sum += term;
        }
    }
    sum
}

/// Simpson's rule after x = sin^2(t), which takes the poles of the density away for a, b >= 1/2.
fn integrated(a: f64, b: f64, x: f64) -> f64 {
    let area = |to: f64| {
        let n = 20_000_u32;
        let h = to / f64::from(n);
        let f = |t: f64| t.sin().powf(2.0 * a - 1.0) * t.cos().max(0.0).powf(2.0 * b - 1.0);
        let mut sum = f(0.0) + f(to);
        for i in 1..n {
            sum += f(f64::from(i) * h) * if i % 2 == 1 { 4.0 } else { 2.0 };
        }
        sum * h / 3.0
    };
    area(x.sqrt().asin()) / area(std::f64::consts::FRAC_PI_2)
}

/// Slow and obviously right, given a distribution.
fn halved(p: f64, cumulative: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..80 {
        let middle = (low + high) / 2.0;
        if cumulative(middle) < p {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

#[test]
fn whole_parameters_equal_the_binomial_sum() {
    for a in [1, 2, 3, 7, 19, 60, 200] {
        for b in [1, 2, 5, 11, 40, 150] {
            for step in 1..20 {
                let x = f64::from(step) / 20.0;
                let (ours, theirs) = (cumulative(a.into(), b.into(), x), binomial(a, b, x));
                assert!((ours - theirs).abs() < 1e-11, "I_{x}({a}, {b}): {ours} {theirs}");
            }
            for p in [0.05, 0.5, 0.95] {
                let ours = quantile(a.into(), b.into(), p);
                let theirs = halved(p, |x| binomial(a, b, x));
                assert!((ours - theirs).abs() < 1e-10, "Q_{p}({a}, {b}): {ours} {theirs}");
            }
        }
    }
}

#[test]
fn broken_parameters_equal_numeric_integration() {
    for (a, b) in [(1.9, 1.0), (2.35, 1.72), (1.5, 4.5), (12.34, 3.21), (80.5, 120.25), (3.0, 2.5)]
    {
        for step in 1..10 {
            let x = f64::from(step) / 10.0;
            let (ours, theirs) = (cumulative(a, b, x), integrated(a, b, x));
            assert!((ours - theirs).abs() < 1e-9, "I_{x}({a}, {b}): {ours} {theirs}");
        }
    }
}

#[test]
fn the_closed_forms_hold() {
    for step in 1..20 {
        let x = f64::from(step) / 20.0;
        // Beta(a, 1) is x^a and Beta(1, b) its mirror image, also far below one.
        for a in [0.01, 0.3, 1.0, 2.7, 900.0] {
            assert!((cumulative(a, 1.0, x) - x.powf(a)).abs() < 1e-12, "{a} {x}");
            assert!((quantile(a, 1.0, x) - x.powf(1.0 / a)).abs() < 1e-11, "{a} {x}");
            assert!((cumulative(1.0, a, x) - (1.0 - (1.0 - x).powf(a))).abs() < 1e-12);
        }
    }
}

#[test]
fn the_inverse_inverts_over_eight_orders_of_magnitude() {
    for a in [0.5, 1.0, 3.3, 50.0, 4_000.0, 1_000_000.0] {
        for b in [0.5, 1.0, 7.1, 90.0, 2_500.0, 1_000_000.0] {
            for p in [0.001, 0.05, 0.5, 0.95, 0.999] {
                let x = quantile(a, b, p);
                assert!((0.0..=1.0).contains(&x));
                // Next to 1 the numbers lie too far apart for any of them to fit better.
                if x < 1.0 - 1e-6 {
                    assert!((cumulative(a, b, x) - p).abs() < 1e-8, "{a} {b} {p}: {x}");
                }
                assert!((quantile(b, a, 1.0 - p) - (1.0 - x)).abs() < 1e-9, "mirror {a} {b} {p}");
            }
        }
    }
}

#[test]
fn a_side_without_mass_is_a_point() {
    assert_eq!(quantile(3.0, 0.0, 0.05), 1.0);
    assert_eq!(quantile(0.0, 3.0, 0.95), 0.0);
    assert_eq!(cumulative(3.0, 0.0, 0.999), 0.0);
    assert_eq!(cumulative(0.0, 3.0, 0.0), 1.0);
}
