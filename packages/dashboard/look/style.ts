/**
 * The style of the dashboard's pages, over what they share with those of the verification.
 */
import { theme } from "@accountlink/html/theme";

export const style = `${theme}
body { display: grid; gap: 1rem; max-width: 76rem; margin: 0 auto; }
body > * { min-width: 0; }
main { padding: 1.5rem; border: 1px solid var(--line); border-radius: 1rem; background: var(--card); }
main:focus { outline: none; }
h1 + .notice { margin-top: 1rem; }
main > :last-child, section > :last-child, .panel > :last-child, .cards p:last-child, .notice > :last-child { margin-bottom: 0; }
h2 { margin: 0 0 .5rem; font-size: 1.15rem; line-height: 1.3; }
h3 { margin: 0 0 .25rem; font-size: 1rem; }
section { margin-top: 2rem; }
footer { padding: 0 1.5rem; font-size: .8rem; }
footer p { margin: 0; }
.skip { position: absolute; left: 1rem; top: -4rem; padding: .5rem 1rem; border-radius: .6rem; background: var(--mark); color: var(--on-mark); }
.skip:focus { top: 1rem; z-index: 1; }

header { display: grid; gap: .75rem; align-content: start; }
.brand { margin: 0; font-weight: 700; font-size: 1.15rem; }
.brand a { color: inherit; text-decoration: none; }
nav ul { display: flex; flex-wrap: wrap; gap: .25rem; margin: 0; padding: 0; list-style: none; }
nav a { display: block; padding: .5rem .75rem; border-radius: .6rem; color: var(--text); text-decoration: none; }
nav a:hover { background: var(--line); }
nav [aria-current] { background: var(--mark); color: var(--on-mark); font-weight: 600; }
nav [aria-current]:hover { background: var(--mark); }
.visitor { display: flex; align-items: center; justify-content: space-between; gap: .75rem; }
.visitor p { margin: 0; line-height: 1.35; min-width: 0; }
.visitor small { display: block; }
@media (min-width: 60rem) {
  body { grid-template: auto 1fr auto / 13rem minmax(0, 1fr); gap: 1rem 1.5rem; min-height: 100vh; }
  header { grid-row: 1 / 4; position: sticky; top: 1rem; max-height: calc(100vh - 2rem); overflow: auto; padding: .5rem 0 1rem; }
  header nav ul { flex-direction: column; }
  .visitor { align-items: stretch; flex-direction: column; margin-top: 1rem; padding-top: 1rem; border-top: 1px solid var(--line); }
}

.button { display: inline-flex; width: auto; min-height: 2.75rem; }
.button.small { min-height: 2.25rem; padding: .25rem .75rem; font-size: .9rem; }
.button.bad { border-color: var(--bad); background: none; color: var(--bad); }
.button:disabled { border-color: var(--line); color: var(--soft); cursor: not-allowed; }
.panel { display: grid; gap: 1.25rem; justify-items: start; margin-bottom: 1rem; padding: 1.25rem; border: 1px solid var(--line); border-radius: .75rem; }
.panel > * { width: 100%; margin: 0; }
.panel > .button { width: auto; }
.panel ol { padding-left: 1.25rem; }
.danger { border-color: var(--bad); }
@media (max-width: 30rem) { .panel > .button, p > .button { width: 100%; } main { padding: 1.25rem 1rem; } }

.field { min-width: 0; margin: 0; padding: 0; border: 0; }
label, legend { padding: 0; font-weight: 600; }
.hint { margin: 0 0 .35rem; color: var(--soft); font-size: .9rem; }
.problem { margin: 0 0 .35rem; color: var(--bad); font-size: .9rem; font-weight: 600; }
input, select, textarea { font: inherit; color: inherit; accent-color: var(--mark); }
input:not([type=radio], [type=checkbox], [type=hidden]), select, textarea {
  display: block; width: 100%; max-width: 36rem; min-height: 2.75rem; padding: .4rem .75rem;
  border: 1px solid var(--edge); border-radius: .6rem; background: var(--card);
}
textarea { field-sizing: content; resize: vertical; font-family: ui-monospace, monospace; font-size: .9rem; }
[aria-invalid=true] { border-color: var(--bad) !important; border-width: 2px !important; }
.choice { display: flex; gap: .6rem; align-items: baseline; margin-top: .35rem; font-weight: 400; }
.choice input { flex: none; }
.choice small { display: block; }
details .field { margin-top: 1rem; }
summary { width: fit-content; color: var(--mark); cursor: pointer; font-weight: 600; }
.filters { display: flex; flex-wrap: wrap; gap: .75rem; align-items: end; margin-bottom: 1rem; }
.filters .field { flex: 0 1 16rem; }
.filter { margin-bottom: 1rem; }
.more { margin-top: 1rem; }

.notice { margin-bottom: 1.25rem; padding: .75rem 1rem; border: 1px solid var(--good); border-left-width: .35rem; border-radius: .6rem; }
.notice:focus { outline: none; }
.notice p { margin: 0; }
.notice.bad { border-color: var(--bad); }
.notice ul { margin: .5rem 0 0; padding-left: 1.25rem; }
.badge { display: inline-block; padding: 0 .5rem; border: 1px solid; border-radius: 1rem; font-size: .8rem; font-weight: 600; vertical-align: middle; }
.warn { color: var(--warn); }
.bad { color: var(--bad); }
.notice.bad, li.warn, li.bad { color: inherit; }
.empty { padding: 1.5rem; border: 1px dashed var(--edge); border-radius: .75rem; color: var(--soft); text-align: center; }

.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(18rem, 100%), 1fr)); gap: .75rem; margin: 0; padding: 0; list-style: none; }
.cards > li { min-width: 0; padding: 1rem; border: 1px solid var(--line); border-radius: .75rem; }
.cards > li[hidden] { display: none; }
.cards > .warn { border-color: var(--warn); }
.cards > .bad { border-color: var(--bad); }
.cards p { margin-bottom: .5rem; }
.cards ul { margin: 0 0 .75rem; padding-left: 1.25rem; }
.cards .badge { margin-left: .25rem; }
.review label { font-size: .9rem; }
.review p { display: flex; flex-wrap: wrap; gap: .5rem; margin: .5rem 0 0; }
.cards meter { margin-top: .25rem; }
dl { display: grid; gap: .25rem; margin: 0; }
dl > div { display: flex; gap: 0 .5rem; }
dt { flex: none; color: var(--soft); }
dd { min-width: 0; margin: 0; }
.facts { margin-bottom: 1rem; }
.facts > div { padding: .35rem 0; border-bottom: 1px solid var(--line); }
.facts dt { flex-basis: 14rem; }
@media (max-width: 40rem) { .facts > div { display: block; } }
code, pre { font: .9em/1.5 ui-monospace, monospace; }
pre { margin: 0 0 .75rem; padding: .75rem; border: 1px solid var(--line); border-radius: .6rem; background: var(--ground); white-space: pre-wrap; }
.copyable { display: grid; gap: .5rem; justify-items: start; margin-bottom: 1.25rem; }
.panel > .copyable { margin: 0; }
.copyable pre { width: 100%; margin: 0; user-select: all; }

.scroller { overflow-x: auto; margin-bottom: .75rem; border: 1px solid var(--line); border-radius: .75rem; }
table { width: 100%; border-collapse: collapse; font-size: .9rem; overflow-wrap: normal; }
caption { padding: .6rem .75rem; color: var(--soft); text-align: left; }
th, td { padding: .5rem .75rem; border-top: 1px solid var(--line); text-align: left; vertical-align: top; }
td:not(.number) { min-width: 7rem; overflow-wrap: anywhere; }
.details { display: block; min-width: 14rem; }
@media (max-width: 30rem) { th, td { padding: .4rem .5rem; } }
thead th { min-width: 4.4rem; }
tbody th { min-width: 6rem; font-weight: 400; overflow-wrap: anywhere; }
time { white-space: nowrap; }
.number { text-align: right; font-variant-numeric: tabular-nums; }
td small { display: block; }

.chart { margin: 0 0 1rem; }
.chart svg { display: block; width: 100%; height: 10rem; border-bottom: 1px solid var(--edge); }
.chart g:hover { opacity: .75; }
rect.served { fill: var(--mark); }
rect.refused { fill: var(--warn); }
rect.errors { fill: var(--bad); }
figcaption { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 1rem; color: var(--soft); font-size: .85rem; }
.legend { display: flex; flex-wrap: wrap; gap: .25rem 1rem; margin: .5rem 0 0; padding: 0; list-style: none; font-size: .85rem; }
.legend li::before { content: ""; display: inline-block; width: .75rem; height: .75rem; margin-right: .4rem; border-radius: .2rem; background: var(--mark); }
.legend .refused::before { background: var(--warn); }
.legend .errors::before { background: var(--bad); }
meter { display: block; width: 100%; height: .75rem; }

.preview { display: grid; gap: 1rem; }
.preview h2 { display: inline; font-size: 1rem; }
.preview details + details { margin-top: .75rem; }
.preview iframe { width: 100%; max-width: 26rem; height: 46rem; margin: 0 auto; border: 1px solid var(--edge); border-radius: 1.5rem; background: var(--ground); }
@media (min-width: 60rem) {
  .preview { grid-template-columns: 18rem 1fr; }
  .preview nav ul { flex-direction: column; }
  .preview iframe { position: sticky; top: 1rem; }
}
`;
