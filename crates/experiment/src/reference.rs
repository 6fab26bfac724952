//! The reference page of the experiment file, made from the key tables.

use std::fmt::Write;

use crate::keys::{Key, Shape, Table};

const OPENING: &str = "\
# The experiment file `harp.toml`

An experiment file says which program to run, what to vary, and what to learn. It is
written in [TOML](https://toml.io) and checked wholly before anything runs; every mistake
is told with its line and column. `harp init -- ./my-program --size 100` writes a first one.

A small file:

```toml
name = \"euler\"

[program]
command = \"./euler {terms}\"

[parameters.terms]
sd = { from = 100, to = 10000, count = 5, spacing = \"geometric\" }
fs = [100000]
test = [200000]
```

Runs at scale `sd` are small and many, those at `fs` few and as large as the runs that
matter; a model learns from both. Runs at `test` are predicted and never learned from.
A scale exists if any parameter, `[allocation.<scale>]` or `[design.<scale>]` names it;
if none does, everything is `sd`.
";

const CLOSING: &str = "
## Placeholders

`{name}` in `command`, `environment`, `inputs`, `templates`, `after`, success files and the
`from` of a metric stands for a parameter, a resource that `[allocation]` sets (`{nodes}`,
`{cores}`, `{threads}`, `{memory}` in bytes, `{gpus}`, `{node_type}`, …), the size of a file
parameter (`{data_bytes}` for the parameter `data`), `{run_directory}` or
`{experiment_directory}`. `{{` and `}}` are braces. In template files every `{name}` that
has a value is replaced, `{{name}}` becomes `{name}`, and all other braces stay.

## Expressions

Constraints and computed parameters are expressions over parameters, the sizes of file
parameters and resources.

| | |
|---|---|
| values | `12`, `1_000`, `0.5`, `1e6`, `\"text\"`, `'text'`, `true`, `false`, names |
| arithmetic | `+ - * / % **` and parentheses; `-1 % 3` is 2 |
| comparison | `== != < <= > >=`; numbers with numbers, texts with texts |
| logic | `and or not`, also `&& \\|\\| !` |
| functions | `min max abs sqrt log log2 log10 exp floor ceil round`; `log` is natural |

Whole numbers stay whole while that is exact: `6 / 3` is 2 and `7 / 2` is 3.5. Division by
zero and numbers that grow too large are errors, found before anything runs.
";

/// The reference page in Markdown.
pub fn reference_markdown() -> String {
    let mut page = String::from(OPENING);
    for table in Table::all() {
        let heading = if table.heading.starts_with('[') {
            format!("`{}`", table.heading)
        } else {
            sentence(table.heading)
        };
        // Writing to a text cannot fail.
        let _ = write!(
            page,
            "\n## {heading}\n\n{}\n\n| key | value | without it | meaning |\n|---|---|---|---|\n",
            table.about
        );
        for key in table.keys {
            let otherwise = if key.otherwise.is_empty() { "*required*" } else { key.otherwise };
            let _ = writeln!(
                page,
                "| `{}` | {} | {} | {} |",
                key.name,
                value(key),
                cell(otherwise),
                cell(key.about)
            );
        }
        let examples: Vec<String> = table
            .keys
            .iter()
            .filter(|key| !key.example.is_empty())
            .map(|key| format!("{} = {}", key.name, key.example))
            .collect();
        let _ = write!(page, "\n```toml\n{}\n```\n", examples.join("\n"));
    }
    page.push_str(CLOSING);
    page
}

fn value(key: &Key) -> String {
    match key.shape {
        Shape::Choice(words) => {
            words.iter().map(|word| format!("`\"{word}\"`")).collect::<Vec<_>>().join(", ")
        }
        shape => cell(&shape.words()),
    }
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

fn sentence(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map(|first| first.to_uppercase().chain(characters).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::sound;

    #[test]
    fn the_page_names_every_key() {
        let page = reference_markdown();
        for table in Table::all() {
            for key in table.keys {
                assert!(page.contains(&format!("| `{}` |", key.name)), "{}", key.name);
            }
        }
    }

    #[test]
    fn the_small_file_on_the_page_is_right() {
        let example = OPENING.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next());
        assert_eq!(sound(example.unwrap()).name, "euler");
    }
}
