//! Colours of charts and pages, in light and dark: after Okabe and Ito, darkened or lightened until
//! text in them is readable, so that people who confuse red and green can tell them apart.

/// A name, its colour on light paper and on dark.
pub(crate) const COLOURS: [(&str, &str, &str); 12] = [
    ("paper", "#ffffff", "#15181c"),
    ("ink", "#1c2126", "#e6e9ec"),
    ("muted", "#5a646e", "#9da7b1"),
    ("grid", "#e3e6ea", "#2c3239"),
    ("zone", "#f3f5f7", "#1d2228"),
    ("bad", "#b83a1b", "#ff8f6b"),
    ("c0", "#0068a8", "#62b5ec"),
    ("c1", "#c24e00", "#f5924e"),
    ("c2", "#007f5c", "#3fcaa2"),
    ("c3", "#9b3f7e", "#e5a1cc"),
    ("c4", "#8f6000", "#efc052"),
    ("c5", "#4a5a70", "#adbccd"),
];

/// How many series have a colour of their own.
pub(super) const SERIES: usize = 6;

/// The class that gives a series its colour.
pub(super) fn series_class(index: usize) -> &'static str {
    ["c0", "c1", "c2", "c3", "c4", "c5"][index % SERIES]
}

/// `--harp-ink:#1c2126;…` for light or dark.
pub(crate) fn variables(dark: bool) -> String {
    COLOURS
        .iter()
        .map(|(name, light, night)| format!("--harp-{name}:{}", if dark { night } else { light }))
        .collect::<Vec<_>>()
        .join(";")
}

/// A use of a colour that works where variables are unknown or not set.
fn coloured(property: &str, name: &str) -> String {
    let light = COLOURS.iter().find(|(known, ..)| *known == name).map_or("#000000", |(_, light, _)| light);
    format!("{property}:{light};{property}:var(--harp-{name},{light})")
}

/// The rules every chart needs. They hold only inside `.harp-chart`.
pub(crate) fn rules() -> String {
    let mut rules = vec![
        ".harp-chart{font-family:\"Inter\",\"Helvetica Neue\",Helvetica,Arial,\"Liberation Sans\",sans-serif;font-size:12px}".to_owned(),
        format!(".harp-chart text{{{};stroke:none}}", coloured("fill", "ink")),
        ".harp-chart .title{font-size:16px;font-weight:650}".to_owned(),
        ".harp-chart .strong{font-weight:650}".to_owned(),
        ".harp-chart .small{font-size:11px}".to_owned(),
        format!(".harp-chart .muted{{{}}}", coloured("fill", "muted")),
        format!(".harp-chart .paper{{{}}}", coloured("fill", "paper")),
        format!(".harp-chart .zone{{{}}}", coloured("fill", "zone")),
        format!(".harp-chart .grid{{{};stroke-width:1;fill:none}}", coloured("stroke", "grid")),
        format!(".harp-chart .rule{{{};stroke-width:1;fill:none}}", coloured("stroke", "muted")),
        format!(".harp-chart .halo{{{};stroke-width:3;stroke-linejoin:round;paint-order:stroke}}", coloured("stroke", "paper")),
        ".harp-chart .fill{fill:currentColor}".to_owned(),
        ".harp-chart .soft{fill-opacity:.6}".to_owned(),
        ".harp-chart .line{fill:none;stroke:currentColor;stroke-width:2;stroke-linejoin:round;stroke-linecap:round}".to_owned(),
        ".harp-chart .thin{fill:none;stroke:currentColor;stroke-width:1.25}".to_owned(),
        ".harp-chart .thick{fill:none;stroke:currentColor;stroke-width:2.25;stroke-linecap:round}".to_owned(),
        format!(".harp-chart .open{{{};stroke:currentColor;stroke-width:1.25}}", coloured("fill", "paper")),
        format!(".harp-chart .solid{{fill:currentColor;{};stroke-width:1}}", coloured("stroke", "paper")),
        ".harp-chart .band{fill:currentColor;fill-opacity:.15;stroke:none}".to_owned(),
        ".harp-chart .tint{fill:currentColor;fill-opacity:.07;stroke:none}".to_owned(),
        ".harp-chart .dashed{stroke-dasharray:5 4}".to_owned(),
        ".harp-chart .dotted{stroke-dasharray:1.5 3}".to_owned(),
        ".harp-chart text.own{fill:currentColor}".to_owned(),
    ];
    for name in ["ink", "muted", "bad", "c0", "c1", "c2", "c3", "c4", "c5"] {
        rules.push(format!(".harp-chart .{name}{{{}}}", coloured("color", name)));
    }
    rules.join("\n")
}

/// The style sheet of a chart that stands alone.
pub(super) fn standalone_sheet() -> String {
    format!(
        "{}\n.harp-chart{{{}}}\n@media (prefers-color-scheme:dark){{.harp-chart{{{}}}}}",
        rules(),
        variables(false),
        variables(true)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative luminance, WCAG 2.
    fn luminance(colour: &str) -> f64 {
        let channel = |from: usize| {
            let value = f64::from(u8::from_str_radix(&colour[from..from + 2], 16).unwrap()) / 255.0;
            if value <= 0.040_45 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
    }

    #[test]
    fn every_text_colour_is_readable_on_its_paper() {
        let contrast = |a: &str, b: &str| {
            let (a, b) = (luminance(a), luminance(b));
            (a.max(b) + 0.05) / (a.min(b) + 0.05)
        };
        let (_, paper, night) = COLOURS[0];
        for (name, light, dark) in COLOURS {
            if !["paper", "grid", "zone"].contains(&name) {
                assert!(contrast(light, paper) >= 4.5, "{name} light {}", contrast(light, paper));
                assert!(contrast(dark, night) >= 4.5, "{name} dark {}", contrast(dark, night));
            }
        }
    }
}
