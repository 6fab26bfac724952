//! Documents from the code: schema, reference, completions, man pages.

use std::fs;

use clap::CommandFactory;

use crate::arguments::{Arguments, Completions, Man};
use crate::failure::Failure;
use crate::terminal::Terminal;

/// Prints the JSON Schema of the experiment file.
pub fn schema(terminal: &Terminal) -> Result<(), Failure> {
    terminal.print_json(&harp_experiment::schema())
}

/// Prints a completion script.
pub fn completions(arguments: &Completions, terminal: &Terminal) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "harp", &mut script);
    terminal.print(&String::from_utf8_lossy(&script))
}

/// Writes one man page a command.
pub fn man(arguments: &Man, terminal: &Terminal) -> Result<(), Failure> {
    let folder = &arguments.folder;
    fs::create_dir_all(folder).map_err(|error| Failure::file("make", folder, &error))?;
    let mut command = Arguments::command();
    command.build();
    let mut pages = vec![("harp".to_owned(), command.clone())];
    for (path, sub) in all_commands(&command, "harp") {
        let name = path.replace(' ', "-");
        // The builder keeps names for the life of the process; there are two dozen.
        let kept: &'static str = Box::leak(name.clone().into_boxed_str());
        pages.push((name, sub.clone().name(kept)));
    }
    for (name, command) in pages {
        let mut page = Vec::new();
        let file = folder.join(format!("{name}.1"));
        clap_mangen::Man::new(command)
            .render(&mut page)
            .and_then(|()| fs::write(&file, page))
            .map_err(|error| Failure::file("write", &file, &error))?;
        terminal.say(&format!("wrote {}", file.display()));
    }
    Ok(())
}

/// Prints the whole reference as Markdown: the experiment file, then every command's help.
pub fn reference(terminal: &Terminal) -> Result<(), Failure> {
    let mut text = String::from(
        "# Reference\n\nGenerated from the code by `harp reference`. Exit codes are in [exit-codes.md](exit-codes.md), \
         the model file in [model-file.md](model-file.md), the JSON of each command in [json.md](json.md).\n\n",
    );
    text.push_str(&harp_experiment::reference_markdown());
    text.push_str("\n## Commands\n");
    let mut command = Arguments::command().term_width(100).disable_help_subcommand(true);
    command.build();
    text.push_str(&format!(
        "\n### harp\n\n```text\n{}\n```\n",
        trimmed(&command.render_long_help().to_string())
    ));
    for (path, sub) in all_commands(&command, "harp") {
        let help = sub.clone().term_width(100).render_long_help().to_string();
        text.push_str(&format!("\n### {path}\n\n```text\n{}\n```\n", trimmed(&help)));
    }
    terminal.print(&text)
}

/// Every command a person may call, those within others too, with the words that call it.
fn all_commands<'a>(command: &'a clap::Command, path: &str) -> Vec<(String, &'a clap::Command)> {
    let mut found = Vec::new();
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set() && sub.get_name() != "help") {
        let path = format!("{path} {}", sub.get_name());
        let inner = all_commands(sub, &path);
        found.push((path, sub));
        found.extend(inner);
    }
    found
}

/// Without spaces at line ends, which editors and formatters remove.
fn trimmed(text: &str) -> String {
    text.trim_end().lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}
