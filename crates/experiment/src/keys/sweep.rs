//! Tables about the sweep: parameters, resources, the design, what is learned.

use super::table::key;
use super::{Key, METRIC, PROGRAM, Shape, Table};

pub(crate) static ROOT: Table = Table {
    heading: "top of the file",
    about: "What the experiment is called, and rules between its parameters. These keys stand above the first table.",
    keys: &[
        key(
            "name",
            Shape::Text,
            "",
            "The application's name: letters, digits, `-`, `_` and `.`. Runs of the same name are learned from together.",
            r#""euler""#,
        ),
        key(
            "constraints",
            Shape::Texts,
            "no constraints",
            "Expressions that must be true for a combination to be run. They may use parameters, `<file parameter>_bytes` and the resources `nodes tasks cores threads memory gpus gpu_kind node_type constraint`.",
            r#"["n % threads == 0"]"#,
        ),
        key("program", Shape::Table(&PROGRAM), "", "The program to run.", ""),
        key("parameters", Shape::Named(&PARAMETER), "no parameters", "What is varied.", ""),
        key("metrics", Shape::Named(&METRIC), "no metrics", "Figures the program reports about itself.", ""),
        key(
            "allocation",
            Shape::Table(&ALLOCATION),
            "nothing is limited",
            "The resources each run gets.",
            "",
        ),
        key(
            "design",
            Shape::Table(&DESIGN),
            "a full grid, each combination once",
            "Which combinations are run, how often, for how long.",
            "",
        ),
        key("learn", Shape::Table(&LEARN), "walltime and peak memory", "What is learned and predicted.", ""),
    ],
};

pub(crate) static PARAMETER: Table = Table {
    heading: "[parameters.<name>]",
    about: "A parameter: its values at each scale (`sd` scaled down, `fs` full scale, `test` to be predicted) and how the program gets it. Without `option`, `argument`, `environment` or `template` it has to appear as `{name}` in the command. For a parameter of type file, `<name>_bytes` is its size: a feature that is learned from and a name for expressions and placeholders.",
    keys: &[
        key(
            "type",
            Shape::Choice(&["integer", "real", "text", "boolean", "file"]),
            "seen from the values",
            "What its values are.",
            r#""integer""#,
        ),
        key(
            "values",
            Shape::Values,
            "none",
            "Its values, the same at every scale; instead of `sd`, `fs` and `test`.",
            "[1, 2, 4]",
        ),
        key(
            "sd",
            Shape::Values,
            "values",
            "Its values scaled down: small and cheap, many of them.",
            "{ from = 100, to = 10000, count = 5, spacing = \"geometric\" }",
        ),
        key("fs", Shape::Values, "values", "Its values at full scale: few.", "[100000]"),
        key(
            "test",
            Shape::Values,
            "values",
            "Its values in the cases to be predicted; never learned from.",
            "[200000]",
        ),
        key(
            "expression",
            Shape::Text,
            "none",
            "It is computed from others instead: `n * n`. Whole numbers stay whole where that is exact.",
            r#""n * n""#,
        ),
        key(
            "option",
            Shape::Text,
            "none",
            "Given as `--name value`; with `=` at the end as `--name=value`. A boolean gives the bare option if true and nothing if false.",
            r#""--terms""#,
        ),
        key(
            "argument",
            Shape::Boolean,
            "false",
            "Given as a word of its own after all options, in the order the parameters are declared.",
            "true",
        ),
        key("environment", Shape::Text, "none", "Given as this environment variable.", r#""N""#),
        key(
            "template",
            Shape::Text,
            "none",
            "Given by filling this file, which must contain `{name}`, into the run's directory.",
            r#""input.in""#,
        ),
        key(
            "constraints",
            Shape::Texts,
            "none",
            "As at the top of the file, kept with the parameter they are about.",
            r#"["n % 2 == 0"]"#,
        ),
    ],
};

pub(crate) static RANGE: Table = Table {
    heading: "a range",
    about: "Numbers between two ends, both included. A grid takes `count` of them or every `step`; the other designs draw from the whole interval.",
    keys: &[
        key("from", Shape::Number, "", "The lower end.", "100"),
        key("to", Shape::Number, "", "The upper end.", "10000"),
        key("count", Shape::Whole(1), "none", "How many values a grid takes.", "5"),
        key("step", Shape::Number, "none", "The distance between values; only these are ever taken.", "100"),
        key(
            "spacing",
            Shape::Choice(&["linear", "geometric"]),
            "\"linear\"",
            "Equal differences or equal ratios.",
            r#""geometric""#,
        ),
    ],
};

const NODES: Key = key("nodes", Shape::Counts(1), "one", "Whole nodes.", "1");
const TASKS: Key = key(
    "tasks",
    Shape::Counts(1),
    "one",
    "Processes a node, for programs that are many (`mpi`); the cores are shared out among them.",
    "[1, 2]",
);
const CORES: Key =
    key("cores", Shape::Counts(1), "not limited", "Processor cores a run is pinned to.", "[1, 2]");
const THREADS: Key = key(
    "threads",
    Shape::Counts(1),
    "not said",
    "Threads the program is told to use, by `{threads}` in the command or the environment.",
    "[1, 2]",
);
const MEMORY: Key =
    key("memory", Shape::Sizes, "not limited", "Memory limit, enforced. `G` is 1024³ bytes.", r#""2G""#);
const GPUS: Key = key("gpus", Shape::Counts(0), "not said", "GPUs.", "0");
const GPU_KIND: Key =
    key("gpu_kind", Shape::Texts, "any", "Kinds of GPU, as the scheduler calls them.", r#""a100""#);
const CONSTRAINT: Key = key(
    "constraint",
    Shape::Texts,
    "none",
    "Features of nodes that the scheduler is asked for (`--constraint`).",
    r#""skylake""#,
);
const NODE_TYPE: Key = key("node_type", Shape::Texts, "any", "Node types of the site.", r#""standard""#);

pub(crate) static ALLOCATION: Table = Table {
    heading: "[allocation]",
    about: "The resources each run gets, each a value or a list of values to vary. `[allocation.fs]` and the like replace single keys at one scale.",
    keys: &[
        NODES,
        TASKS,
        CORES,
        THREADS,
        MEMORY,
        GPUS,
        GPU_KIND,
        NODE_TYPE,
        CONSTRAINT,
        key("sd", Shape::Table(&SCALE_ALLOCATION), "the same", "What is different scaled down.", ""),
        key("fs", Shape::Table(&SCALE_ALLOCATION), "the same", "What is different at full scale.", ""),
        key(
            "test",
            Shape::Table(&SCALE_ALLOCATION),
            "the same",
            "What is different in the cases to be predicted.",
            "",
        ),
    ],
};

pub(crate) static SCALE_ALLOCATION: Table = Table {
    heading: "[allocation.<scale>]",
    about: "What is different at one scale.",
    keys: &[NODES, TASKS, CORES, THREADS, MEMORY, GPUS, GPU_KIND, NODE_TYPE, CONSTRAINT],
};

const METHOD: Key = key(
    "method",
    Shape::Choice(&["grid", "random", "latin-hypercube", "sobol"]),
    "\"grid\"",
    "How combinations are chosen. `grid`: every one (with `runs`, that many of them by chance); `random`: independent draws; `latin-hypercube`: every slice of every parameter once; `sobol`: even however many are taken.",
    r#""grid""#,
);
const RUNS: Key = key(
    "runs",
    Shape::Whole(1),
    "the whole grid, or what the budget allows",
    "How many combinations at most; repetitions come on top.",
    "40",
);
const BUDGET_TIME: Key = key(
    "budget_time",
    Shape::Duration,
    "none",
    "What the runs of one scale may take together, by what is expected of each.",
    r#""10m""#,
);
const BUDGET_COST: Key = key(
    "budget_cost",
    Shape::Amount,
    "none",
    "What the runs of one scale may cost together, in the site's currency.",
    "2.5",
);
const REPETITIONS: Key = key(
    "repetitions",
    Shape::Whole(1),
    "1",
    "How often each combination is run. Repetitions are spread over the sweep.",
    "3",
);
const TIMEOUT: Key = key(
    "timeout",
    Shape::Duration,
    "none",
    "When a run is ended. Its time then counts as a lower bound.",
    r#""60s""#,
);

pub(crate) static DESIGN: Table = Table {
    heading: "[design]",
    about: "Which combinations are run, how often, for how long.",
    keys: &[
        METHOD,
        RUNS,
        BUDGET_TIME,
        BUDGET_COST,
        REPETITIONS,
        TIMEOUT,
        key(
            "seed",
            Shape::Whole(0),
            "0",
            "Where all chance comes from: the same seed gives the same sweep.",
            "1",
        ),
        key(
            "order",
            Shape::Choice(&["by-scale", "mixed"]),
            "\"by-scale\"",
            "What runs after what, shuffled in either case. `by-scale`: the small runs first, so that a mistake shows early and costs little; `mixed`: the runs of all scales among each other, so that a time in which the machine is slow does not look like an effect of size.",
            r#""mixed""#,
        ),
        key("total_timeout", Shape::Duration, "none", "When the whole sweep ends.", r#""30m""#),
        key(
            "parallel",
            Shape::CountOrAuto,
            "1",
            "How many runs at once; `auto` packs as many as fit on the cores without sharing one.",
            r#""auto""#,
        ),
        key("sd", Shape::Table(&SCALE_DESIGN), "the same", "What is different scaled down.", ""),
        key("fs", Shape::Table(&SCALE_DESIGN), "the same", "What is different at full scale.", ""),
        key(
            "test",
            Shape::Table(&SCALE_DESIGN),
            "the same",
            "What is different in the cases to be predicted.",
            "",
        ),
    ],
};

pub(crate) static SCALE_DESIGN: Table = Table {
    heading: "[design.<scale>]",
    about: "What is different at one scale.",
    keys: &[METHOD, RUNS, BUDGET_TIME, BUDGET_COST, REPETITIONS, TIMEOUT],
};

pub(crate) static LEARN: Table = Table {
    heading: "[learn]",
    about: "What is learned from the runs and how a model is chosen.",
    keys: &[
        key(
            "policy",
            Shape::Policy,
            "\"upp=0.05\"",
            "How the model is chosen and what is asked for. `upp=0.05`: so much that at most 5 % of the jobs are killed; `cost`: what costs least when a killed job is run again with more; `wtm`: as in the study, fewest under-predictions, then least over-prediction; `mae`: smallest error.",
            r#""upp=0.05""#,
        ),
        key(
            "targets",
            Shape::Texts,
            "walltime and peak_memory",
            "What is predicted: `walltime`, `peak_memory`, `cpu_time`, or a metric.",
            r#"["walltime", "peak_memory"]"#,
        ),
        key(
            "interval",
            Shape::Between(0.0, 1.0),
            "0.9",
            "How probable it is that the truth lies in the interval of a prediction.",
            "0.9",
        ),
        key(
            "formulas",
            Shape::Variables,
            "none",
            "How a target is put together from components that the program reports as metrics, with `+ - * /`, `min` and `max`, parameters and resources: each component gets a model of its own. `harp build` compares that with one model of the whole and keeps the better.",
            r#"{ walltime = "load_seconds + epochs * epoch_seconds" }"#,
        ),
        key("site", Shape::Text, "this machine", "The site whose prices and limits count.", r#""local""#),
    ],
};
