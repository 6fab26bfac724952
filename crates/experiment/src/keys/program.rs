//! Tables about the program: how it is called, judged and read.

use super::table::key;
use super::{Shape, Table};

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
        key(
            "mpi",
            Shape::Boolean,
            "false",
            "The program is many processes: in a Slurm job it is started through `srun`, on this machine with `tasks` above 1 through `mpirun`. The command is then written without a launcher.",
            "true",
        ),
        key(
            "modules",
            Shape::Texts,
            "none",
            "Modules that a job loads before it runs. On this machine they have to be loaded already.",
            r#"["gcc/12.2", "openmpi"]"#,
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
            Shape::Choice(&["first", "last", "mean", "median", "sum", "max", "min", "count"]),
            "\"last\"",
            "Which of several occurrences counts.",
            r#""mean""#,
        ),
    ],
};
