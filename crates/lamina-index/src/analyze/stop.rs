//! Function words of each language: left out of the index, and what a language is recognised by.
//!
//! Short lists of the commonest articles, pronouns, prepositions, conjunctions and auxiliaries. A word
//! that is missing here costs a little space; one that is wrongly here could not be found.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::language::Language;

/// Whether a word in lower case is a function word of this language.
pub(super) fn is_stop(lower: &str, language: Language) -> bool {
    languages_of(lower) & language.bit() != 0
}

/// The languages that have this function word, as bits.
pub(super) fn languages_of(lower: &str) -> u32 {
    table().get(lower).copied().unwrap_or(0)
}

fn table() -> &'static HashMap<&'static str, u32> {
    static TABLE: OnceLock<HashMap<&'static str, u32>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let mut table = HashMap::new();
        for (language, words) in WORDS {
            for word in words.split_whitespace() {
                *table.entry(word).or_default() |= language.bit();
            }
        }
        table
    })
}

const WORDS: &[(Language, &str)] = &[
    (
        Language::English,
        "a an the and or but if of in on at to for from by with about as into than then so that this \
         these those there here it its he him his she her hers they them their theirs we us our ours \
         you your yours i me my mine myself yourself himself herself itself themselves ourselves be is \
         am are was were been being do does did doing done have has had having will would shall should \
         can could may might must what which who whom whose when where why how not no nor all any both \
         each few more most other some such only own same too very just also ever don doesn didn isn \
         aren wasn weren hasn haven hadn wouldn couldn shouldn ain let because while until during \
         before after above below up down out off over under again once between through against \
         yes ok okay oh um",
    ),
    (
        Language::German,
        "der die das den dem des ein eine einen einem einer eines und oder aber wenn von in im am an auf \
         zu zum zur für mit bei nach aus über unter vor durch gegen ohne um als wie so dass daß dies \
         diese dieser dieses diesen diesem es er sie ihn ihm ihr ihre ihren ihrem ihrer wir uns unser \
         unsere du dich dir dein deine ich mich mir mein meine meinen meinem meiner man sich ist bin bist \
         sind war waren wird werden wurde wurden sein seine seinen hat habe haben hatte hatten kann \
         können könnte muss müssen soll sollen will wollen was wer wen wem wann wo warum wieso welche \
         welcher welches nicht kein keine nur auch noch schon sehr hier da dann denn doch mal",
    ),
    (
        Language::French,
        "le la les l un une des du de d et ou mais si dans en sur à au aux pour par avec sans sous chez \
         entre vers que qui quoi dont où quand comment pourquoi quel quelle quels quelles ce cet cette \
         ces c il elle ils elles on nous vous je j tu me m te t se s lui leur leurs son sa ses mon ma \
         mes ton ta tes notre nos votre vos est es suis sont était étaient sera être été a as ai ont \
         avait avoir avons avez fait faire peut plus pas ne n y aussi très bien tout tous toute toutes \
         qu même comme alors donc",
    ),
    (
        Language::Spanish,
        "el la los las un una unos unas lo y e o u pero si de del en a al por para con sin sobre entre \
         hasta desde que qué quien quién cual cuál cuando cuándo donde dónde como cómo porque este esta \
         estos estas ese esa esos esas esto eso aquel aquella él ella ellos ellas nosotros vosotros \
         usted ustedes yo tú me te se le les nos os mi mis tu tus su sus nuestro nuestra es soy eres son \
         era eran fue fueron ser está estoy están estaba ha he han hay había haber tiene tengo más no sí \
         ya también muy todo todos toda todas ni",
    ),
    (
        Language::Italian,
        "il lo la i gli le l un uno una e ed o ma se di del dello della dei degli delle in nel nella nei \
         a al allo alla ai agli alle da dal dalla su sul sulla per con tra fra che chi cui quale quali \
         quando dove come perché questo questa questi queste quello quella quelli quelle io tu lui lei \
         noi voi loro mi ti ci vi si me te mio mia miei tuo tua suo sua suoi nostro nostra è sono sei \
         siamo era erano sarà essere stato stata ha ho hai hanno aveva avere fa non più anche molto \
         tutto tutti tutta già d dell nell",
    ),
    (
        Language::Portuguese,
        "o a os as um uma uns umas e ou mas se de do da dos das em no na nos nas por pelo pela para com \
         sem sobre entre até desde que quem qual quais quando onde como porque este esta estes estas \
         esse essa isso isto aquele aquela ele ela eles elas nós vocês você eu tu me te lhe lhes meu \
         minha meus minhas teu tua seu sua seus suas nosso nossa é sou são era eram foi foram ser está \
         estou estão estava tem tenho têm tinha ter há não sim já também muito mais todo todos toda \
         ao à às num numa",
    ),
    (
        Language::Dutch,
        "de het een en of maar als van in op aan te tot voor met bij naar uit over onder door tegen \
         zonder om dan zo dat dit deze die er hij zij ze hem haar zijn hun wij we ons onze jij je jou \
         jouw u uw ik me mij mijn zich is ben bent was waren wordt worden werd heb hebt heeft hebben had \
         hadden kan kunnen kon moet moeten zal zullen zou wil willen wat wie waar wanneer waarom hoe \
         welke niet geen ook nog al wel heel hier daar toen toch",
    ),
    (
        Language::Swedish,
        "en ett den det de dem och eller men om av i på till för från med hos efter ur över under genom \
         mot utan som än så att detta denna dessa han hon honom henne hans hennes deras vi oss vår våra \
         du dig din ditt dina jag mig min mitt mina sig sin sitt sina är var varit vara blir blev har \
         hade ha kan kunde ska skulle vill ville måste vad vem när var varför hur vilken vilka inte \
         ingen inga också bara mycket här där då nu",
    ),
    (
        Language::Danish,
        "en et den det de dem og eller men om af i på til for fra med hos efter ud over under gennem mod \
         uden som end så at denne dette disse han hun ham hende hans hendes deres vi os vores du dig din \
         dit dine jeg mig min mit mine sig sin sit sine er var været være bliver blev har havde have \
         kan kunne skal skulle vil ville må hvad hvem hvornår hvor hvorfor hvordan hvilken ikke ingen \
         også kun meget her der da nu",
    ),
    (
        Language::Norwegian,
        "en et ei den det de dem og eller men om av i på til for fra med hos etter ut over under gjennom \
         mot uten som enn så at denne dette disse han hun ham henne hans hennes deres vi oss vår våre du \
         deg din ditt dine jeg meg min mitt mine seg sin sitt sine er var vært være blir ble har hadde \
         ha kan kunne skal skulle vil ville må hva hvem når hvor hvorfor hvordan hvilken ikke ingen \
         også bare veldig her der da nå",
    ),
    (
        Language::Finnish,
        "ja tai mutta jos että kun kuin niin on oli ovat olivat olla ole olen olet olemme ollut se ne \
         hän he minä sinä me te tämä tuo nämä nuo joka jotka mikä mitä missä milloin miksi miten kuka \
         ei en et emme eivät minun sinun hänen meidän heidän sen siitä siinä myös vain hyvin vielä jo \
         nyt sitten kanssa ennen jälkeen",
    ),
    (
        Language::Hungarian,
        "a az egy és vagy de ha hogy mint nem is csak már még nagyon van volt vannak voltak lesz lenni \
         ez ezt azt ezek azok aki ami amely mi mit ki kit hol mikor miért hogyan én te ő mi ti ők \
         engem neki nekem vele meg el fel ki be le ide oda itt ott akkor most után előtt alatt",
    ),
    (
        Language::Romanian,
        "un o unei unui și sau dar dacă de din în la pe pentru cu fără prin între că ce cine care când \
         unde cum acest această acești aceste acel acea el ea ei ele noi voi eu tu mă te se îi îl le \
         meu mea mei mele tău ta său sa nostru noastră este e sunt era erau fi fost a am ai au avea nu \
         da mai și foarte tot toate să",
    ),
    (
        Language::Turkish,
        "ve veya ama eğer ki bir bu şu o bunlar şunlar onlar ben sen biz siz beni seni onu bizi bana \
         sana ona bize benim senin onun bizim için ile gibi kadar daha çok en de da mi mı mu mü ne kim \
         nerede nasıl neden niçin hangi değil var yok olan olarak oldu olur ise sonra önce her şey",
    ),
    (
        Language::Russian,
        "и или но если в во на с со к ко о об от до из за по под над при для без у что чтобы как так это \
         этот эта эти этого тот та те того он она оно они его ее её их ему ей им мы нас нам наш ты тебя \
         тебе вы вас вам я меня мне мой моя мое мои себя свой был была было были быть есть будет не ни \
         да же ли бы вот кто где когда почему который которая которые какой все всё ещё еще уже только \
         очень там тут",
    ),
    (
        Language::Greek,
        "ο η το οι τα του της των τον την τους τις και ή αλλά αν σε στο στη στον στην στα από με για προς \
         χωρίς ότι που πως πώς τι ποιος ποια πού πότε γιατί αυτός αυτή αυτό αυτοί εγώ εσύ εμείς εσείς \
         μου σου του μας σας τους είναι ήταν είμαι έχει έχω έχουν είχε θα να δεν μην όχι ναι και πολύ",
    ),
    (
        Language::Arabic,
        "في من على إلى عن مع هذا هذه ذلك تلك التي الذي الذين هو هي هم أنا أنت نحن كان كانت يكون لا لم لن \
         ما ماذا متى أين كيف لماذا و أو ثم أن إن قد كل بعد قبل بين",
    ),
];
