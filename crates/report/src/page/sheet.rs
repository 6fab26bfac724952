//! The page's style sheet: one column of text and figures, light and dark, phone and paper.

use crate::chart::colour::{rules, variables};

/// Everything between `<style>` and `</style>`.
pub(super) fn sheet() -> String {
    let (light, dark) = (variables(false), variables(true));
    format!(
        ":root{{color-scheme:light dark;{light}}}\n\
         @media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}\n{}\n{RULES}",
        rules()
    )
}

const RULES: &str = r#"*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--harp-paper);color:var(--harp-ink);font:16px/1.55 "Inter","Helvetica Neue",Helvetica,Arial,"Liberation Sans",sans-serif}
main{max-width:54rem;margin:0 auto;padding:2.5rem 1.25rem 4rem}
.kicker{margin:0 0 .5rem;color:var(--harp-muted);font-size:.9rem}
h1{margin:0 0 1.25rem;font-size:1.45rem;line-height:1.35;font-weight:650;text-wrap:pretty}
h2{margin:3rem 0 .75rem;padding-top:.75rem;border-top:1px solid var(--harp-grid);font-size:1.25rem;line-height:1.3}
h3{margin:2rem 0 .5rem;font-size:1rem}
p{margin:0 0 .75rem}
.facts{display:grid;grid-template-columns:repeat(auto-fit,minmax(9rem,1fr));gap:1rem;margin:0 0 1.5rem;padding:0}
.facts div{border-top:2px solid var(--harp-c0);padding-top:.4rem}
.facts dt{color:var(--harp-muted);font-size:.85rem;line-height:1.35}
.facts dd{margin:0;font-size:1.5rem;font-weight:650;line-height:1.3}
.facts div{display:flex;flex-direction:column-reverse;justify-content:flex-end}
figure{margin:.25rem 0 1.5rem}
figure svg{display:block;width:calc(100% + 2rem);height:auto;margin:0 -1rem}
.narrow{display:none}
.scroll{overflow-x:auto;margin:0 0 1.25rem}
table{border-collapse:collapse;width:100%;font-size:.85rem;line-height:1.4;font-variant-numeric:tabular-nums}
th{text-align:left;font-weight:600;color:var(--harp-muted);border-bottom:1px solid var(--harp-muted);vertical-align:bottom}
th,td{padding:.3rem .8rem .3rem 0}
td{border-bottom:1px solid var(--harp-grid);vertical-align:top}
th:last-child,td:last-child{padding-right:0}
.num{text-align:right;white-space:nowrap}
p,li{max-width:44rem}
td.strong{font-weight:650}
td.faint,b.faint{color:var(--harp-muted)}
td.good,b.good{color:var(--harp-c2)}
td.bad{color:var(--harp-bad)}
td.warning,b.warning{color:var(--harp-c4)}
.statements{list-style:none;margin:0;padding:0}
.statements li{margin:0 0 .3rem;padding-left:1.5rem;text-indent:-1.5rem}
.statements b{display:inline-block;width:1.5rem;text-indent:0}
.warnings{margin:0 0 1.5rem;padding:.75rem 1rem;border-left:3px solid var(--harp-c4);background:var(--harp-zone)}
.warnings p{margin:0 0 .25rem;font-weight:650}
.warnings ul,.reasons{margin:0;padding-left:1.1rem}
pre{margin:0 0 1.25rem;padding:.9rem 1rem;overflow-x:auto;background:var(--harp-zone);border:1px solid var(--harp-grid);border-radius:4px;font:.82rem/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace}
code{font:.9em ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace}
.made{display:grid;grid-template-columns:max-content 1fr;gap:.15rem 1.25rem;margin:0;font-size:.9rem}
.made dt{color:var(--harp-muted)}
.made dd{margin:0;overflow-wrap:anywhere}
.note{color:var(--harp-muted);font-size:.9rem}
@media (max-width:34rem){main{padding:1.5rem 1rem 3rem}h1{font-size:1.3rem}.wide{display:none}.narrow{display:block}.facts{grid-template-columns:1fr 1fr}table{width:auto}td,th{white-space:nowrap}}
@media print{body{font-size:10.5pt}main{max-width:none;padding:0}h2{break-after:avoid}figure,tr,.facts,pre{break-inside:avoid}.scroll{overflow:visible}.wide{display:block}.narrow{display:none}}
"#;
