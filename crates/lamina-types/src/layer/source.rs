//! Where the words of an event come from: decides how far what they claim is trusted.

/// Where the words of the evidence come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[repr(u8)]
pub enum SourceClass {
    /// Somebody says it, or gives it as a triple.
    #[default]
    Said = 0,
    /// What a tool returned.
    Tool = 1,
    /// A document.
    Document = 2,
    /// What was observed without anybody saying it.
    Observed = 3,
    /// Brought over from another system.
    Imported = 4,
    /// What a model says: it may repeat what it was told, or invent.
    Assistant = 5,
    /// Feedback on an earlier answer.
    Feedback = 6,
}

impl SourceClass {
    /// Every class, for tables and tests.
    pub const ALL: [SourceClass; 7] = [
        SourceClass::Said,
        SourceClass::Tool,
        SourceClass::Document,
        SourceClass::Observed,
        SourceClass::Imported,
        SourceClass::Assistant,
        SourceClass::Feedback,
    ];

    /// The class of this number.
    pub fn of_number(number: u8) -> Option<SourceClass> {
        SourceClass::ALL.into_iter().find(|class| *class as u8 == number)
    }
}
