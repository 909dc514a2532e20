/** The style of the site, on top of the style that it shares with the service's pages. */
import { css, theme } from "@accountlink/pages/theme";

export const style: string = css`${theme}
html { scroll-padding-top: 4.5rem; }
body { display: grid; grid-template-columns: 17rem minmax(0, 1fr); padding: 0; }
header {
  grid-column: 1 / -1; position: sticky; top: 0; z-index: 1; display: flex; gap: 1rem; align-items: center;
  padding: .6rem 1rem; background: var(--card); border-bottom: var(--rule);
}
.name { font-weight: 700; color: var(--text); text-decoration: none; }
.to-pages { display: none; }
search { position: relative; flex: 1; max-width: 36rem; }
input {
  width: 100%; padding: .45rem .7rem; border: var(--frame); border-radius: var(--round); background: var(--ground);
  color: var(--text); font: inherit;
}
#results {
  position: absolute; inset: 100% 0 auto; max-height: 70vh; margin: .3rem 0 0; padding: .5rem .8rem; overflow: auto;
  background: var(--card); border: var(--rule); border-radius: var(--round); list-style: none;
  box-shadow: 0 .5rem 1.5rem #0003;
}
#results li { padding: .3rem 0; }
#results small { display: inline; }
nav { grid-area: 2 / 1; padding: 1rem; font-size: .92rem; }
nav summary { padding: .2rem 0; }
nav ul { margin: 0 0 .6rem; padding-left: 1rem; list-style: none; }
nav li { padding: .12rem 0; }
nav a { text-decoration: none; }
[aria-current] { font-weight: 700; }
main { grid-area: 2 / 2; max-width: 60rem; padding: 1rem 1.5rem 4rem; background: var(--card); }
h1, h2, h3 { margin: 1.8rem 0 .6rem; line-height: 1.25; }
h1 { font-size: 2rem; }
h1:first-child { margin-top: .4rem; }
:is(h1, h2, h3, h4) > a { color: inherit; text-decoration: none; }
code { font: .9em ui-monospace, monospace; }
pre {
  padding: .8rem; overflow-x: auto; background: var(--ground); border-radius: var(--round); overflow-wrap: normal;
}
.wide { margin-bottom: 1rem; overflow-x: auto; }
.wide svg { max-width: 40rem; }
.wide svg text { fill: currentColor; }
table { border-collapse: collapse; }
th, td { min-width: 6rem; padding: .35rem .6rem; border: var(--rule); text-align: left; vertical-align: top; }
@media (max-width: 48rem) {
  body { display: block; }
  .to-pages { display: inline; }
  nav { padding: .5rem 1rem; }
  main { padding: 1rem; }
}
`;
