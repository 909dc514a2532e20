/**
 * The style of the flow's pages.
 */
export const style = `:root {
  color-scheme: light dark;
  --text: #1c1d22; --soft: #565a66; --line: #d3d6df; --edge: #767b89; --ground: #f3f4f8; --card: #fff;
  --mark: #2451b7; --on-mark: #fff; --good: #146c43;
}
@media (prefers-color-scheme: dark) {
  :root {
    --text: #ecedf2; --soft: #b3b7c3; --line: #3a3d47; --edge: #868b9a; --ground: #121317; --card: #1c1e24;
    --mark: #8fb4ff; --on-mark: #0f1420; --good: #6fd3a0;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; padding: 1rem; background: var(--ground); color: var(--text);
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere;
}
main {
  max-width: 28rem; margin: 0 auto; padding: 1.5rem;
  border: 1px solid var(--line); border-radius: 1rem; background: var(--card);
}
@media (min-width: 40rem) and (min-height: 60rem) { main { margin-top: 6vh; } }
h1 { margin: 0 0 .5rem; font-size: 1.5rem; line-height: 1.25; text-wrap: balance; }
h2 { margin: 0; font-size: 1rem; line-height: 1.75rem; }
p { margin: 0 0 1rem; text-wrap: pretty; }
main > :last-child { margin-bottom: 0; }
a { color: var(--mark); }
.asking, .aside, .other, .kept, small, .later, footer { color: var(--soft); }
.asking { margin-bottom: .25rem; }
.asking strong { color: var(--text); }
.aside, .other, .kept, small { font-size: .9rem; }
.who { margin-bottom: .5rem; }
.who + .account { margin-bottom: 1.25rem; }
footer { max-width: 28rem; margin: 0 auto; padding: .75rem 1.5rem 0; font-size: .8rem; }
footer p { margin: 0; }
.aside { margin-top: 1.25rem; }
.steps { margin: 1.5rem 0 0; padding: 0; list-style: none; counter-reset: step; }
.steps > li { position: relative; padding: 0 0 1.25rem 2.75rem; counter-increment: step; }
.steps > li:last-child { padding-bottom: 0; }
.steps > li::before {
  content: counter(step); position: absolute; left: 0; display: grid; place-items: center;
  width: 1.75rem; height: 1.75rem; border: 1px solid var(--edge); border-radius: 50%; font-size: .9rem; font-weight: 600;
}
.steps > li:not(:last-child)::after {
  content: ""; position: absolute; left: .85rem; top: 2.125rem; bottom: .375rem; border-left: 1px solid var(--line);
}
.steps > .current::before { border-color: var(--mark); background: var(--mark); color: var(--on-mark); }
.steps > .done::before { content: "✓"; border-color: var(--good); color: var(--good); }
.steps h2 + * { margin-top: .5rem; }
.steps p { margin-block: .5rem; }
.account { display: flex; align-items: center; gap: .75rem; }
.account p { margin: 0; min-width: 0; line-height: 1.35; }
.account small { display: block; }
.picture {
  display: grid; place-items: center; flex: none; width: 3rem; height: 3rem;
  border: 1px solid var(--line); border-radius: 50%; background: var(--ground); object-fit: cover; font-weight: 600;
}
.pair { display: grid; gap: .75rem; margin: 1.25rem 0; padding: 0; list-style: none; }
.pair > li { padding: .75rem; border: 1px solid var(--line); border-radius: .75rem; }
.sign {
  display: grid; place-items: center; width: 3rem; height: 3rem; border: 2px solid; border-radius: 50%;
  font-size: 1.5rem; line-height: 1;
}
.good { color: var(--good); }
form { margin: 0; }
.steps form { margin-top: .75rem; }
.steps + form { margin-top: 1.75rem; }
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
