/**
 * The colours and basic elements that the pages for users and those for owners share.
 *
 * @example
 * ```ts
 * import { Html, html } from "@accountlink/html";
 * import { theme } from "@accountlink/html/theme";
 *
 * const page = html`<style>${new Html(theme)}</style><a class="button" href="/">Back</a>`;
 * page.source.includes("--mark"); // true
 * ```
 */
export const theme = `:root {
  color-scheme: light dark;
  --text: #1c1d22; --soft: #565a66; --line: #d3d6df; --edge: #767b89; --ground: #f3f4f8; --card: #fff;
  --mark: #2451b7; --on-mark: #fff; --good: #146c43; --warn: #8a5200; --bad: #b3261e;
}
@media (prefers-color-scheme: dark) {
  :root {
    --text: #ecedf2; --soft: #b3b7c3; --line: #3a3d47; --edge: #868b9a; --ground: #121317; --card: #1c1e24;
    --mark: #8fb4ff; --on-mark: #0f1420; --good: #6fd3a0; --warn: #f0bf6c; --bad: #ff9d94;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; padding: 1rem; background: var(--ground); color: var(--text);
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere;
}
h1 { margin: 0 0 .5rem; font-size: 1.5rem; line-height: 1.25; text-wrap: balance; }
p { margin: 0 0 1rem; text-wrap: pretty; }
form { margin: 0; }
a { color: var(--mark); }
small, footer { color: var(--soft); }
small { font-size: .9rem; }
.good { color: var(--good); }
.button {
  display: flex; align-items: center; justify-content: center; width: 100%; min-height: 3rem; padding: .5rem 1rem;
  border: 1px solid var(--mark); border-radius: .6rem; background: var(--mark); color: var(--on-mark);
  font: inherit; font-weight: 600; text-align: center; text-decoration: none; cursor: pointer;
}
.quiet { border-color: var(--edge); background: none; color: var(--text); }
.button:hover { filter: brightness(1.08); }
:focus-visible { outline: 3px solid var(--text); outline-offset: 3px; border-radius: .25rem; }
.button:focus-visible { border-radius: .6rem; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
`;
