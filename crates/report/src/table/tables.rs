//! The tables of the views: candidates, allocations, machines, runs.

use harp_core::{Bytes, Host};

use super::{Cell, Column, Table};
use crate::style::Tone;
use crate::text::{number, percent, share};
use crate::view::{CandidatesView, OptionView, PlanView, SweepView};
use crate::{Quantity, text};

/// A number only programs read.
pub(super) fn bare(value: f64) -> Cell {
    Cell::number(number(value), value)
}

pub(super) fn truth(value: bool) -> Cell {
    Cell::truth(if value { "yes" } else { "no" }, value)
}

pub(super) fn unit_suffix(quantity: &Quantity) -> &'static str {
    match quantity {
        Quantity::Seconds => "_seconds",
        Quantity::Bytes => "_bytes",
        Quantity::Percent => "_percent",
        Quantity::Money(_) | Quantity::Number => "",
    }
}

/// All candidate models with their validation scores; the winner is marked.
pub fn candidates_table(view: &CandidatesView) -> Table {
    let quantity = Quantity::of(&view.target);
    let unit = unit_suffix(&quantity);
    let mut table = Table::new([
        Column::left("").key("chosen"),
        Column::left("model"),
        Column::left("trained on").key("mix"),
        Column::left("adjusted by"),
        Column::right("MAPE").key("mape_percent"),
        Column::right("UPP").key("upp_percent"),
        Column::right("UP MAPE").key("up_mape_percent").optional(),
        Column::right("OV MAPE").key("ov_mape_percent"),
        Column::right("MAE").key(format!("mae{unit}")).optional(),
        Column::right("factor").key("adjustment").optional(),
        Column::right("reserved").key("reserved_ratio"),
        Column::right("cost").key("cost_ratio").optional(),
        Column::right("reward").key("reward_percent").optional(),
    ]);
    // Those that did not compete are no rows: why not is said below the table.
    for candidate in view.candidates.iter().filter(|candidate| candidate.scores.is_some()) {
        let score = |get: fn(&harp_core::Scores) -> Option<f64>| {
            candidate
                .scores
                .as_ref()
                .and_then(get)
                .map_or_else(Cell::missing, |v| Cell::number(percent(v), v))
        };
        let plain = |value: Option<f64>, format: &dyn Fn(f64) -> String| {
            value.map_or_else(Cell::missing, |v| Cell::number(format(v), v))
        };
        let text_or_missing = |text: &str| if text.is_empty() { Cell::missing() } else { Cell::text(text) };
        let tone = if candidate.chosen { Tone::Strong } else { Tone::Plain };
        table.push([
            Cell::truth(if candidate.chosen { "→" } else { "" }, candidate.chosen).tone(Tone::Good),
            Cell::text(candidate.regressor.as_str()).tone(tone),
            text_or_missing(&candidate.mix),
            text_or_missing(&candidate.adjusted_by),
            score(|s| Some(s.mape)),
            score(|s| Some(s.upp)),
            score(|s| s.up_mape),
            score(|s| s.ov_mape),
            plain(candidate.scores.as_ref().map(|s| s.mae), &|v| quantity.format(v)),
            plain(candidate.adjustment, &|v| format!("{v:.2}")),
            plain(candidate.reserved_ratio, &|v| format!("{v:.2} ×")),
            plain(candidate.cost, &|v| format!("{v:.2} ×")),
            plain(candidate.reward, &percent),
        ]);
    }
    table.without_empty_columns()
}

/// Every allocation considered, with time, price and risk; what was chosen and why others were not.
pub fn plan_table(view: &PlanView) -> Table {
    let money = Quantity::Money(view.money_unit.clone());
    let mut table = Table::new([
        Column::left("").key("chosen"),
        Column::left("allocation"),
        Column::right("time").key("walltime_seconds"),
        Column::right(format!("{} interval", share(view.coverage))).for_people().optional(),
        Column::right("low").key("walltime_low_seconds").for_programs(),
        Column::right("high").key("walltime_high_seconds").for_programs(),
        Column::right("time limit").key("request_time_seconds"),
        Column::right("memory").key("request_memory_bytes").optional(),
        Column::right("price").key("price"),
        Column::right("at most").key("price_ceiling").optional(),
        Column::right("risk").key("risk"),
        Column::left("remark"),
    ]);
    // What holds for every row is said once, below the table.
    let all_extrapolate = view.options.iter().all(|option| option.extrapolates);
    for option in &view.options {
        let (time, price) = (&option.walltime, option.price.0);
        let tone = if option.chosen { Tone::Strong } else { Tone::Plain };
        let amount = |value: f64| Cell::number(money.format(value), value);
        table.push([
            Cell::truth(if option.chosen { "→" } else { "" }, option.chosen).tone(Tone::Good),
            Cell::text(option.allocation.to_string()).tone(tone),
            Cell::number(Quantity::Seconds.format(time.value), time.value).tone(tone),
            Cell::text(Quantity::Seconds.range(time.low, time.high)),
            bare(time.low),
            bare(time.high),
            Cell::number(option.request_time.to_walltime(), option.request_time.0),
            option
                .request_memory
                .map_or_else(Cell::missing, |bytes| Cell::number(bytes.to_string(), bytes.as_f64())),
            amount(price).tone(tone),
            option.price_ceiling.map_or_else(Cell::missing, |ceiling| amount(ceiling.0)),
            Cell::number(share(option.risk), option.risk),
            remark_cell(option, all_extrapolate),
        ]);
    }
    table.without_empty_columns()
}

fn remark_cell(option: &OptionView, all_extrapolate: bool) -> Cell {
    if !option.fits() {
        return Cell::text(option.problems.join("; ")).tone(Tone::Bad);
    }
    let words: Vec<&str> = [
        (option.chosen, "recommended"),
        (option.knee, "knee"),
        (option.default, "full node"),
        (option.on_front, "front"),
        (option.extrapolates && !all_extrapolate, "extrapolated"),
    ]
    .into_iter()
    .filter_map(|(is, word)| is.then_some(word))
    .collect();
    let also = match option.also_on.len() {
        0 => None,
        1 => Some(format!("or {}", option.also_on[0])),
        others => Some(format!("or {others} other node types")),
    };
    let words: Vec<String> = words.into_iter().map(str::to_owned).chain(also).collect();
    if words.is_empty() { Cell::missing() } else { Cell::text(words.join(", ")) }
}

/// What is known of the machines, one line a fact.
pub fn host_table(hosts: &[Host]) -> Table {
    let mut columns = vec![Column::left("")];
    columns.extend(hosts.iter().map(|host| Column::left(host.name.as_str())));
    let mut table = Table::new(columns);
    let mut fact = |name: &str, get: &dyn Fn(&Host) -> Option<String>| {
        let facts: Vec<Option<String>> = hosts.iter().map(get).collect();
        if facts.iter().any(Option::is_some) {
            let cells = facts.into_iter().map(|fact| fact.map_or_else(Cell::missing, Cell::text));
            table.push(std::iter::once(Cell::text(name)).chain(cells));
        }
    };
    let list = |items: Vec<String>| (!items.is_empty()).then(|| items.join(", "));
    fact("processor", &|host| host.processor.clone());
    fact("cores", &|host| match (host.cores, host.threads) {
        (Some(cores), Some(threads)) if threads != cores => Some(format!("{cores} ({threads} threads)")),
        (Some(count), _) | (None, Some(count)) => Some(count.to_string()),
        (None, None) => None,
    });
    fact("clock", &|host| host.clock_mhz.map(|clock| format!("{} GHz", number(clock / 1000.0))));
    fact("caches", &|host| {
        list(host.caches.iter().map(|cache| format!("L{} {}", cache.level, cache.size)).collect())
    });
    fact("memory", &|host| host.memory.map(|bytes: Bytes| bytes.to_string()));
    fact("GPUs", &|host| {
        list(host.gpus.iter().map(|gpu| format!("{} ({})", gpu.name, gpu.memory)).collect())
    });
    fact("kernel", &|host| host.kernel.clone());
    table
}

/// What was run.
pub fn sweep_table(view: &SweepView) -> Table {
    let mut table = Table::new([Column::left("runs").key("kind"), Column::right("count")]);
    for (name, count, tone) in [
        ("scaled down", view.scaled_down, Tone::Plain),
        ("full scale", view.full_scale, Tone::Plain),
        ("test", view.test, Tone::Plain),
        ("ended at a limit", view.censored, Tone::Warning),
        ("failed", view.failed, Tone::Bad),
    ] {
        if count > 0 || tone == Tone::Plain {
            table.push([
                Cell::text(name),
                Cell::number(text::group_thousands(&count.to_string()), count as f64).tone(tone),
            ]);
        }
    }
    table
}
