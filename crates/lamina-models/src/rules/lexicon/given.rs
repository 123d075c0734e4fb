//! Common given names, to tell a person from a company where both are called by a bare name.
//!
//! A name that is missing here is not taken for a thing: only where a sentence would mean different
//! things of the two does it make a difference.

use std::collections::HashSet;
use std::sync::OnceLock;

/// Folded, without accents.
const GIVEN: &str = "aaron abigail ada adam adele adrian agnes ahmed aisha alan albert alejandro alessandro alex \
    alexander alexandra alexis alfred ali alice alicia alina alison amanda amara amelia amina \
    amir amy ana anders andre andrea andreas andrew andy angela angelo anika anita anja ann anna \
    annabel anne annette annika anthony antoine anton antonia antonio aoife arjun arthur astrid \
    audrey aya ayesha barbara beatrice ben benedikt benjamin bernard bernd beth betty bianca \
    bill birgit bjorn bob brandon brenda brian bridget bruno camila camille carl carla carlos \
    carmen carol carolina caroline casey cecilia celine charles charlie charlotte chen chiara \
    chloe chris christian christina christine christopher ciara claire clara claudia cleo colin \
    connor cynthia daisy dan daniel daniela daniele dave david deborah dennis diana diego dieter \
    dmitri dominic donna doris dorothy dylan eduardo edward eileen eleanor elena elias elif \
    elijah elisa elizabeth ella ellen elodie emil emilia emily emma eric erik erika ernst esther \
    ethan eugene eva evelyn fabian farid fatima federico felix fernando fiona florian frances \
    francesca francesco francisco frank franz fred frederik freja frida friedrich gabriel \
    gabriela george georgia gerald giorgio giovanni giulia gloria gordon grace greta guillaume \
    gustav hana hanna hannah hans harry hassan heather heidi heike helen helena helga hendrik \
    henrik henry hiroshi holly hugo ian ibrahim ida igor ilse imani ines ingrid irene iris isaac \
    isabel isabella isla ivan jack jacob jakob jakub james jamie jan jana jane janet jasmine \
    jason javier jean jeff jenna jennifer jens jeremy jessica jim joan joana joao joe joel johan \
    johann johanna john johnny jonas jonathan jordan jorge jose josef joseph josh joshua juan \
    judith julia julian julie julien jun jurgen justin kai kamal karen karin karl karla kate \
    katharina katherine kathleen katja katrin keiko keith kelly ken kenji kenneth kevin khalid \
    kim klara klaus konrad kristin kristina kurt kwame lars laura lauren lea leah lena leo leon \
    leonard leonie li liam liliana lily lina linda lisa liv logan lorenzo lotte louis louise \
    luca lucas lucia lucy luis luise luka lukas luke luna lynn maartje madeleine magdalena \
    magnus maja malik manuel mara marc marco marcus margaret marek maria mariam marie marina mario \
    marion marius mark markus marlene marta martha martin martina mary mateo matilda matteo \
    matthew matthias maud max maya mehmet mei melanie melissa mia michael michaela michel \
    michele michelle miguel mikael mike mikhail mila milan mina miriam mohamed mohammed molly \
    monica monika muhammad nadia nadine nancy naomi natalia natalie natasha nathan neha nia \
    niamh nick nicola nicolas nicole niels niklas nils nina noah noor nora nuria olaf ole oleg \
    olga oliver olivia olivier omar oscar otto owen pablo paola patricia patrick paul paula \
    paulo pavel pedro peggy per peter petra phil philip philipp pia pierre pieter priya rachel \
    rafael rahul raj ralf ramon rania raquel rashid rebecca renata rene rhea ricardo richard \
    rita robert roberto robin rohan roland roman ron rosa rose rosie ruby rui ruth ryan sabine \
    said sally salma sam samantha samira samuel sandra sandro sanjay santiago sara sarah sasha \
    scott sean sebastian selma sergei sergio seth shanice sharon sheila shreya sibel silke \
    silvia simon simone sofia sofie sonia sophia sophie stefan stefanie stella stephanie stephen \
    steve steven sunita susan susanne sven svetlana sylvia takashi tamara tanja tariq tatiana \
    teresa thea theo theodor theresa thomas tim timo tina tobias tom tomas tommy tony tove tracy \
    ulrike uma ursula uwe valentina valeria vanessa vera veronica victor victoria viktor vincent \
    virginia vivian vladimir walter wanda wei wendy werner wilhelm will william wolfgang xavier \
    yan yara yasmin yuki yusuf yvonne zara zoe";

/// Whether a name begins with one that people are given.
pub(crate) fn is_given(name: &str) -> bool {
    static TABLE: OnceLock<HashSet<&'static str>> = OnceLock::new();
    let table = TABLE.get_or_init(|| GIVEN.split_whitespace().collect());
    let first = name.split([' ', '-']).next().unwrap_or_default().to_lowercase();
    table.contains(first.as_str()) || !first.is_ascii() && table.contains(plain(&first).as_str())
}

/// A name without the accents of its letters: "théo" is "theo".
fn plain(name: &str) -> String {
    let base = |letter: char| match letter {
        'á' | 'à' | 'â' | 'ä' | 'ã' | 'å' => 'a',
        'é' | 'è' | 'ê' | 'ë' => 'e',
        'í' | 'ì' | 'î' | 'ï' => 'i',
        'ó' | 'ò' | 'ô' | 'ö' | 'õ' => 'o',
        'ú' | 'ù' | 'û' | 'ü' => 'u',
        'ç' => 'c',
        'ñ' => 'n',
        other => other,
    };
    name.chars().map(base).collect()
}
