//! What a scope asks to be done when two things that cannot both be so are said of the same instant.

/// Which of two values of the same instant stands. Without one of these, neither: a conflict is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Settling {
    /// What was said last, unless what was said before is clearly surer.
    LatestWithinBand = 1,
    /// What was said last.
    Latest = 2,
    /// What is surer; equally sure is open.
    Strongest = 3,
}

impl Settling {
    /// Every way, for tables and tests.
    pub const ALL: [Settling; 3] =
        [Settling::LatestWithinBand, Settling::Latest, Settling::Strongest];

    /// The way of this number.
    pub fn of_number(number: u8) -> Option<Settling> {
        Settling::ALL.into_iter().find(|way| *way as u8 == number)
    }
}
