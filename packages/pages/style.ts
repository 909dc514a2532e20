import { css, theme } from "./theme.ts";

/**
 * The style sheet that counts down the element `.clock` of a page. The policy of the flow allows no script, and no style
 * within the page.
 *
 * @param seconds the time that is left when the page is shown
 */
export const countdown = (seconds: number): string =>
  css`.clock { animation: rest ${String(seconds)}s linear; } @keyframes rest { from { --rest: ${String(seconds)}; } }`;

export const style: string = css`${theme}
main {
  max-width: 28rem; margin: 0 auto; padding: 1.5rem;
  border: var(--rule); border-radius: .75rem; background: var(--card);
}
@media (min-width: 40rem) and (min-height: 60rem) { main { margin-top: 6vh; } }
h2, h3 { margin: 0; font-size: 1rem; line-height: 1.75rem; }
section { margin-top: 2rem; }
.asking, .aside, .other, .kept, .later { color: var(--soft); }
.asking { margin-bottom: .25rem; }
.asking strong { color: var(--text); }
.aside, .other, .kept { font-size: .9rem; }
.who { margin-bottom: .5rem; }
.who + .account, h1 + .account, main > p + .account { margin-bottom: 1.25rem; }
footer { max-width: 28rem; margin: 0 auto; padding: .75rem 1.5rem 0; }
footer p { line-height: 1.5rem; }
.aside { margin-top: 1.25rem; }
.steps { margin-top: 1.5rem; }
.steps > li { padding-block-end: 1.25rem; padding-inline-start: 2.75rem; }
.steps > li:last-child { padding-block-end: 0; }
.steps > li:not(:last-child)::after {
  content: ""; position: absolute; inset-block: 2.125rem .375rem; inset-inline-start: .85rem; border-inline-start: var(--rule);
}
.steps > .current::before { border-color: var(--mark); background: var(--mark); color: var(--on-mark); }
.steps h2 + * { margin-top: .5rem; }
.steps p { margin-block: .5rem; }
.account { display: flex; align-items: center; gap: .75rem; }
.account p { margin: 0; min-width: 0; line-height: 1.35; }
.picture {
  display: grid; place-items: center; flex: none; width: 3rem; height: 3rem;
  border: var(--rule); border-radius: 50%; background: var(--ground); object-fit: cover; font-weight: 600;
}
.pair, .ways, .choices { display: grid; gap: .75rem; }
.pair { margin: 1.25rem 0; }
.pair > li, .ways a, .choices > li { padding: .75rem; border: var(--rule); border-radius: .75rem; }
.pair :is(h2, h3) { margin-bottom: .5rem; }
.pair .aside { margin: .75rem 0 .5rem; }
summary { min-height: 1.75rem; }
.bad { color: var(--bad); }
details p { margin-block: .5rem .75rem; }
.choice { margin-bottom: 1rem; }
.choice input { width: 1.5rem; height: 1.5rem; margin: 0; vertical-align: middle; }
.aside + form { margin-top: 1.25rem; }
.choices { grid-template-columns: 1fr 1fr; }
.choices, .choices + .decline { margin-bottom: .75rem; }
.choices > li { display: grid; grid-template-rows: auto 1fr auto; gap: .5rem; }
.choices .button { padding-inline: .25rem; font-size: var(--small); text-wrap: balance; }
.choices .account { flex-direction: column; align-items: start; gap: .25rem; }
.code { display: grid; gap: 1rem; }
.code > * { margin: 0; }
.code input {
  width: 100%; padding: .75rem 0; border: 2px solid var(--edge); border-radius: .75rem; background: none; color: inherit;
  font: 600 1.75rem/1.2 ui-monospace, monospace; letter-spacing: .1em; text-align: center; text-transform: uppercase;
}
.code input::placeholder { color: var(--soft); opacity: .6; }
.code b { white-space: nowrap; }
.named label { display: block; margin-bottom: .25rem; font-weight: 600; }
.named input {
  width: 100%; min-height: 2.75rem; padding: .5rem .75rem; border: 2px solid var(--edge); border-radius: .75rem;
  background: none; color: inherit; font: inherit; font-size: 1.1rem;
}
.named [aria-invalid] { border-color: var(--bad); }
.words {
  padding: .75rem; border: 2px dashed var(--edge); border-radius: .75rem; background: var(--ground);
  font: 600 1.1rem/1.5 ui-monospace, monospace; user-select: all; -webkit-user-select: all;
}
.code [aria-invalid] { border-color: var(--bad); }
.ways { gap: .5rem; margin: .25rem 0 1rem; }
figure { margin: 0 0 1rem; }
figure svg { display: block; width: 100%; overflow: visible; }
[dir=rtl] .way { transform: scaleX(-1); transform-origin: center; }
.ways a { display: block; padding-inline: 1rem; text-decoration: none; }
.ways a:hover { border-color: var(--mark); }
.sign {
  display: grid; place-items: center; width: 3rem; height: 3rem; border: 2px solid; border-radius: 50%;
  font-size: 1.5rem; line-height: 1;
}
@property --rest { syntax: "<integer>"; inherits: true; initial-value: 0; }
@supports (counter-reset: minutes round(down, 1.5, 1)) {
  .clock::after {
    counter-reset: minutes round(down, var(--rest) / 60, 1) seconds mod(var(--rest), 60);
    content: counter(minutes) ":" counter(seconds, decimal-leading-zero);
    color: var(--text); font-weight: 600; font-variant-numeric: tabular-nums;
  }
}
.steps form { margin-top: .75rem; }
.steps form + .account { margin-top: 1.25rem; }
.steps + details, :is(form, details) + .decline { margin-top: 1.75rem; }
`;
