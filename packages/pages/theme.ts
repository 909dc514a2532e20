/**
 * Makes a style sheet, and removes whitespace that only helps readers of the source.
 *
 * @example
 * ```ts
 * import { css } from "@accountlink/pages/theme";
 *
 * css`main > p { margin: 0; }`; // "main>p{margin:0}"
 * ```
 */
export const css = (texts: TemplateStringsArray, ...parts: ReadonlyArray<string>): string =>
  String.raw({ raw: texts }, ...parts).replaceAll(/;\s*(?=\})|\s*([{}>])\s*|([;,:])\s+/g, "$1$2");

/**
 * The colours and basic elements that the pages for users and the dashboard share.
 *
 * @example
 * ```ts
 * import { Html, html } from "@accountlink/pages/html";
 * import { theme } from "@accountlink/pages/theme";
 *
 * const page = html`<style>${new Html(theme)}</style><a class="button" href="/">Back</a>`;
 * page.source.includes("--mark"); // true
 * ```
 */
export const theme: string = css`:root {
  color-scheme: light dark;
  --text: #17181c; --soft: #5b5f6b; --line: #e1e3e9; --edge: #767b89; --ground: #f7f8fa; --card: #fff;
  --mark: #4338ca; --on-mark: #fff; --wash: #eeedfb; --good: #146c43; --warn: #8a5200; --bad: #b3261e;
  --small: .875rem; --large: 1.375rem; --round: .5rem; --rule: 1px solid var(--line); --frame: 1px solid var(--edge);
}
@media (prefers-color-scheme: dark) {
  :root {
    --text: #eceef3; --soft: #a9aebb; --line: #2b2e37; --edge: #868b9a; --ground: #101115; --card: #17181d;
    --mark: #a5a0ff; --on-mark: #14132b; --wash: #23223d; --good: #6fd3a0; --warn: #f0bf6c; --bad: #ff9d94;
  }
}
* { box-sizing: border-box; }
[hidden] { display: none !important; }
body {
  margin: 0; padding: 1rem; background: var(--ground); color: var(--text);
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere;
}
h1 { margin: 0 0 .5rem; font-size: var(--large); line-height: 1.25; letter-spacing: -.01em; text-wrap: balance; }
p { margin: 0 0 1rem; text-wrap: pretty; }
form, footer p { margin: 0; }
:where([role=list]) { margin: 0; padding: 0; list-style: none; }
main > :last-child { margin-bottom: 0; }
a { color: var(--mark); text-underline-offset: .15em; }
small, footer { color: var(--soft); }
small { display: block; unicode-bidi: isolate; font-size: var(--small); font-weight: 400; }
footer { font-size: .8rem; }
time { white-space: nowrap; }
.good { color: var(--good); }
.problem { color: var(--bad); font-weight: 600; }
summary { width: fit-content; color: var(--mark); cursor: pointer; font-weight: 600; }
.choice { display: flex; gap: .6rem; align-items: baseline; }
.button {
  display: flex; align-items: center; justify-content: center; width: 100%; min-height: 3rem; padding: .5rem 1rem;
  border: 1px solid var(--mark); border-radius: var(--round); background: var(--mark); color: var(--on-mark);
  font: inherit; font-weight: 600; text-align: center; text-decoration: none; cursor: pointer;
}
.quiet { border-color: var(--edge); background: none; color: var(--text); }
.button.bad { border-color: var(--bad); background: none; color: var(--bad); }
.button:hover { filter: brightness(1.08); }
.quiet:hover { background: var(--wash); }
.steps { counter-reset: step; }
.steps > li { position: relative; counter-increment: step; }
.steps > li::before {
  content: counter(step); position: absolute; inset-inline-start: 0; display: grid; place-items: center;
  width: 1.75rem; height: 1.75rem; border: var(--frame); border-radius: 50%; font-size: .9rem; font-weight: 600;
}
.steps > .done::before { content: "✓"; border-color: var(--good); color: var(--good); }
:where(:focus-visible) { outline: 2px solid var(--mark); outline-offset: 2px; border-radius: .25rem; }
.languages { margin-top: .75rem; }
.languages ul { display: flex; flex-wrap: wrap; column-gap: 1rem; }
.languages a { display: inline-block; padding-block: .25rem; }
.languages [aria-current] { color: inherit; font-weight: 600; }
:is(h1, h2, label, legend, summary, .button):lang(ja) { word-break: auto-phrase; }
:lang(ko) { word-break: keep-all; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
`;
