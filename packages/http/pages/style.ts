/**
 * The style of the pages for users.
 */
import { theme } from "@accountlink/html/theme";

export const style = `${theme}
main {
  max-width: 28rem; margin: 0 auto; padding: 1.5rem;
  border: 1px solid var(--line); border-radius: .75rem; background: var(--card);
}
@media (min-width: 40rem) and (min-height: 60rem) { main { margin-top: 6vh; } }
h2 { margin: 0; font-size: 1rem; line-height: 1.75rem; }
main > :last-child { margin-bottom: 0; }
.asking, .aside, .other, .kept, .later { color: var(--soft); }
.asking { margin-bottom: .25rem; }
.asking strong { color: var(--text); }
.aside, .other, .kept { font-size: .9rem; }
.who { margin-bottom: .5rem; }
.who + .account, h1 + .account, main > p + .account { margin-bottom: 1.25rem; }
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
.pair h2 { margin-bottom: .5rem; }
.pair .aside { margin: .75rem 0 .5rem; }
summary { width: fit-content; min-height: 1.75rem; color: var(--mark); cursor: pointer; font-weight: 600; }
details p { margin-block: .5rem .75rem; }
.choice { display: flex; gap: .6rem; align-items: baseline; margin-bottom: 1rem; }
.aside + form { margin-top: 1.25rem; }
.choices { display: grid; grid-template-columns: 1fr 1fr; gap: .75rem; margin: 0 0 .75rem; padding: 0; list-style: none; }
.choices > li { display: grid; grid-template-rows: auto 1fr auto; gap: .5rem; padding: .75rem; border: 1px solid var(--line); border-radius: .75rem; }
.choices .account { flex-direction: column; align-items: start; gap: .25rem; }
.choices + form { margin-bottom: .75rem; }
.code { display: grid; gap: 1rem; }
.code > * { margin: 0; }
.code input {
  width: 100%; padding: .75rem 0; border: 2px solid var(--edge); border-radius: .75rem; background: none; color: inherit;
  font: 600 1.75rem/1.2 ui-monospace, monospace; letter-spacing: .1em; text-align: center; text-transform: uppercase;
}
.code input::placeholder { color: var(--soft); opacity: .6; }
.code [aria-invalid] { border-color: var(--bad); }
.problem { color: var(--bad); font-weight: 600; }
.ways { display: grid; gap: .5rem; margin: 0; padding: 0; list-style: none; }
.ways a { display: block; padding: .75rem 1rem; border: 1px solid var(--line); border-radius: .75rem; text-decoration: none; }
.ways a:hover { border-color: var(--mark); }
.ways small { display: block; }
.sign {
  display: grid; place-items: center; width: 3rem; height: 3rem; border: 2px solid; border-radius: 50%;
  font-size: 1.5rem; line-height: 1;
}
.steps form { margin-top: .75rem; }
.steps + form { margin-top: 1.75rem; }
`;
