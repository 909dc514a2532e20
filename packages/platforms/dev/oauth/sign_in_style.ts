/** Each platform has its own colour, so that nobody confuses them. */
export const style = `
:root { color-scheme: light dark; --text: #1b1b20; --soft: #5a5a66; --line: #8a8a96; --ground: #f6f6f9; --card: #fff; }
body.chat { --mark: #4650c8; }
body.game { --mark: #0a7048; }
@media (prefers-color-scheme: dark) {
  :root { --text: #ececf1; --soft: #b0b0bd; --line: #777785; --ground: #17171c; --card: #212128; }
  body.chat { --mark: #a9b1ff; }
  body.game { --mark: #6fd6a7; }
}
* { box-sizing: border-box; }
body { margin: 0; padding: 1rem; background: var(--ground); color: var(--text); font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
main { max-width: 32rem; margin: 0 auto; }
.mark { display: inline-block; margin: 0; padding: 0 .6rem; border: 2px dashed var(--mark); border-radius: .4rem; color: var(--mark); font-weight: 600; }
h1 { margin: .75rem 0 .5rem; font-size: 1.5rem; line-height: 1.25; }
ul { display: grid; gap: .5rem; margin: 1rem 0; padding: 0; list-style: none; }
button { display: flex; align-items: center; gap: .75rem; width: 100%; min-height: 3.5rem; padding: .5rem .75rem; border: 1px solid var(--line); border-radius: .6rem; background: var(--card); color: inherit; font: inherit; text-align: start; cursor: pointer; }
button:hover { border-color: var(--mark); }
button:focus-visible { outline: 3px solid var(--mark); outline-offset: 2px; }
.face { display: grid; place-items: center; flex: none; width: 2.5rem; height: 2.5rem; border: 1px solid var(--line); border-radius: 50%; object-fit: cover; font-weight: 600; }
.name { min-width: 0; font-weight: 600; }
small { display: block; color: var(--soft); font-weight: 400; }
.line { display: flex; flex-wrap: wrap; align-items: center; gap: .5rem; margin: .5rem 0; }
.line button, .button { width: auto; min-height: 2.75rem; padding: .25rem .75rem; border: 1px solid var(--line); border-radius: .6rem; background: var(--card); color: inherit; font: inherit; text-decoration: none; }
.button { display: inline-flex; align-items: center; }
.line input, select { min-height: 2.75rem; max-width: 100%; padding: .25rem .5rem; border: 1px solid var(--line); border-radius: .6rem; background: var(--card); color: inherit; font: inherit; }
.messages { display: grid; gap: .5rem; margin: 1rem 0; padding: 0; list-style: none; }
.messages li { padding: .5rem .75rem; border-inline-start: 4px solid var(--mark); border-radius: .4rem; background: var(--card); }
.messages p { margin: .25rem 0; }
mark { background: none; color: var(--mark); font-weight: 600; }
.deny { justify-content: center; min-height: 2.75rem; background: none; }
`;
