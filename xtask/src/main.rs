//! Chores of the repository that need more than a shell line: `cargo xtask <chore>`.

mod advisories;
mod documents;
mod evaluate;
mod figures;
mod fuzz;
mod held_out;
mod laws;
mod licences;
mod metadata;
mod release;

use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask CHORE
  release           build the static binary, check that it is static and small
  docs [--check]    write the documents generated from the code, or compare them
  licences          check the licence of every dependency
  advisories        check dependencies against the RustSec database, where it can be reached
  evaluate [DIR]    build models on external sweeps and print their errors
  fuzz [SECONDS] [SEED]
                    strange tables and damaged model files against the learners, 60 s without more
  held-out [--kinds] [--within | --levels] [DIR]
                    the same for choosing between settings: never looks at test rows, but holds out
                    full-scale rows that were given for training; --kinds: each model by itself;
                    --within: large scaled-down rows play full scale; --levels: all full-scale rows
                    of a level of a feature are held out, such as those of one method
  laws [--each]     build models on runs of made-up programs and print the errors on larger ones";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words[..] {
        ["release"] => release::release(),
        ["docs"] => documents::write(),
        ["docs", "--check"] => documents::check(),
        ["licences"] => licences::check(),
        ["advisories"] => advisories::check(),
        ["evaluate"] => evaluate::evaluate(None),
        ["fuzz"] => fuzz::fuzz("60", "1"),
        ["fuzz", seconds] => fuzz::fuzz(seconds, "1"),
        ["fuzz", seconds, seed] => fuzz::fuzz(seconds, seed),
        ["held-out", ref rest @ ..] => {
            let flag = |name: &str| rest.contains(&name);
            let directory = rest.iter().copied().find(|word| !word.starts_with("--"));
            let mode =
                held_out::Mode { kinds: flag("--kinds"), within: flag("--within"), levels: flag("--levels") };
            held_out::evaluate(directory, &mode)
        }
        ["laws"] => laws::evaluate(false),
        ["laws", "--each"] => laws::evaluate(true),
        ["evaluate", directory] => evaluate::evaluate(Some(directory)),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
