//! Slow and obviously right: the valid axis is a row of points, and every input is told to every
//! point, one after the other. No intervals, no versions, no reading of neighbours.

use super::*;

/// Points of the valid axis. What is said of the last one is said of all that follow.
pub(super) const POINTS: i64 = 16;

/// What was said about a point and still counts.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Heard {
    said: Said,
    from: i64,
    to: Option<i64>,
    weight: Weight,
    order: AssertionId,
}

/// What is known at a point: nothing, or one or more things that were heard.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Point {
    heard: Vec<Heard>,
    /// What is over, if it is.
    over: Option<Option<ValueKey>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Verdict {
    Blocked,
    Point(Point),
}

impl Point {
    fn values(&self) -> Vec<Value> {
        let mut values: Vec<Value> = self
            .heard
            .iter()
            .filter_map(|heard| match heard.said {
                Said::Value(value) => Some(value),
                Said::Ends(_) => None,
            })
            .collect();
        values.sort();
        values.dedup();
        values
    }

    fn show(&self) -> String {
        if self.over.is_some() || self.heard.is_empty() {
            return "-".to_owned();
        }
        self.values().iter().map(show_value).collect::<Vec<String>>().join("|")
    }

    /// The thing that began last.
    fn latest(&self) -> Option<&Heard> {
        let counts = |heard: &&Heard| self.over.is_none() || matches!(heard.said, Said::Ends(_));
        self.heard.iter().filter(counts).max_by_key(|heard| (heard.from, heard.weight))
    }

    fn with(&self, heard: &Heard) -> Verdict {
        let mut point = self.clone();
        point.heard.push(heard.clone());
        Verdict::Point(point)
    }

    fn only(heard: &Heard) -> Verdict {
        Verdict::Point(Point { heard: vec![heard.clone()], over: None })
    }

    fn tell(&self, heard: &Heard, beside: bool) -> Verdict {
        let same = Verdict::Point(self.clone());
        let Some(latest) = self.latest() else {
            return match heard.said {
                Said::Value(_) => Point::only(heard),
                Said::Ends(None) => same,
                Said::Ends(value) => {
                    Verdict::Point(Point { heard: vec![heard.clone()], over: Some(value) })
                }
            };
        };
        let earlier = (heard.from, heard.weight) < (latest.from, latest.weight);
        let later = (heard.from, heard.weight) > (latest.from, latest.weight);
        let values = self.values();
        match heard.said {
            Said::Ends(value) => {
                if self.over.is_some() && (self.over == Some(value) || value.is_none()) {
                    return self.with(heard);
                }
                if latest.from > heard.from {
                    return Verdict::Blocked;
                }
                if self.over.is_some() {
                    return same;
                }
                let named = value.map(Value::Is);
                match values.as_slice() {
                    [Value::Is(known)] if named.is_none_or(|named| named == Value::Is(*known)) => {
                        let Verdict::Point(mut point) = self.with(heard) else { unreachable!() };
                        point.over = Some(Some(*known));
                        Verdict::Point(point)
                    }
                    [_] => same,
                    _ => match named {
                        None => {
                            let Verdict::Point(mut point) = self.with(heard) else {
                                unreachable!()
                            };
                            point.over = Some(None);
                            Verdict::Point(point)
                        }
                        Some(named) => self.drop_side(named),
                    },
                }
            }
            Said::Value(value) => {
                if let Some(over) = self.over {
                    let was_known = values.iter().any(|value| matches!(value, Value::Is(_)));
                    let concerned = over.is_none_or(|over| over == value.key()) || was_known;
                    return match concerned && heard.from < latest.from {
                        true if over == Some(value.key()) && value == Value::Is(value.key()) => {
                            self.with(heard)
                        }
                        true => Verdict::Blocked,
                        false => Point::only(heard),
                    };
                }
                if values == [value] {
                    return self.with(heard);
                }
                if values.contains(&value) {
                    return match (earlier, later && !beside) {
                        (true, _) => Verdict::Blocked,
                        (_, true) => Point::only(heard),
                        _ => self.with(heard),
                    };
                }
                match (values.as_slice(), value) {
                    ([Value::IsNot(a)], Value::Is(b)) if *a != b => Point::only(heard),
                    ([Value::IsNot(_)], Value::IsNot(_)) => match (earlier, later) {
                        (true, _) => Verdict::Blocked,
                        (_, true) => Point::only(heard),
                        _ => same,
                    },
                    (_, Value::IsNot(denied)) if !values.contains(&Value::Is(denied)) => {
                        if earlier { Verdict::Blocked } else { same }
                    }
                    (sides, Value::IsNot(denied)) if sides.len() > 1 => match (earlier, later) {
                        (true, _) => Verdict::Blocked,
                        (_, true) => self.drop_side(Value::Is(denied)),
                        _ => self.with(heard),
                    },
                    _ => match (earlier, later && !beside) {
                        (true, _) => Verdict::Blocked,
                        (_, true) => Point::only(heard),
                        _ => self.with(heard),
                    },
                }
            }
        }
    }

    fn drop_side(&self, gone: Value) -> Verdict {
        let mut point = self.clone();
        point.heard.retain(|heard| heard.said != Said::Value(gone));
        Verdict::Point(point)
    }
}

/// The whole axis.
#[derive(Debug, Clone)]
pub(super) struct Axis {
    points: Vec<Point>,
}

impl Axis {
    pub(super) fn new() -> Axis {
        Axis { points: vec![Point::default(); usize::try_from(POINTS).unwrap()] }
    }

    pub(super) fn show(&self, at: i64) -> String {
        self.at(at).show()
    }

    fn at(&self, at: i64) -> &Point {
        &self.points[usize::try_from(at.clamp(0, POINTS - 1)).unwrap()]
    }

    pub(super) fn hear(&mut self, input: &Input) {
        match input {
            Input::Said(assertion) => self.said(assertion),
            Input::Resolved(resolution) => self.resolved(resolution),
        }
        self.spread();
    }

    /// Evidence speaks of all its time, as far as what it says stands without a break.
    fn spread(&mut self) {
        let old = self.clone();
        for at in 0..POINTS {
            let Some((from, to)) = old.stretch(at) else { continue };
            let point = &mut self.points[usize::try_from(at).unwrap()];
            for heard in (from..to).flat_map(|other| &old.at(other).heard) {
                let speaks = heard.from <= at && heard.to.is_none_or(|to| at < to);
                if speaks && !point.heard.contains(heard) {
                    point.heard.push(heard.clone());
                }
            }
        }
    }

    fn said(&mut self, said: &Assertion) {
        let order = said.source;
        let observed = said.observed.0.0;
        let from = said.valid_from.map(|at| at.0.0);
        let to = said.valid_to.map(|at| at.0.0);
        if from.is_some() && to.is_some() && to <= from {
            return;
        }
        let weight = if from.is_some() { Weight::Stated } else { Weight::Observed };
        let over = from.is_none() && to.is_some_and(|to| to <= observed);
        let holds = |value: Value| Heard {
            said: Said::Value(value),
            from: from.unwrap_or(observed),
            to,
            weight,
            order,
        };
        match said.saying {
            Saying::Corrects(value) if self.correct(said, value) => {}
            Saying::Holds(value) | Saying::Corrects(value) if over => {
                self.end(Some(value), None, to, observed, order);
            }
            Saying::Holds(value) | Saying::Corrects(value) => {
                self.tell(holds(Value::Is(value)), said.no_supersede);
            }
            Saying::Negated(_) if over => {}
            Saying::Negated(value) => self.tell(holds(Value::IsNot(value)), said.no_supersede),
            Saying::Ends(value) => match (from, to) {
                (Some(_), Some(_)) => self.end(value, from, to, observed, order),
                (one, other) => self.end(value, None, other.or(one), observed, order),
            },
        }
    }

    fn end(
        &mut self,
        value: Option<ValueKey>,
        from: Option<i64>,
        to: Option<i64>,
        observed: i64,
        order: AssertionId,
    ) {
        if let (Some(value), Some(from)) = (value, from) {
            let said = Said::Value(Value::Is(value));
            self.tell(Heard { said, from, to, weight: Weight::Stated, order }, false);
        }
        let weight = if to.is_some() { Weight::Stated } else { Weight::Observed };
        let said = Said::Ends(value);
        let from = to.unwrap_or(observed);
        self.tell(Heard { said, from, to: None, weight, order }, false);
    }

    fn tell(&mut self, mut heard: Heard, beside: bool) {
        if heard.to.is_none() {
            // What goes on, goes on until something that began later and goes on.
            heard.to = (heard.from..POINTS).find(|at| {
                let point = self.at(*at);
                point.tell(&heard, false) == Verdict::Blocked
                    && point.latest().is_some_and(|latest| latest.to.is_none())
            });
        }
        for at in heard.from..heard.to.unwrap_or(POINTS).min(POINTS) {
            if let Verdict::Point(point) = self.at(at).tell(&heard, beside) {
                self.points[usize::try_from(at).unwrap()] = point;
            }
        }
    }

    /// The points around one that say the same thing.
    fn stretch(&self, at: i64) -> Option<(i64, i64)> {
        if !(0..POINTS).contains(&at) || self.at(at).heard.is_empty() {
            return None;
        }
        let alike = |other: &i64| {
            self.at(*other).values_or_over() == self.at(at).values_or_over()
                && !self.at(*other).heard.is_empty()
        };
        let from = (0..=at).rev().take_while(alike).last().unwrap();
        let last = (at..POINTS).take_while(alike).last().unwrap();
        Some((from, last + 1))
    }

    fn correct(&mut self, said: &Assertion, value: ValueKey) -> bool {
        let observed = said.observed.0.0;
        let stated_from = said.valid_from.map(|at| at.0.0);
        let stated_to = said.valid_to.map(|at| at.0.0);
        let about = match (stated_from, stated_to) {
            (Some(from), _) if observed < from => from,
            (_, Some(to)) if to <= observed => to - 1,
            _ => observed,
        };
        let Some((struck_from, struck_to)) = self.stretch(about) else { return false };
        let is_same =
            self.at(about).over.is_none() && self.at(about).values() == [Value::Is(value)];
        if is_same && stated_from.is_none() && stated_to.is_none() {
            return false;
        }
        let begun = self.at(struck_from).heard.iter().filter(|heard| heard.from == struck_from);
        let begun = begun.map(|heard| heard.weight).max().unwrap_or(Weight::Stated);
        let weight = if stated_from.is_some() { Weight::Stated } else { begun };
        let Some(heard) = self.replace(
            (struck_from, struck_to),
            (stated_from, stated_to),
            Heard {
                said: Said::Value(Value::Is(value)),
                from: 0,
                to: None,
                weight,
                order: said.source,
            },
        ) else {
            return true;
        };
        if observed > heard.from && heard.to.is_none_or(|to| observed < to) {
            self.tell(Heard { from: observed, weight: Weight::Observed, ..heard }, false);
        }
        true
    }

    fn replace(
        &mut self,
        (struck_from, struck_to): (i64, i64),
        (stated_from, stated_to): (Option<i64>, Option<i64>),
        mut heard: Heard,
    ) -> Option<Heard> {
        let open_end = (struck_to < POINTS).then_some(struck_to);
        heard.from = stated_from.unwrap_or(struck_from);
        heard.to = stated_to.or(open_end);
        if heard.to.is_some_and(|to| to <= heard.from) {
            return None;
        }
        let before = (struck_from > 0).then(|| self.at(struck_from - 1).clone());
        for at in struck_from..struck_to {
            let inside = heard.from <= at && heard.to.is_none_or(|to| at < to);
            let point = &mut self.points[usize::try_from(at).unwrap()];
            *point = Point::default();
            if inside {
                point.heard.push(heard.clone());
            } else if let Some(before) = &before {
                let goes_on =
                    |heard: &&Heard| heard.from <= at && heard.to.is_none_or(|to| at < to);
                let rest: Vec<Heard> = before.heard.iter().filter(goes_on).cloned().collect();
                let is_one = before.over.is_some() || before.values().len() == 1;
                let carries = rest
                    .iter()
                    .any(|heard| before.over.is_none() || matches!(heard.said, Said::Ends(_)));
                if is_one && carries {
                    *point = Point { heard: rest, over: before.over };
                }
            }
        }
        self.tell(heard.clone(), false);
        Some(heard)
    }

    fn resolved(&mut self, resolution: &Resolution) {
        let Some((from, to)) = self.stretch(resolution.at.0.0) else { return };
        let point = self.at(from).clone();
        let sides = point.values();
        if point.over.is_some() || sides.len() < 2 {
            return;
        }
        let first = (from..to)
            .flat_map(|at| self.at(at).heard.clone())
            .filter_map(|heard| match heard.said {
                Said::Value(value) => Some((heard.order, value)),
                Said::Ends(_) => None,
            })
            .min();
        let (boundary, earlier, later) = match resolution.action {
            Action::Pick(value) => (to, value, value),
            Action::Split { boundary, earlier, later } => (boundary.0.0, earlier, later),
            Action::Dismiss => (to, first.unwrap().1, first.unwrap().1),
            Action::NewInformation(new) => {
                let heard = Heard {
                    said: Said::Value(Value::Is(new.value)),
                    from: 0,
                    to: None,
                    weight: Weight::Decided,
                    order: resolution.source,
                };
                let stated = (new.valid_from.map(|at| at.0.0), new.valid_to.map(|at| at.0.0));
                self.replace((from, to), stated, heard);
                return;
            }
        };
        if !sides.contains(&earlier) || !sides.contains(&later) {
            return;
        }
        for at in from..to {
            let value = if at < boundary { earlier } else { later };
            let begins = if at < boundary { from } else { boundary.max(from) };
            let ends = if at < boundary { boundary.min(to) } else { to };
            let point = &mut self.points[usize::try_from(at).unwrap()];
            point.heard.retain(|heard| heard.said == Said::Value(value));
            point.heard.push(Heard {
                said: Said::Value(value),
                from: begins,
                to: (ends < POINTS).then_some(ends),
                weight: Weight::Decided,
                order: resolution.source,
            });
        }
    }
}

impl Point {
    fn values_or_over(&self) -> (Option<Option<ValueKey>>, Vec<Value>) {
        match self.over {
            Some(_) => (self.over, Vec::new()),
            None => (None, self.values()),
        }
    }
}
