/**
 * The style of the dashboard's pages, over what they share with those of the verification.
 */
import { theme } from "@accountlink/html/theme";

export const style = `${theme}
body { display: grid; gap: 1rem; max-width: 80rem; margin: 0 auto; }
body > * { min-width: 0; }
main:focus, .notice:focus { outline: none; }
h1 { margin-bottom: 1.25rem; }
h1 + .notice { margin-top: 0; }
main > :last-child, section > :last-child, .panel > :last-child, .cards p:last-child, .notice > :last-child, .beside > div > :last-child { margin-bottom: 0; }
h2 { margin: 0 0 .75rem; font-size: 1.0625rem; line-height: 1.3; }
h3 { margin: 0 0 .25rem; font-size: 1rem; }
section { margin-top: 2.25rem; }
section:first-of-type:not(section ~ *) { margin-top: 0; }
section + [data-live] { margin-top: 2.25rem; }
footer { font-size: .8rem; }
footer p { margin: 0; }
.skip { position: absolute; left: 1rem; top: -4rem; padding: .5rem 1rem; border-radius: var(--round); background: var(--mark); color: var(--on-mark); }
.skip:focus { top: 1rem; z-index: 1; }
.icon { flex: none; width: 1.125rem; height: 1.125rem; fill: none; stroke: currentColor; stroke-width: 1.75; stroke-linecap: round; stroke-linejoin: round; }
.mark { width: 1.5rem; height: 1.5rem; color: var(--mark); stroke-width: 2.5; }

header { display: grid; gap: .75rem; align-content: start; }
.brand { margin: 0; font-weight: 700; letter-spacing: -.02em; }
.brand a { display: inline-flex; align-items: center; gap: .5rem; color: inherit; text-decoration: none; }
nav ul { display: flex; flex-wrap: wrap; gap: .125rem; margin: 0; padding: 0; list-style: none; }
nav a { display: flex; align-items: center; gap: .625rem; padding: .4rem .625rem; border-radius: var(--round); color: var(--soft); font-size: .9375rem; text-decoration: none; }
nav a:hover { background: var(--wash); color: var(--text); }
nav [aria-current] { background: var(--wash); color: var(--text); font-weight: 600; }
nav [aria-current] .icon { color: var(--mark); }
.visitor { display: flex; align-items: center; justify-content: space-between; gap: .75rem; font-size: var(--small); }
.visitor p { margin: 0; line-height: 1.35; min-width: 0; }
.visitor small { display: block; }
@media (max-width: 59.99rem) {
  header > nav { display: flex; overflow-x: auto; margin: 0 -1rem; padding: 2px 1rem; border-bottom: 1px solid var(--line);
    background: linear-gradient(90deg, var(--ground) 1rem, #0000 3rem) local, linear-gradient(270deg, var(--ground) 1rem, #0000 3rem) right local, linear-gradient(270deg, var(--line), #0000 1rem); }
  header > nav ul { flex-wrap: nowrap; }
  header > nav a { white-space: nowrap; }
}
@media (min-width: 60rem) {
  body { grid-template: auto 1fr auto / 13rem minmax(0, 1fr); gap: 1rem 2.5rem; min-height: 100vh; padding: 0 1.5rem; }
  header { grid-row: 1 / 4; position: sticky; top: 0; max-height: 100vh; overflow: auto; padding: 1.25rem 0; }
  header nav ul { flex-direction: column; }
  header nav ul + ul { margin-top: .75rem; padding-top: .75rem; border-top: 1px solid var(--line); }
  .visitor { align-items: stretch; flex-direction: column; padding-top: 1rem; border-top: 1px solid var(--line); }
  main { padding: 1.25rem 0; }
  footer { padding-bottom: 1rem; }
}

.button { display: inline-flex; width: auto; min-height: 2.5rem; padding: .35rem 1rem; }
.button.small { min-height: 2rem; padding: .2rem .7rem; font-size: var(--small); }
.button:disabled { border-color: var(--line); color: var(--soft); cursor: not-allowed; }
.row { display: flex; flex-wrap: wrap; gap: .5rem; margin: 0; }
.panel, .cards > li, .figures > div { border: 1px solid var(--line); border-radius: .75rem; background: var(--card); }
.panel { display: grid; gap: 1.25rem; justify-items: start; margin-bottom: 1rem; padding: 1.25rem; }
.panel > * { width: 100%; margin: 0; }
.panel > .button { width: auto; }
.danger { border-color: var(--bad); }
@media (max-width: 30rem) { .panel > .button, p > .button { width: 100%; min-height: 2.75rem; } }

.field { min-width: 0; margin: 0; padding: 0; border: 0; }
label, legend { padding: 0; font-weight: 600; }
.hint { margin: 0 0 .35rem; color: var(--soft); font-size: var(--small); }
.problem { margin: 0 0 .35rem; color: var(--bad); font-size: var(--small); font-weight: 600; }
input, select, textarea { font: inherit; color: inherit; accent-color: var(--mark); }
input:not([type=radio], [type=checkbox], [type=hidden]), select, textarea {
  display: block; width: 100%; max-width: 36rem; min-height: 2.5rem; padding: .35rem .75rem;
  border: 1px solid var(--edge); border-radius: var(--round); background: var(--card);
}
textarea { field-sizing: content; resize: vertical; font-family: ui-monospace, monospace; font-size: var(--small); }
[aria-invalid=true] { border-color: var(--bad) !important; border-width: 2px !important; }
.choice { display: flex; gap: .6rem; align-items: baseline; margin-top: .35rem; font-weight: 400; }
.choice input { flex: none; }
.choice small { display: block; }
details .field, details > .panel { margin-top: 1rem; }
summary { width: fit-content; color: var(--mark); cursor: pointer; font-weight: 600; }
.filters { display: flex; flex-wrap: wrap; gap: .75rem; align-items: end; margin-bottom: 1rem; }
.filters .field { flex: 0 1 17rem; }
.filter, .more { margin-bottom: 1rem; }
.more { margin-top: 1rem; }

.notice { margin-bottom: 1.25rem; padding: .75rem 1rem; border: 1px solid var(--good); border-left-width: .3rem; border-radius: var(--round); background: var(--card); }
.notice p { margin: 0; }
.notice.bad { border-color: var(--bad); }
.notice.warn { border-color: var(--warn); }
.notice ul { margin: .5rem 0 0; padding-left: 1.25rem; }
.badge { display: inline-block; padding: 0 .5rem; border: 1px solid; border-radius: 1rem; font-size: .75rem; font-weight: 600; vertical-align: middle; }
.warn { color: var(--warn); }
.bad { color: var(--bad); }
.notice.bad, .notice.warn, li.warn, li.bad { color: inherit; }
.empty { padding: 2rem 1.5rem; border: 1px dashed var(--edge); border-radius: .75rem; color: var(--soft); text-align: center; }

.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); gap: .75rem; margin-bottom: 1.5rem; }
.figures > div { display: flex; flex-direction: column-reverse; justify-content: flex-end; padding: .875rem 1rem; }
.figures dt, .figures small { font-size: var(--small); }
.figures dd { font-size: 1.625rem; font-weight: 600; line-height: 1.25; letter-spacing: -.02em; font-variant-numeric: tabular-nums; }
.figures small { display: block; font-weight: 400; letter-spacing: 0; }
.figure { color: var(--soft); }
.figure strong { color: var(--text); }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(18rem, 100%), 1fr)); gap: .75rem; margin: 0; padding: 0; list-style: none; }
.cards > li { min-width: 0; padding: 1rem; }
.cards > li[hidden] { display: none; }
.cards > .warn { border-color: var(--warn); }
.cards > .bad { border-color: var(--bad); }
.cards p { margin-bottom: .5rem; }
.cards ul { margin: 0 0 .75rem; padding-left: 1.25rem; }
.cards .badge { margin-left: .25rem; }
.review label { font-size: .9rem; }
.review p { display: flex; flex-wrap: wrap; gap: .5rem; margin: .5rem 0 0; }
.cards meter { margin-top: .25rem; }
.cards h2 { margin-bottom: .25rem; }
dl { display: grid; gap: .25rem; margin: 0; }
dl > div { display: flex; gap: 0 .5rem; }
dt { flex: none; color: var(--soft); }
dd { min-width: 0; margin: 0; }
.facts { margin-bottom: 1rem; }
.facts > div { padding: .4rem 0; border-bottom: 1px solid var(--line); }
.facts dt { flex-basis: 12rem; }
@media (max-width: 40rem) { .facts > div { display: block; } }
code, pre { font: .875em/1.5 ui-monospace, monospace; }
pre { margin: 0 0 .75rem; padding: .75rem; border: 1px solid var(--line); border-radius: var(--round); background: var(--ground); white-space: pre-wrap; }
.copyable { display: grid; gap: .5rem; justify-items: start; margin-bottom: 1.25rem; }
.panel > .copyable { margin: 0; }
.copyable pre { width: 100%; margin: 0; user-select: all; }
.steps { display: grid; gap: 1rem; margin: 0; padding: 0; list-style: none; counter-reset: step; }
.steps > li { position: relative; min-width: 0; padding-left: 2.5rem; counter-increment: step; }
.steps > li::before { content: counter(step); position: absolute; left: 0; display: grid; place-items: center; width: 1.625rem; height: 1.625rem; border: 1px solid var(--edge); border-radius: 50%; font-size: var(--small); font-weight: 600; }
.steps > .done::before { content: "✓"; border-color: var(--good); color: var(--good); }
.steps p, .steps form { margin: .25rem 0 .5rem; }
.beside { display: grid; gap: 1.25rem; }
.qr { width: 11rem; padding: .25rem; border: 1px solid var(--line); border-radius: var(--round); background: #fff; fill: #000; }
.frames iframe, .preview iframe { width: 100%; max-width: 26rem; border: 1px solid var(--edge); border-radius: 1rem; background: var(--ground); }
.frames { display: grid; gap: 1rem; }
.frames iframe { height: 30rem; }
@media (min-width: 60rem) { .beside { grid-template-columns: minmax(0, 1fr) auto; align-items: start; } .frames { width: 22rem; } }
@media (min-width: 60rem) { .trial { display: grid; grid-template-columns: 22rem minmax(0, 1fr); gap: 1.5rem; align-items: start; } .trial > form { order: -1; } .trial > section { margin-top: 0; } }
.history { margin: 0; padding: 0; list-style: none; }
.history li { padding: .5rem 0; border-bottom: 1px solid var(--line); }
.history small { display: block; }

.scroller { overflow-x: auto; margin-bottom: .75rem; border: 1px solid var(--line); border-radius: .75rem; background: var(--card); }
table { width: 100%; border-collapse: collapse; font-size: var(--small); overflow-wrap: normal; }
caption { padding: .6rem .75rem; color: var(--soft); text-align: left; }
th, td { padding: .5rem .75rem; border-top: 1px solid var(--line); text-align: left; vertical-align: top; }
thead th { color: var(--soft); font-weight: 500; }
td:not(.number) { min-width: 7rem; overflow-wrap: anywhere; }
tbody th { min-width: 6rem; font-weight: 400; overflow-wrap: anywhere; }
time { white-space: nowrap; }
.number { text-align: right; font-variant-numeric: tabular-nums; }
td small, th small { display: block; }
.acts { display: flex; gap: .75rem; }
@media (max-width: 40rem) {
  table, tbody, tr, td, tbody th { display: block; }
  thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  caption { display: block; }
  tr { padding: .5rem .75rem; border-top: 1px solid var(--line); }
  th, td { padding: .1rem 0; border: 0; }
  tbody th { font-weight: 600; }
  td.number { display: flex; justify-content: space-between; gap: 1rem; }
  td[data-label]::before { content: attr(data-label); color: var(--soft); font-weight: 400; }
  td[data-label]:not(.number)::before { display: block; font-size: .75rem; }
  td[data-label="Actions"]::before { content: none; }
}

.chart { margin: 0 0 1rem; }
.chart svg { display: block; width: 100%; height: 9rem; border-bottom: 1px solid var(--edge); }
.chart g:hover { opacity: .75; }
.spark { display: block; width: 100%; height: 2rem; margin: .5rem 0; }
rect.served, .spark rect { fill: var(--mark); }
rect.refused { fill: var(--warn); }
rect.errors { fill: var(--bad); }
figcaption { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 1rem; color: var(--soft); font-size: var(--small); }
.legend { display: flex; flex-wrap: wrap; gap: .25rem 1rem; margin: .5rem 0 0; padding: 0; list-style: none; font-size: var(--small); }
.legend li::before { content: ""; display: inline-block; width: .75rem; height: .75rem; margin-right: .4rem; border-radius: .2rem; background: var(--mark); }
.legend .refused::before { background: var(--warn); }
.legend .errors::before { background: var(--bad); }
meter { display: block; width: 100%; height: .75rem; }

.preview { display: grid; gap: 1rem; }
.preview h2 { display: inline; font-size: 1rem; }
.preview details + details { margin-top: .75rem; }
.preview iframe { height: 46rem; margin: 0 auto; }
@media (min-width: 60rem) {
  .preview { grid-template-columns: 18rem 1fr; }
  .preview nav ul { flex-direction: column; }
  .preview iframe { position: sticky; top: 1rem; }
}
`;
