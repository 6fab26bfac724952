//! The tables themselves.

use super::{Key, Shape, Table};

const fn key(
    name: &'static str,
    shape: Shape,
    otherwise: &'static str,
    about: &'static str,
    example: &'static str,
) -> Key {
    Key { name, shape, otherwise, about, example }
}

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
            "Expressions that must be true for a combination to be run. They may use parameters, `<file parameter>_bytes` and the resources `nodes cores threads memory gpus node_type`.",
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

pub(crate) static PROGRAM: Table = Table {
    heading: "[program]",
    about: "The program to run. In its texts `{name}` stands for a parameter, a resource (`{cores}`, `{threads}`, `{memory}` in bytes, …), the size of a file parameter (`{file_bytes}`), `{run_directory}` or `{experiment_directory}`; `{{` and `}}` stand for braces.",
    keys: &[
        key(
            "command",
            Shape::Texts,
            "",
            "What to call. A text is split into words at spaces, `'…'` and `\"…\"` keep words together; a list is taken word by word. No shell is involved, so a value is always one word. A program with `/` in its name is looked for in `directory`.",
            r#""./euler {method} {terms} --digits {digits}""#,
        ),
        key(
            "shell",
            Shape::Boolean,
            "false",
            "Hand the command to `sh -c` instead, for pipes and redirections. Values are quoted where they need it.",
            "true",
        ),
        key(
            "directory",
            Shape::Text,
            "\".\"",
            "Where the program's files are and where it runs, relative to the experiment file.",
            r#"".""#,
        ),
        key(
            "setup",
            Shape::Texts,
            "nothing",
            "Shell lines run once before the sweep, in `directory`.",
            r#""make""#,
        ),
        key(
            "after",
            Shape::Texts,
            "nothing",
            "Shell lines run after each run, in the run's directory. A script named `./so` is looked for in `directory`. Their time is not measured.",
            r#""./collect.sh""#,
        ),
        key(
            "environment",
            Shape::Variables,
            "nothing",
            "Variables added to the environment of each run.",
            r#"{ OMP_NUM_THREADS = "{threads}" }"#,
        ),
        key(
            "inputs",
            Shape::List(&INPUT),
            "nothing",
            "Files put into each run's own directory.",
            r#"["data.txt", { path = "{file}", how = "copy" }]"#,
        ),
        key(
            "templates",
            Shape::List(&TEMPLATE),
            "nothing",
            "Configuration files filled into each run's own directory: every `{name}` in them that has a value is replaced, other braces stay.",
            r#"["input.in", { path = "run.tmpl", to = "run.cfg" }]"#,
        ),
        key(
            "own_directory",
            Shape::Boolean,
            "true if inputs, templates, `after`, `{run_directory}` or files of success and metrics are used",
            "Give each run an empty directory of its own to run in.",
            "true",
        ),
        key(
            "version",
            Shape::Text,
            "none",
            "The program's version. Runs of different versions are not learned from together.",
            r#""2.1""#,
        ),
        key("success", Shape::Table(&SUCCESS), "exit code 0", "How success is judged.", ""),
    ],
};

pub(crate) static INPUT: Table = Table {
    heading: "an entry of inputs",
    about: "A file the program needs in the directory it runs in. A bare text is its path.",
    keys: &[
        key("path", Shape::Text, "", "The file, relative to `directory`.", r#""data/{file}""#),
        key(
            "to",
            Shape::Text,
            "the same relative path",
            "What it is called in the run's directory.",
            r#""data.txt""#,
        ),
        key(
            "how",
            Shape::Choice(&["link", "copy"]),
            "\"link\"",
            "Link it, or copy it for programs that change their input.",
            r#""copy""#,
        ),
    ],
};

pub(crate) static TEMPLATE: Table = Table {
    heading: "an entry of templates",
    about: "A configuration file with placeholders. A bare text is its path.",
    keys: &[
        key(
            "path",
            Shape::Text,
            "",
            "The file with placeholders, relative to `directory`.",
            r#""input.tmpl""#,
        ),
        key(
            "to",
            Shape::Text,
            "the same relative path",
            "What the filled file is called in the run's directory.",
            r#""input.in""#,
        ),
    ],
};

pub(crate) static SUCCESS: Table = Table {
    heading: "[program.success]",
    about: "How success is judged; all that is given must hold. A run that fails is kept but not learned from as if it had finished.",
    keys: &[
        key("exit_code", Shape::Whole(0), "0", "The exit code that means success.", "0"),
        key(
            "output",
            Shape::Text,
            "anything",
            "A regular expression that must occur in the output.",
            r#""converged""#,
        ),
        key(
            "file",
            Shape::Texts,
            "none",
            "Files that must exist afterwards, relative to the run's directory.",
            r#""result.dat""#,
        ),
    ],
};

pub(crate) static METRIC: Table = Table {
    heading: "[metrics.<name>]",
    about: "A figure the program reports, such as the seconds of an epoch. One of `pattern`, `json` and `csv` says how it is found.",
    keys: &[
        key(
            "pattern",
            Shape::Text,
            "use json or csv",
            "A regular expression with a group called `value`.",
            r"'epoch took (?<value>[0-9.]+)'",
        ),
        key(
            "json",
            Shape::Text,
            "use pattern or csv",
            "A path into JSON such as `training.epochs[0].loss`; `[*]` is every element.",
            r#""training.loss""#,
        ),
        key("csv", Shape::Text, "use pattern or json", "The heading of a column.", r#""rate""#),
        key(
            "from",
            Shape::Text,
            "\"stdout\"",
            "`stdout`, `stderr`, or a file in the run's directory.",
            r#""result.json""#,
        ),
        key(
            "take",
            Shape::Choice(&["first", "last", "mean", "sum", "max", "min", "count"]),
            "\"last\"",
            "Which of several occurrences counts.",
            r#""mean""#,
        ),
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
            "Its values at every scale that has none of its own.",
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
        key("from", Shape::Scalar, "", "The lower end.", "100"),
        key("to", Shape::Scalar, "", "The upper end.", "10000"),
        key("count", Shape::Whole(1), "none", "How many values a grid takes.", "5"),
        key("step", Shape::Scalar, "none", "The distance between values; only these are ever taken.", "100"),
        key(
            "spacing",
            Shape::Choice(&["linear", "geometric"]),
            "\"linear\"",
            "Equal differences or equal ratios.",
            r#""geometric""#,
        ),
    ],
};

pub(crate) static ALLOCATION: Table = Table {
    heading: "[allocation], [allocation.<scale>]",
    about: "The resources each run gets, each a value or a list of values to vary. `[allocation.fs]` and the like replace single keys at one scale.",
    keys: &[
        key("nodes", Shape::Counts(1), "one", "Whole nodes.", "1"),
        key("cores", Shape::Counts(1), "not limited", "Processor cores a run is pinned to.", "[1, 2]"),
        key(
            "threads",
            Shape::Counts(1),
            "not said",
            "Threads the program is told to use, by `{threads}` in the command or the environment.",
            "[1, 2]",
        ),
        key("memory", Shape::Sizes, "not limited", "Memory limit, enforced. `G` is 1024³ bytes.", r#""2G""#),
        key("gpus", Shape::Counts(0), "not said", "GPUs.", "0"),
        key("node_type", Shape::Texts, "any", "Node types of the site.", r#""standard""#),
        key("sd", Shape::Table(&ALLOCATION), "the same", "What is different scaled down.", ""),
        key("fs", Shape::Table(&ALLOCATION), "the same", "What is different at full scale.", ""),
        key(
            "test",
            Shape::Table(&ALLOCATION),
            "the same",
            "What is different in the cases to be predicted.",
            "",
        ),
    ],
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
            Shape::Choice(&["mae", "wtm", "cost"]),
            "\"wtm\"",
            "How the model is chosen. `mae`: smallest error; `wtm`: fewest under-predictions, then least waste; `cost`: least expected cost when a killed job is run again.",
            r#""wtm""#,
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
        key("site", Shape::Text, "this machine", "The site whose prices and limits count.", r#""local""#),
    ],
};
