//! The values of one configuration put into every text and path of an experiment.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use harp_core::{Configuration, Value};

use super::{Execute, FilledFile, Place, RenderError, Rendered, Setup};
use crate::{
    Command, Delivery, Experiment, Input, Kind, MetricRule, Source, SuccessRule, Template, shell, template,
};

impl Experiment {
    /// What to execute for a configuration. `read` gives the text of a template file by its full path.
    pub fn render(
        &self,
        configuration: &Configuration,
        place: &Place<'_>,
        read: &dyn Fn(&Path) -> Option<String>,
    ) -> Result<Rendered, RenderError> {
        let filler = Filler::new(self, configuration, place);
        Ok(Rendered {
            execute: filler.execute()?,
            environment: filler.environment()?,
            directory: filler.directory.clone(),
            own_directory: self.program.own_directory,
            inputs: self.program.inputs.iter().map(|input| filler.input(input)).collect::<Result<_, _>>()?,
            files: filler.files(read)?,
            after: self.program.after.iter().map(|line| filler.line(line)).collect::<Result<_, _>>()?,
            timeout: self.designs.get(&configuration.scale).and_then(|design| design.timeout),
            success: SuccessRule {
                exit_code: self.program.success.exit_code,
                output: self.program.success.output.clone(),
                files: self
                    .program
                    .success
                    .files
                    .iter()
                    .map(|file| filler.path(file))
                    .collect::<Result<_, _>>()?,
            },
            metrics: self.metrics.iter().map(|rule| filler.metric(rule)).collect::<Result<_, _>>()?,
        })
    }

    /// What is run once before a sweep; nothing to do if there are no lines.
    pub fn setup(&self, experiment_directory: &Path) -> Setup {
        let directory = normal(&experiment_directory.join(&self.program.directory));
        let value =
            |name: &str| (name == "experiment_directory").then(|| experiment_directory.display().to_string());
        let lines = self.program.setup.iter().filter_map(|line| shell::fill(line, &value).ok()).collect();
        Setup { lines, directory }
    }
}

/// A path without `.` in the middle.
fn normal(path: &Path) -> PathBuf {
    path.components().collect()
}

/// Whether a path stays inside the directory it is relative to.
fn stays_inside(path: &Path) -> bool {
    path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}

/// The values of one configuration and the places of one run.
struct Filler<'a> {
    experiment: &'a Experiment,
    configuration: &'a Configuration,
    /// Where the program's files are.
    home: PathBuf,
    /// Where it runs.
    directory: PathBuf,
    values: BTreeMap<String, String>,
}

impl<'a> Filler<'a> {
    fn new(experiment: &'a Experiment, configuration: &'a Configuration, place: &Place<'_>) -> Filler<'a> {
        let home = normal(&place.experiment_directory.join(&experiment.program.directory));
        let own = experiment.program.own_directory;
        let directory = if own { normal(place.run_directory) } else { home.clone() };
        let mut values: BTreeMap<String, String> =
            configuration.values().into_iter().map(|(name, value)| (name, value.to_string())).collect();
        for parameter in experiment.parameters.iter().filter(|parameter| parameter.kind == Kind::File) {
            if let Some(Value::Text(file)) = configuration.parameters.get(&parameter.name)
                && own
                && !is_input(experiment, &parameter.name, file)
            {
                values.insert(parameter.name.clone(), normal(&home.join(file)).display().to_string());
            }
        }
        values.insert("experiment_directory".into(), place.experiment_directory.display().to_string());
        values.insert("run_directory".into(), directory.display().to_string());
        Filler { experiment, configuration, home, directory, values }
    }

    fn value(&self, name: &str) -> Option<String> {
        self.values.get(name).cloned()
    }

    fn missing(&self, name: String) -> RenderError {
        RenderError::NoValue { name, configuration: self.configuration.to_string() }
    }

    fn text(&self, template: &Template) -> Result<String, RenderError> {
        template.fill(&|name| self.value(name)).map_err(|name| self.missing(name))
    }

    /// A path relative to where the program runs.
    fn path(&self, template: &Template) -> Result<PathBuf, RenderError> {
        Ok(normal(&self.directory.join(self.text(template)?)))
    }

    /// A shell line; a program named `./like/this` is looked for where the program's files are.
    fn line(&self, template: &Template) -> Result<String, RenderError> {
        let line = shell::fill(template, &|name| self.value(name)).map_err(|name| self.missing(name))?;
        if self.experiment.program.own_directory && (line.starts_with("./") || line.starts_with("../")) {
            return Ok(format!("{}/{line}", shell::quote(&self.home.display().to_string())));
        }
        Ok(line)
    }

    fn execute(&self) -> Result<Execute, RenderError> {
        let templates = match &self.experiment.program.command {
            Command::Shell(line) => return self.line(line).map(Execute::Shell),
            Command::Words(templates) => templates,
        };
        let mut words: Vec<String> =
            templates.iter().map(|word| self.text(word)).collect::<Result<_, _>>()?;
        if let Some(program) = words.first_mut()
            && program.contains('/')
        {
            *program = normal(&self.home.join(&*program)).display().to_string();
        }
        words.extend(self.options());
        words.extend(self.arguments());
        Ok(Execute::Words(words))
    }

    fn options(&self) -> Vec<String> {
        let mut words = Vec::new();
        for (name, delivery) in self.deliveries() {
            let (Delivery::Option(option), Some(text)) = (delivery, self.value(name)) else { continue };
            match self.configuration.parameters.get(name) {
                Some(Value::Boolean(true)) => words.push(option.clone()),
                Some(Value::Boolean(false)) => {}
                _ if option.ends_with('=') => words.push(format!("{option}{text}")),
                _ => words.extend([option.clone(), text]),
            }
        }
        words
    }

    fn arguments(&self) -> Vec<String> {
        self.deliveries()
            .filter(|(_, delivery)| matches!(delivery, Delivery::Argument))
            .filter_map(|(name, _)| self.value(name))
            .collect()
    }

    fn environment(&self) -> Result<Vec<(String, String)>, RenderError> {
        let mut variables = Vec::new();
        for (name, template) in &self.experiment.program.environment {
            variables.push((name.clone(), self.text(template)?));
        }
        for (name, delivery) in self.deliveries() {
            if let (Delivery::Environment(variable), Some(text)) = (delivery, self.value(name)) {
                variables.push((variable.clone(), text));
            }
        }
        Ok(variables)
    }

    fn deliveries(&self) -> impl Iterator<Item = (&str, &Delivery)> {
        self.experiment.parameters.iter().flat_map(|parameter| {
            parameter.delivery.iter().map(|delivery| (parameter.name.as_str(), delivery))
        })
    }

    fn input(&self, input: &Input<Template>) -> Result<Input, RenderError> {
        // An input's own name must not be turned into a full path, or it would be its own target.
        let as_written = |name: &str| {
            self.configuration.parameters.get(name).map(Value::to_string).or_else(|| self.value(name))
        };
        let fill = |template: &Template| template.fill(&as_written).map_err(|name| self.missing(name));
        let (source, target) = (fill(&input.source)?, fill(&input.target)?);
        Ok(Input {
            source: normal(&self.home.join(source)),
            target: normal(&self.directory.join(inside(Path::new(&target)))),
            placing: input.placing,
        })
    }

    fn files(&self, read: &dyn Fn(&Path) -> Option<String>) -> Result<Vec<FilledFile>, RenderError> {
        let mut files = Vec::new();
        for file in &self.experiment.program.templates {
            let source = normal(&self.home.join(self.text(&file.source)?));
            let Some(text) = read(&source) else {
                return Err(RenderError::NoTemplateFile { path: source });
            };
            let (content, replaced) = template::fill_file(&text, &|name| self.value(name));
            if let Some(name) = file.must_contain.iter().find(|name| !replaced.contains(name)) {
                return Err(RenderError::NotInTemplateFile { path: source, name: name.clone() });
            }
            let target = self.text(&file.target)?;
            files
                .push(FilledFile { path: normal(&self.directory.join(inside(Path::new(&target)))), content });
        }
        Ok(files)
    }

    fn metric(&self, rule: &MetricRule<Template>) -> Result<MetricRule, RenderError> {
        Ok(MetricRule {
            name: rule.name.clone(),
            from: match &rule.from {
                Source::Stdout => Source::Stdout,
                Source::Stderr => Source::Stderr,
                Source::File(file) => Source::File(self.path(file)?),
            },
            extraction: rule.extraction.clone(),
            take: rule.take,
        })
    }
}

/// Where a file goes in the run's directory: its relative path, or its name alone if that leads outside.
fn inside(path: &Path) -> PathBuf {
    if stays_inside(path) { path.to_owned() } else { path.file_name().map(PathBuf::from).unwrap_or_default() }
}

/// Whether a file parameter is put into the run's directory under the name the program is given.
fn is_input(experiment: &Experiment, name: &str, file: &str) -> bool {
    stays_inside(Path::new(file))
        && experiment.program.inputs.iter().any(|input| {
            input.source.sole_placeholder() == Some(name) && input.target.sole_placeholder() == Some(name)
        })
}
