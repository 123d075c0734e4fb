//! The word lists. Only data: a word more is a line here, never a branch in a rule.

use super::Class;

/// Classes with their members, separated by white space.
pub(super) const CLASSES: &[(Class, &str)] = &[
    (Class::FIRST, "i we"),
    (Class::PRONOUN, "i we you he she they it who everyone everybody someone somebody anyone anybody nobody
        noone something anything everything nothing this that these those there one me us him them
        myself himself herself itself ourselves themselves yourself mine yours his hers ours theirs people
        folks others y'all"),
    (Class::POSSESSIVE, "my our your his her their its"),
    (Class::DETERMINER, "a an the this that these those some any no each every another both all either neither
        such what which several many few"),
    (Class::PREPOSITION, "in on at by for from to with without of about into onto over under after before during
        since until till between among through across against around near behind beside beyond per via than
        as like towards toward upon within along off out up down because instead except besides despite
        regarding concerning unlike versus vs plus"),
    (Class::CONJUNCTION, "and but or so because cause cos while although though whereas yet nor then plus & when
        where if unless which who that since whose"),
    (Class::ADVERB, "now currently also just really very pretty quite still actually recently already both all
        finally honestly originally mostly mainly usually always often sometimes generally typically normally
        regularly rarely seldom never ever even only simply probably definitely certainly totally absolutely
        truly basically literally officially formally formerly previously lately newly soon too either again
        so quickly slowly happily sadly proudly gladly kinda sorta rather fairly extremely incredibly super
        deathly severely mildly slightly highly deeply badly terribly hugely massively genuinely seriously
        obviously clearly apparently once yesterday today tomorrow tonight successfully finally eventually
        temporarily permanently full-time part-time remotely long happily freshly almost nearly roughly about
        approximately exactly over around half together here there primarily fully completely partly largely
        secretly openly initially thankfully luckily fortunately unfortunately technically personally well
        fluently anymore"),
    (Class::HABITUAL, "usually always often sometimes generally typically normally regularly rarely seldom mostly
        frequently occasionally"),
    (Class::BE, "am is are was were be been being 'm 're"),
    (Class::HAVE, "have has had having 've"),
    (Class::DO, "do does did doing done"),
    (Class::MODAL, "will would can could may might shall should must 'll 'd gonna wanna"),
    (Class::IRREALIS, "would could may might should maybe perhaps wish wishes wished imagine suppose supposing
        assuming unless hypothetically theoretically ideally possibly presumably probably if whether lest"),
    (Class::NEGATION, "not n't never"),
    (Class::QUESTION, "who what where when why how which whose whom"),
    (Class::RELATIVE, "who which that"),
    (Class::MONTH, "january february march april may june july august september october november december jan feb
        mar apr jun jul aug sep sept oct nov dec"),
    (Class::WEEKDAY, "monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri
        sat sun mondays tuesdays wednesdays thursdays fridays saturdays sundays"),
    (Class::TIME_UNIT, "second seconds minute minutes min mins hour hours hrs hr day days week weeks month months
        year years yr yrs decade decades quarter quarters weekend weekends fortnight"),
    (Class::NUMBER_WORD, "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen
        fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety
        hundred thousand million billion dozen"),
    (Class::NATIONALITY, "dutch german french spanish italian portuguese english british irish scottish welsh
        american canadian mexican brazilian argentinian argentine chilean colombian peruvian venezuelan cuban
        australian japanese chinese korean indian pakistani bangladeshi nepali nepalese thai vietnamese
        indonesian malaysian filipino filipina singaporean taiwanese russian ukrainian belarusian polish czech
        slovak slovenian croatian serbian bosnian albanian greek turkish bulgarian romanian hungarian austrian
        swiss belgian luxembourgish danish swedish norwegian finnish icelandic estonian latvian lithuanian
        egyptian moroccan tunisian algerian nigerian ghanaian kenyan ethiopian ugandan tanzanian rwandan
        senegalese cameroonian zimbabwean zambian south-african israeli palestinian lebanese syrian jordanian
        iraqi iranian persian saudi emirati kuwaiti qatari yemeni afghan armenian georgian azerbaijani kazakh
        uzbek mongolian burmese cambodian laotian maltese cypriot macedonian montenegrin moldovan ecuadorian
        bolivian uruguayan paraguayan jamaican haitian dominican honduran guatemalan salvadoran nicaraguan
        panamanian catalan basque sri-lankan european african asian kiwi scot finn dane swede turk pole"),
    (Class::LANGUAGE, "english german french spanish italian portuguese dutch danish swedish norwegian finnish
        icelandic polish czech slovak slovenian croatian serbian bosnian albanian greek turkish bulgarian
        romanian hungarian russian ukrainian belarusian estonian latvian lithuanian irish gaelic welsh scots
        basque catalan galician breton japanese chinese mandarin cantonese korean vietnamese thai hindi urdu
        bengali punjabi tamil telugu marathi gujarati malayalam kannada nepali sinhala arabic hebrew persian
        farsi kurdish pashto swahili yoruba igbo hausa zulu xhosa afrikaans amharic tagalog malay indonesian
        bahasa latin esperanto yiddish maltese georgian armenian mongolian khmer lao burmese tibetan maori
        hawaiian luxembourgish flemish twi wolof somali uzbek kazakh azerbaijani macedonian bsl asl"),
    (Class::RELIGION, "muslim christian jewish hindu buddhist catholic protestant orthodox sikh jain atheist
        agnostic mormon quaker lutheran anglican baptist methodist shinto taoist bahai pagan evangelical"),
    (Class::DIET, "vegetarian vegan pescatarian pescetarian flexitarian gluten-free dairy-free lactose-free halal
        kosher keto paleo plant-based low-carb carnivore veggie sugar-free nut-free ketogenic fruitarian
        macrobiotic teetotal sober"),
    (Class::OCCUPATION, "nurse doctor teacher engineer developer programmer designer architect lawyer attorney
        accountant analyst manager director ceo cto cfo coo cmo cio vp president chairman chairwoman founder
        co-founder dentist pharmacist physician surgeon vet veterinarian psychologist psychiatrist therapist
        physiotherapist paramedic midwife pilot chef cook baker butcher barista bartender waiter waitress
        plumber electrician carpenter mechanic welder builder painter gardener farmer fisherman firefighter
        policeman policewoman cop officer soldier sergeant captain detective journalist reporter editor writer
        author poet novelist translator interpreter librarian historian scientist researcher professor lecturer
        tutor student intern apprentice trainee consultant contractor freelancer recruiter salesman saleswoman
        salesperson cashier clerk secretary receptionist assistant administrator admin sysadmin sre devops
        photographer filmmaker actor actress musician singer dancer dj producer artist illustrator animator
        sculptor tailor jeweler hairdresser barber stylist model athlete coach trainer referee economist
        statistician mathematician physicist chemist biologist geologist astronomer technician operator
        inspector surveyor auditor banker broker trader investor entrepreneur realtor landlord driver courier
        cleaner janitor nanny babysitter housekeeper caretaker guard priest pastor rabbi imam monk nun judge
        politician mayor minister diplomat ambassador spokesperson lead head principal dean rep representative
        agent strategist marketer copywriter planner coordinator scrum-master tester qa data-scientist
        bookkeeper paralegal optician radiologist cardiologist dermatologist neurologist oncologist
        paediatrician pediatrician anesthetist undertaker florist sommelier steward stewardess translator
        superintendent supervisor foreman treasurer specialist generalist maintainer postdoc phd
        owner partner associate chairperson advisor adviser counselor counsellor machinist"),
    (Class::PLAYABLE, "piano guitar violin cello drums bass flute clarinet saxophone trumpet trombone harp banjo
        ukulele accordion viola oboe mandolin harmonica organ keyboard keyboards sitar fiddle bagpipes tuba
        recorder lute football soccer tennis basketball volleyball baseball cricket rugby hockey golf badminton
        squash padel handball chess poker bridge go darts billiards snooker pool lacrosse softball table-tennis
        ping-pong polo netball floorball pickleball frisbee curling bowling scrabble backgammon minecraft
        fortnite mahjong checkers"),
    (Class::STATUS, "blocked done finished complete completed shipped live launched delayed cancelled canceled
        paused closed signed lost won dead stuck postponed approved rejected pending merged deployed archived
        deprecated overdue ready released abandoned stalled frozen scrapped unblocked live resolved
        reopened open wip obsolete suspended greenlit shelved parked killed dropped terminated finalized
        finalised sold-out discontinued"),
    (Class::CONDITION, "asthma diabetes eczema migraine migraines epilepsy arthritis hypertension depression anxiety
        adhd add autism dyslexia insomnia psoriasis celiac coeliac crohn's ibs endometriosis pcos anemia anaemia
        hypothyroidism hyperthyroidism osteoporosis fibromyalgia lupus scoliosis tinnitus vertigo cancer
        leukemia hepatitis hiv glaucoma cataracts gout rosacea acne narcolepsy ocd ptsd bipolar schizophrenia
        dementia alzheimer's parkinson's ms reflux gerd ulcer ulcers hernia bronchitis pneumonia covid
        sciatica carpal hemophilia haemophilia thalassemia tachycardia arrhythmia cholesterol
        diabetic asthmatic epileptic dyslexic autistic colorblind colourblind color-blind colour-blind
        anemic anaemic bipolar deaf blind insomniac near-sighted nearsighted short-sighted shortsighted
        hayfever intolerant hypertensive neurodivergent parkinson alzheimer crohn hashimoto tourette asperger
        asperger's tourette's hashimoto's hodgkin raynaud sarcoidosis gastritis colitis shingles angina afib
        pots eds cfs copd bronchiectasis emphysema hypermobility plantar anorexia bulimia agoraphobia vitiligo
        alopecia hyperhidrosis dyspraxia dyscalculia aphantasia tendinitis gallstones"),
    (Class::MEDICINE, "insulin ibuprofen aspirin paracetamol acetaminophen metformin lisinopril levothyroxine
        statins antihistamines antidepressants painkillers vitamins antibiotics warfarin prednisone
        adderall ritalin xanax prozac zoloft lexapro ventolin melatonin lithium methotrexate iron magnesium
        supplements steroids blood-thinners creatine probiotics amoxicillin penicillin cortisone morphine
        codeine tramadol valium diazepam ozempic wegovy mounjaro humira concerta vyvanse wellbutrin cymbalta
        effexor seroquel abilify lamictal lamotrigine topiramate propranolol albuterol salbutamol symbicort
        benadryl zyrtec claritin loratadine cetirizine tylenol advil naproxen colchicine digoxin heparin
        tamoxifen finasteride minoxidil testosterone oestrogen estrogen progesterone levodopa hydroxychloroquine
        antacids laxatives antipsychotics beta-blockers betablockers contraceptives"),
    (Class::OCCASION, "meeting appointment call interview flight dinner lunch breakfast launch demo review party exam
        wedding standup retro retrospective workshop conference training lesson class webinar presentation
        concert match game race marathon deadline release kickoff kick-off sync checkup check-up surgery
        operation trip holiday vacation visit event session hearing audition graduation funeral ceremony
        reunion offsite off-site onboarding migration audit inspection delivery pickup exhibition festival
        seminar summit hackathon townhall all-hands ama interview brunch date rehearsal show screening tour
        go-live freeze cutover sprint drill election vote move recital performance barbecue bbq
        picnic gig opening sale fair tournament final qualifier test quiz scan"),
    (Class::ABSTRACT, "question questions problem problems idea ideas feeling doubt doubts plan plans look chat chance
        minute moment day time lot lots bit couple few deadline reason favor favour request suggestion issue
        issues bug bugs preference preferences degree job point points concern concerns hunch crush choice option
        options thing things way ways fun luck access trouble difficulty difficulties experience experiences
        impression hope hopes dream dreams goal goals reservation tendency habit talent sense right rights say
        need needs talk walk rest break breaks nap shower bath drink meal snack bite good great nice bad hard
        tough rough busy blast laugh cry fight argument conversation discussion decision update updates news
        story secret sweet soft thought thoughts comment comments feedback note notes answer answers clue
        faith week weekend month year night morning evening afternoon mind life future past no any enough
        more less much plenty something anything nothing everything cold flu fever headache hangover cough
        baby sore temperature weakness strength go try listen clear rough crack stake say theory vision
        responsibility obligation opportunity relationship connection conflict budget team meeting half
        friend friends colleague neighbor neighbour rule policy complaint claim word brain heart belt phd doctorate diploma
        mba fear phobia"),
    (Class::CONSUMABLE, "coffee tea beer wine sandwich pizza ticket tickets coffee lunch dinner breakfast drink drinks
        snack cake cookie groceries flowers gift present round bottle"),
    (Class::INTERJECTION, "hi hello hey yo thanks thx thank please pls plz ok okay yes yeah yep yup no nope nah sure
        well oh ah ugh wow lol haha hahaha hmm btw fyi tbh imo imho anyway anyways alright right cheers
        sorry welcome bye cool great nice awesome perfect fine guys all everyone team folks fwiw ps
        omg yay congrats morning evening afternoon good"),
    (Class::TOOL, "postgres postgresql mysql mariadb sqlite mongodb mongo redis kafka rabbitmq nats cockroachdb
        cassandra elasticsearch opensearch clickhouse snowflake bigquery redshift databricks dynamodb oracle
        docker kubernetes k8s nomad terraform ansible puppet chef helm jenkins gitlab github bitbucket circleci
        git subversion svn mercurial perforce slack teams discord mattermost zoom notion confluence jira linear
        asana trello basecamp monday airtable figma sketch miro grafana kibana prometheus datadog splunk sentry
        newrelic pagerduty opsgenie aws azure gcp heroku vercel netlify cloudflare fastly nginx apache caddy
        haproxy envoy istio linux ubuntu debian fedora windows macos freebsd vim neovim emacs vscode intellij
        pycharm python rust go golang java kotlin scala ruby rails django flask fastapi node nodejs node.js
        deno bun react vue angular svelte nextjs typescript javascript php laravel wordpress swift flutter
        dbt airflow dagster prefect spark hadoop flink tableau looker metabase powerbi excel sheets salesforce
        hubspot zendesk intercom stripe shopify cron bash zsh fish tmux webpack vite eslint pytest jest
        cypress playwright selenium gradle maven bazel npm yarn pnpm pip poetry okta auth0 keycloak vault
        obsidian evernote todoist dropbox gmail outlook thunderbird firefox chrome safari edge whatsapp signal
        telegram chatgpt claude copilot gemini ollama pandas numpy pytorch tensorflow keras jupyter
        sql html css matlab fortran cobol haskell erlang elixir clojure perl lua nix pulumi argocd
        supabase firebase planetscale graphql grpc n8n zapier klaviyo mailchimp canva webflow squarespace wix
        retool mixpanel posthog snyk sonarqube teamcity buildkite"),
    (Class::COMPANY, "google microsoft apple amazon meta facebook netflix ibm intel nvidia amd oracle salesforce stripe shopify
        spotify uber lyft airbnb twitter linkedin paypal adobe cisco dell hp lenovo samsung sony lg huawei xiaomi
        tencent alibaba baidu bytedance tiktok tesla bmw daimler volkswagen audi porsche toyota honda nissan hyundai
        siemens bosch sap bayer basf roche novartis pfizer merck moderna astrazeneca sanofi gsk nokia ericsson philips
        asml airbus boeing lockheed raytheon deloitte kpmg pwc accenture mckinsey bain bcg infosys wipro tcs cognizant
        capgemini jpmorgan citigroup hsbc barclays ubs allianz axa vodafone verizon walmart costco ikea unilever nestle
        pepsico starbucks mcdonald's databricks snowflake datadog cloudflare github gitlab atlassian hubspot zendesk
        openai anthropic deepmind palantir dropbox pinterest reddit zalando klarna revolut monzo n26
        expedia acme globex initech hooli contoso"),
    (Class::LEGAL, "inc ltd llc llp plc corp corporation gmbh ag kg bv nv oy ab aps pty sarl srl kk"),
    (Class::TRADE, "labs laboratories systems technologies software robotics industries holdings ventures motors airlines
        pharmaceuticals pharma solutions consulting studios electronics logistics insurance analytics networks partners
        enterprises bank biotech semiconductors consultancy"),
    (Class::PLACE, "london paris berlin rome madrid lisbon porto oslo stockholm copenhagen helsinki vienna zurich geneva
        amsterdam rotterdam brussels dublin cork galway edinburgh glasgow manchester leeds bristol york munich
        hamburg cologne frankfurt stuttgart leipzig dresden prague warsaw krakow budapest bucharest sofia athens
        istanbul ankara moscow kyiv kiev riga tallinn vilnius milan turin naples florence venice barcelona
        valencia seville malaga bilbao tokyo osaka kyoto seoul busan beijing shanghai shenzhen hongkong taipei
        singapore bangkok hanoi saigon jakarta manila mumbai delhi bangalore chennai kolkata hyderabad pune
        karachi lahore dubai doha riyadh amman beirut cairo casablanca lagos accra nairobi johannesburg
        sydney melbourne brisbane perth auckland wellington toronto montreal vancouver ottawa boston chicago
        seattle portland austin dallas houston denver phoenix miami atlanta philadelphia detroit brooklyn
        bogota medellin lima santiago montevideo france germany spain italy portugal england scotland wales
        ireland norway sweden denmark finland iceland poland austria switzerland belgium netherlands greece
        turkey russia ukraine japan china korea india thailand vietnam indonesia malaysia philippines australia
        canada mexico brazil argentina chile colombia peru egypt morocco nigeria kenya ghana ethiopia
        israel jordan lebanon iran iraq usa uk us america europe asia africa california texas florida nyc"),
    (Class::ADJECTIVE, "old new young little big best older younger eldest oldest youngest late dear good great small
        large former ex current future long-time longtime close closest twin only first second third fourth
        elder favourite favorite beloved baby grown-up adult teenage nice happy sad busy tired late early
        ready free sick ill fine okay sure glad sorry afraid able available aware main own direct senior junior
        oldest dear crazy lovely wonderful amazing funny smart clever stupid boring interesting important
        different same next last previous primary secondary black white red green blue electric used
        last-minute quarterly weekly monthly annual yearly daily full real true false right wrong hard easy
        hot cold warm cool high low long short happy terrible awful horrible great perfect beautiful ugly
        rich poor strong weak heavy light dark bright quiet loud cheap expensive rescue work personal private
        middle maternal paternal step wonderful bossy grumpy lazy"),
    (Class::ANIMAL, "dog dogs cat cats puppy puppies kitten kittens rabbit rabbits bunny hamster hamsters parrot parrots
        ferret ferrets horse horses pony ponies goldfish turtle tortoise snake lizard gecko budgie budgies canary
        cockatiel guinea-pig chicken chickens hen hens goat goats sheep pig donkey llama alpaca iguana axolotl
        hedgehog chinchilla gerbil rat rats mouse parakeet cockatoo macaw tarantula husky huskies beagle labrador
        poodle corgi dachshund spaniel terrier retriever whippet greyhound collie bulldog dalmatian mutt tabby
        pug chihuahua schnauzer rottweiler boxer malamute hound kitty pup doggo bird fish frog duck ducks cow
        newt koi"),
    (Class::PETTY, "bit fan person lover lot mess genius idiot legend star joke pain beast saint guy man woman girl boy
        kid adult child friend nightmare disaster shame pity surprise pleasure treat winner loser believer
        beginner newbie noob expert morning night people human fool hero villain problem question idea thing
        way reason deal must start bummer relief blast dream wreck hit miss joy delight mystery riot gem
        keeper catch bargain steal no-brainer success failure lie liar fraud member user customer client
        stranger guest part half place lifesaver angel monster challenge struggle journey bear pro natural
        dealbreaker game-changer bottleneck blocker priority risk mistake good bad great nice big huge
        real total true little queen king princess god goddess wizard rockstar ninja guru nerd geek
        foodie workaholic perfectionist optimist pessimist introvert extrovert local native citizen
        couple family group team favourite favorite classic must-have must-see given fact matter step"),
    (Class::TEAM, "team teams squad guild chapter tribe department dept division board committee council club crew
        group unit band choir taskforce task-force society union league working-group"),
    (Class::SCHOOL, "university college school institute academy polytechnic uni mit oxford cambridge harvard stanford
        yale princeton berkeley caltech eth epfl ucl lse centrale sorbonne ucla nyu cmu"),
    (Class::CREED_TAIL, "tall high long old heavy"),
    (Class::STOP, "a an the this that these those some any no each every another both all either neither such i we you
        he she they it who what where when why how which whose whom me us him them my our your his her their
        its mine yours hers ours theirs am is are was were be been being have has had having do does did
        doing done will would can could may might shall should must not n't 'm 're 've 'll 'd 's and but or
        nor so because while although though if unless since until till as than then in on at by for from to
        with without of about into onto over under after before during between among through across against
        around near behind up down out off again further once here there now just also too very really quite
        pretty only even still already always never often sometimes usually maybe perhaps probably actually
        basically literally ok okay yes no yeah hi hello hey thanks please let get got go going gone come
        make made take took one two three first last next new good well much many more most less least lot
        bit like know think say said tell told see saw want need got im its ll ve re don didn doesn isn
        today
        yesterday tomorrow tonight however anyway meanwhile besides finally currently recently later soon
        everyone everybody someone somebody nobody anyone something anything nothing everything people
        btw fyi also although same other others own dear regards best cheers sure right great nice cool"),
    (Class::HEADING, "reminder note notes update heads minutes decision deadline summary quick weekly status big
        agenda action attention info news question answer warning important urgent todo recap goal goals
        hope happy glad sorry looking forward word rumor rumour love"),
    (Class::COMMON, "budget owner location priority assignee title topic scope category source target amount
        total size summary subject result severity environment impact risk cause region duration participants
        work life home school money food water weather coffee tea music time day night morning evening
        week month year people person man woman kid kids child children house car bike train bus plane phone
        computer laptop email mail meeting call office team company business project report document file code
        bug feature customer client user product price cost problem issue question answer idea plan goal news
        story book movie film show game song thing stuff place room city country street door window table
        part rest traffic rent fear peace love hell heaven bed town general person everybody summer winter
        spring autumn fall weekend holiday vacation lunch dinner breakfast hospital church market store shop
        gym park beach mountain forest river lake sea doctor dentist bathroom kitchen garden class court
        prison jail bank airport station sleep"),
];

/// The relation that a word of kinship or acquaintance states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kin {
    Spouse,
    Partner,
    Child,
    Parent,
    Sibling,
    Relative,
    Friend,
    Colleague,
    Neighbor,
    Boss,
    Pet,
}

impl Kin {
    pub(crate) fn predicate(self) -> &'static str {
        match self {
            Kin::Spouse => "spouse",
            Kin::Partner => "partner",
            Kin::Child => "child",
            Kin::Parent => "parent",
            Kin::Sibling => "sibling",
            Kin::Relative => "relative",
            Kin::Friend => "friend",
            Kin::Colleague => "colleague",
            Kin::Neighbor => "neighbor",
            Kin::Boss => "reports_to",
            Kin::Pet => "pet",
        }
    }
}

pub(super) const KINSHIP: &[(&str, Kin)] = &[
    ("wife", Kin::Spouse),
    ("husband", Kin::Spouse),
    ("spouse", Kin::Spouse),
    ("hubby", Kin::Spouse),
    ("girlfriend", Kin::Partner),
    ("boyfriend", Kin::Partner),
    ("partner", Kin::Partner),
    ("fiancé", Kin::Partner),
    ("fiancée", Kin::Partner),
    ("fiance", Kin::Partner),
    ("fiancee", Kin::Partner),
    ("gf", Kin::Partner),
    ("bf", Kin::Partner),
    ("son", Kin::Child),
    ("daughter", Kin::Child),
    ("child", Kin::Child),
    ("kid", Kin::Child),
    ("sons", Kin::Child),
    ("daughters", Kin::Child),
    ("children", Kin::Child),
    ("kids", Kin::Child),
    ("toddler", Kin::Child),
    ("stepson", Kin::Child),
    ("stepdaughter", Kin::Child),
    ("mother", Kin::Parent),
    ("father", Kin::Parent),
    ("mom", Kin::Parent),
    ("mum", Kin::Parent),
    ("dad", Kin::Parent),
    ("mama", Kin::Parent),
    ("papa", Kin::Parent),
    ("parent", Kin::Parent),
    ("parents", Kin::Parent),
    ("stepmother", Kin::Parent),
    ("stepfather", Kin::Parent),
    ("stepmom", Kin::Parent),
    ("stepdad", Kin::Parent),
    ("brother", Kin::Sibling),
    ("sister", Kin::Sibling),
    ("brothers", Kin::Sibling),
    ("sisters", Kin::Sibling),
    ("sibling", Kin::Sibling),
    ("siblings", Kin::Sibling),
    ("twin", Kin::Sibling),
    ("stepbrother", Kin::Sibling),
    ("stepsister", Kin::Sibling),
    ("half-brother", Kin::Sibling),
    ("half-sister", Kin::Sibling),
    ("aunt", Kin::Relative),
    ("auntie", Kin::Relative),
    ("uncle", Kin::Relative),
    ("cousin", Kin::Relative),
    ("cousins", Kin::Relative),
    ("nephew", Kin::Relative),
    ("niece", Kin::Relative),
    ("grandmother", Kin::Relative),
    ("grandfather", Kin::Relative),
    ("grandma", Kin::Relative),
    ("grandpa", Kin::Relative),
    ("granny", Kin::Relative),
    ("gran", Kin::Relative),
    ("grandad", Kin::Relative),
    ("granddad", Kin::Relative),
    ("nan", Kin::Relative),
    ("grandson", Kin::Relative),
    ("granddaughter", Kin::Relative),
    ("grandparents", Kin::Relative),
    ("mother-in-law", Kin::Relative),
    ("father-in-law", Kin::Relative),
    ("brother-in-law", Kin::Relative),
    ("sister-in-law", Kin::Relative),
    ("son-in-law", Kin::Relative),
    ("daughter-in-law", Kin::Relative),
    ("godmother", Kin::Relative),
    ("godfather", Kin::Relative),
    ("goddaughter", Kin::Relative),
    ("godson", Kin::Relative),
    ("friend", Kin::Friend),
    ("friends", Kin::Friend),
    ("buddy", Kin::Friend),
    ("mate", Kin::Friend),
    ("pal", Kin::Friend),
    ("bestie", Kin::Friend),
    ("bff", Kin::Friend),
    ("colleague", Kin::Colleague),
    ("colleagues", Kin::Colleague),
    ("coworker", Kin::Colleague),
    ("co-worker", Kin::Colleague),
    ("coworkers", Kin::Colleague),
    ("workmate", Kin::Colleague),
    ("teammate", Kin::Colleague),
    ("neighbor", Kin::Neighbor),
    ("neighbour", Kin::Neighbor),
    ("neighbors", Kin::Neighbor),
    ("neighbours", Kin::Neighbor),
    ("manager", Kin::Boss),
    ("boss", Kin::Boss),
    ("supervisor", Kin::Boss),
];

/// The relation that a folded noun states, the pet kinds included.
pub(crate) fn kin(fold: &str) -> Option<Kin> {
    KINSHIP
        .iter()
        .find(|(word, _)| *word == fold)
        .map(|(_, kin)| *kin)
        .or_else(|| super::is(fold, Class::ANIMAL).then_some(Kin::Pet))
        .or_else(|| {
            let one = fold.strip_suffix('s')?;
            super::is(one, Class::ANIMAL).then_some(Kin::Pet)
        })
}

/// Units and the form they are kept in.
const UNITS: &[(&str, &str)] = &[
    ("m", "m"),
    ("meter", "m"),
    ("meters", "m"),
    ("metre", "m"),
    ("metres", "m"),
    ("cm", "cm"),
    ("centimeters", "cm"),
    ("centimetres", "cm"),
    ("km", "km"),
    ("kilometers", "km"),
    ("kilometres", "km"),
    ("kg", "kg"),
    ("kilos", "kg"),
    ("kilo", "kg"),
    ("kilograms", "kg"),
    ("lb", "lb"),
    ("lbs", "lb"),
    ("pounds", "lb"),
    ("stone", "stone"),
    ("g", "g"),
    ("grams", "g"),
    ("mg", "mg"),
    ("ft", "ft"),
    ("feet", "ft"),
    ("foot", "ft"),
    ("inches", "in"),
    ("miles", "mi"),
    ("mile", "mi"),
    ("gb", "GB"),
    ("tb", "TB"),
    ("mb", "MB"),
    ("l", "l"),
    ("liters", "l"),
    ("litres", "l"),
];

/// The form a unit is kept in.
pub(crate) fn unit(fold: &str) -> Option<&'static str> {
    UNITS.iter().find(|(word, _)| *word == fold).map(|(_, unit)| *unit)
}
