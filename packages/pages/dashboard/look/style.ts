/** The style sheet of the dashboard. It extends the theme that the dashboard shares with the verification pages. */
import { rowOf, ruleKindNames, ruleParts } from "@accountlink/core/roles";
import { Record } from "effect";
import { css, theme } from "../../theme.ts";

/** Selects the parts of a rule's form that the chosen kind of rule does not have. */
const otherParts = Record.keys(ruleParts)
  .map((part) => {
    const kinds = ruleKindNames.filter((name) => rowOf(name).parts?.includes(part));
    return `.condition:not(:has(option:is(${kinds.map((name) => `[value="${name}"]`).join(", ")}):checked)) .${part}`;
  })
  .join(", ");

export const style: string = css`${theme}
body { max-width: 80rem; margin: 0 auto; }
body > * { min-width: 0; }
main:focus, .notice:focus { outline: none; }
h1 { margin-bottom: 1.25rem; }
h2 { margin: 0 0 .75rem; font-size: 1.0625rem; line-height: 1.3; }
h3, .cards h2 { margin: 0 0 .25rem; }
h3 { font-size: 1rem; }
h3 small { display: inline; }
:is(.history, .hint) + h3 { margin-top: 1rem; }
section, section + :is(details, [data-live]) { margin-top: 2.25rem; }
h1 + section, .notice + section, .try > section { margin-top: 0; }
:is(section, .panel, .notice, li, .beside > div) > :last-child { margin-bottom: 0; }
.hint, .problem, .visitor, .button.small, table, figcaption, .legend, .figures dt { font-size: var(--small); }
nav a, input, select, textarea, .notice, pre, .qr { border-radius: var(--round); }
.hint, .empty, .figure, dt, caption, figcaption, thead th { color: var(--soft); }
.skip { position: absolute; inset-inline-start: 1rem; top: -4rem; }
.skip:focus { top: 1rem; z-index: 1; }
.icon { flex: none; width: 1.125rem; height: 1.125rem; fill: none; stroke: currentColor; stroke-width: 1.75; stroke-linecap: round; stroke-linejoin: round; }
[dir=rtl] .points { transform: scaleX(-1); }
.mark { width: 1.5rem; height: 1.5rem; color: var(--mark); stroke-width: 2.5; }

header { align-content: start; }
.brand { margin: 0; font-weight: 700; letter-spacing: -.02em; }
.brand a, nav a, .visitor { display: flex; align-items: center; gap: .625rem; text-decoration: none; }
.brand a { display: inline-flex; color: inherit; }
nav ul { display: flex; flex-wrap: wrap; gap: .125rem; }
nav a { padding: .4rem .625rem; color: var(--soft); font-size: .9375rem; }
nav a:hover, nav [aria-current] { background: var(--wash); color: var(--text); }
nav [aria-current] { font-weight: 600; }
nav [aria-current] .icon { color: var(--mark); }
.visitor { justify-content: space-between; }
.visitor p { margin: 0; line-height: 1.35; min-width: 0; }
.visitor form { flex: none; }
.find input { min-height: 2.25rem !important; }
@media (max-width: 59.99rem) {
  header { grid-template-columns: 1fr auto; align-items: center; }
  header > :is(.menu, .visitor, .find) { grid-column: 1 / -1; }
  .menu > summary { padding: .4rem 0; }
  .menu nav { padding: .5rem 0; }
  nav ul { display: grid; grid-template-columns: repeat(auto-fill, minmax(9rem, 1fr)); }
}

.button { display: inline-flex; width: auto; min-height: 2.5rem; padding: .35rem 1rem; }
.button.small { min-height: 2rem; padding: .2rem .7rem; }
td .button { white-space: nowrap; }
:is(th, td) > a { display: inline-block; min-height: 1.5rem; align-content: center; }
:is([type=checkbox], [type=radio]) { width: 1.5rem; height: 1.5rem; margin: 0; }
.button:disabled { border-color: var(--line); color: var(--soft); cursor: not-allowed; }
.row, .filters, .review p { display: flex; flex-wrap: wrap; gap: .75rem; margin: 0; }
.panel, .cards > li, .figures > div, .scroller { border: var(--rule); border-radius: .75rem; background: var(--card); }
.panel { display: grid; gap: 1.25rem; justify-items: start; padding: 1.25rem; }
.panel > * { width: 100%; margin: 0; }
.panel > .button { width: auto; }
.panel > .unseen { width: 1px; }
.rule, .condition, .parts { display: grid; gap: .75rem 1rem; grid-template-columns: repeat(auto-fit, minmax(min(13rem, 100%), 1fr)); align-items: end; }
.rule { padding: 1rem; border: var(--rule); border-radius: .5rem; }
.rule > *, .condition > * { grid-column: 1 / -1; }
${otherParts} { display: none; }
form:has([name=scope][value=global]:checked) .own, .of:has([value=all]:checked) > :last-child { display: none; }
.danger { border-color: var(--bad); }
.more { margin: 1rem 0; }
.more .button { margin-block: 0 .75rem; margin-inline: 0 .5rem; }
@media (max-width: 30rem) {
  .more .button { margin-inline: 0; }
  .panel > .button, p > .button { width: 100%; min-height: 2.75rem; }
  .panel:not(:has(.field, .choice)) { padding: 0; border: 0; background: none; }
}

.field { min-width: 0; margin: 0; padding: 0; border: 0; }
label, legend { padding: 0; font-weight: 600; }
.hint, .problem { margin: 0 0 .35rem; }
input, select, textarea { font: inherit; color: inherit; accent-color: var(--mark); }
input:not([type=radio], [type=checkbox]), select, textarea {
  display: block; width: 100%; max-width: 36rem; min-height: 2.5rem; padding: .35rem .75rem;
  border: var(--frame); background: var(--card);
}
textarea { field-sizing: content; resize: vertical; font: 1rem/1.5 ui-monospace, monospace; }
[aria-invalid=true] { border: 2px solid var(--bad) !important; }
.choice { align-items: flex-start; margin-top: .35rem; font-weight: 400; }
.choice input { flex: none; }
th .choice { margin: 0; }
details :is(.field, .row), details > .panel { margin-top: 1rem; }
.cards details + details { margin-top: .5rem; }
.filters { align-items: end; }
.filters, .panel, .facts { margin-bottom: 1rem; }
.filters .field { flex: 0 1 17rem; }
.filters details[open] { flex-basis: 100%; }

.warn { --tone: var(--warn); }
.bad { --tone: var(--bad); }
.warn, .bad { color: var(--tone); }
.notice { margin-bottom: 1.25rem; padding: .75rem 1rem; border: 1px solid var(--tone, var(--good)); border-inline-start-width: .3rem; background: var(--card); }
.notice p { margin: 0; }
.notice ul { margin: .5rem 0 0; padding-inline-start: 1.25rem; }
.notice, li.warn, li.bad { color: inherit; }
.badge { display: inline-block; padding: 0 .5rem; border: 1px solid; border-radius: 1rem; font-size: .75rem; font-weight: 600; vertical-align: middle; }
.empty { padding: 2rem 1.5rem; border: 1px dashed var(--edge); border-radius: .75rem; text-align: center; }

header, .figures, .cards { display: grid; gap: .75rem; }
.figures { grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); margin-bottom: 1.5rem; }
.figures > div { display: flex; flex-direction: column-reverse; justify-content: flex-end; padding: .875rem 1rem; }
.figures dd { font-size: 1.375rem; font-weight: 600; line-height: 1.25; }
.figures :is(time, bdi) { font-size: 1rem; white-space: normal; }
.figure strong { color: var(--text); }
.cards { grid-template-columns: repeat(auto-fit, minmax(min(18rem, 100%), 1fr)); }
.cards > li { min-width: 0; padding: 1rem; border-color: var(--tone, var(--line)); }
.cards p { margin-bottom: .5rem; }
.cards ul { margin: 0 0 .75rem; padding-inline-start: 1.25rem; }
.cards .badge { margin-inline-start: .25rem; }
.cards meter { margin-top: .25rem; }
.review p { margin-top: .5rem; }
dl { display: grid; gap: .25rem; margin: 0; }
dl > div { display: flex; gap: 0 .5rem; }
dt { flex: none; }
dd { min-width: 0; margin: 0; }
.facts > div, .history li { padding: .45rem 0; border-bottom: var(--rule); }
.facts dt { flex-basis: 12rem; }
code, pre { font: .875em/1.5 ui-monospace, monospace; }
label strong { padding: .1rem .3rem; border: var(--rule); border-radius: .3rem; background: var(--ground); }
pre { margin: 0 0 .75rem; padding: .75rem; border: var(--rule); background: var(--ground); white-space: pre-wrap; }
.copyable { display: grid; gap: .5rem; justify-items: start; margin-bottom: 1.25rem; }
.panel > .copyable { margin: 0; }
.copyable pre { width: 100%; margin: 0; user-select: all; }
body, .steps, .beside, .frames, .preview, .try { display: grid; gap: 1rem; }
.steps > li { min-width: 0; padding-inline-start: 2.5rem; }
.steps p, .steps form { margin: .25rem 0 .5rem; }
.qr { width: 11rem; padding: .25rem; border: var(--rule); background: #fff; fill: #000; }
iframe { width: 100%; max-width: 26rem; height: 30rem; border: var(--frame); border-radius: 1rem; background: var(--ground); }

.scroller { overflow-x: auto; margin-bottom: .75rem; }
table { width: 100%; border-collapse: collapse; overflow-wrap: normal; }
caption, th, td { padding: .5rem .75rem; text-align: start; vertical-align: top; }
th, td { border-top: var(--rule); font-weight: 400; }
thead th { font-weight: 500; }
tbody th, td:not(.number) { min-width: 7rem; overflow-wrap: anywhere; }
.number { text-align: end; white-space: nowrap; }
.number, .figures dd { font-variant-numeric: tabular-nums; }

figure { margin: 0 0 1rem; }
.chart { display: grid; grid-template-columns: auto 1fr; gap: 0 .5rem; }
.chart > :is(figcaption, .legend) { grid-column: 2; }
.chart svg { display: block; width: 100%; height: 9rem; border-bottom: var(--frame); }
.axis { display: flex; flex-direction: column; justify-content: space-between; margin: -.6rem 0; font-size: .75rem; text-align: end; color: var(--soft); }
.grid { stroke: var(--line); stroke-width: 1; vector-effect: non-scaling-stroke; }
.chart g:hover { opacity: .75; }
.spark { width: 4.5rem; height: 1.25rem; margin-inline-end: .35rem; border-bottom: var(--frame); vertical-align: bottom; }
.served, .spark { --bar: var(--mark); }
.refused { --bar: var(--warn); }
.errors { --bar: var(--bad); }
rect { fill: var(--bar); }
figcaption, .legend { display: flex; flex-wrap: wrap; justify-content: space-between; gap: .25rem 1rem; }
.legend { justify-content: start; margin-top: .5rem; }
.legend li::before { content: ""; forced-color-adjust: none; print-color-adjust: exact; display: inline-block; width: .75rem; height: .75rem; margin-inline-end: .4rem; border-radius: .2rem; background: var(--bar); }
meter { display: block; width: 100%; height: .75rem; }

.preview h2 { display: inline; font-size: 1rem; }
.preview details + details { margin-top: .75rem; }
.preview iframe { height: 46rem; margin: 0 auto; }

@media (max-width: 40rem) {
  .facts > div, table, tbody, tr, td, tbody th, caption { display: block; }
  thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  tr { padding: .5rem .75rem; border-top: var(--rule); }
  th, td { padding: .1rem 0; border: 0; }
  tbody th { font-weight: 600; }
  td[data-label] { display: flex; flex-wrap: wrap; justify-content: end; gap: 0 1rem; }
  td:empty { display: none; }
  [data-label]::before { content: attr(data-label); margin-inline-end: auto; color: var(--soft); }
  td small, tbody th small { display: inline; }
  tr:has(td:not([data-label])) { display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: 0 .75rem; }
  td:not([data-label]) { grid-area: 1 / 2; min-width: 0; }
  td[data-label] { grid-column: 1 / -1; }
}
@media (min-width: 60rem) {
  body { grid-template: auto 1fr auto / 13rem minmax(0, 1fr); gap: 1rem 2.5rem; min-height: 100vh; padding: 0 1.5rem; }
  header { grid-row: 1 / 4; position: sticky; top: 0; max-height: 100vh; overflow: auto; padding: 1.25rem 0; }
  nav ul { flex-direction: column; }
  .menu::details-content { content-visibility: visible; block-size: auto; }
  @supports selector(::details-content) { .menu > summary { display: none; } }
  header ul + ul, .visitor { padding-top: .75rem; border-top: var(--rule); }
  header ul + ul { margin-top: .75rem; }
  .visitor { align-items: stretch; flex-direction: column; }
  main { padding: 1.25rem 0; }
  footer { padding-bottom: 1rem; }
  .beside, .try { grid-template-columns: minmax(0, 1fr) auto; align-items: start; }
  .try { grid-template-columns: 22rem minmax(0, 1fr); }
  .try > form { order: -1; }
  .frames { width: 22rem; }
  .preview { grid-template-columns: 18rem 1fr; }
  .preview iframe { position: sticky; top: 1rem; }
}
`;
