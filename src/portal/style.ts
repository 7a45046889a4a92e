/**
 * The one stylesheet. It is a module, so that the compiler carries it along; its path holds a hash
 * of it, so that browsers keep it for good and never show an old one.
 */
import { createHash } from "node:crypto";

export const STYLESHEET = `
:root {
  color-scheme: light dark;
  --ground: #fbfaf7;
  --raised: #ffffff;
  --ink: #1d2125;
  --faint: #5b636b;
  --line: #dcd9d1;
  --link: #0b5cad;
  --go: #1a7f4b;
  --code: #f1efe9;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #14171a;
    --raised: #1c2024;
    --ink: #e6e8ea;
    --faint: #a0a8b0;
    --line: #343a40;
    --link: #7db8f5;
    --go: #4cc38a;
    --code: #23282d;
  }
}
* { box-sizing: border-box; }
html { font: 1rem/1.6 system-ui, sans-serif; background: var(--ground); color: var(--ink); }
body { margin: 0; }
a { color: var(--link); }
a:focus-visible, summary:focus-visible, pre:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
.skip { position: absolute; left: -99rem; }
.skip:focus { left: 1rem; top: 1rem; background: var(--raised); padding: 0.5rem 1rem; }
header, main, footer { max-width: 62rem; margin: 0 auto; padding: 0 1.25rem; }
header { display: flex; flex-wrap: wrap; gap: 0.25rem 1.5rem; align-items: baseline; padding-block: 1.25rem; }
header .name { font-weight: 700; font-size: 1.1rem; margin-right: auto; }
header a { text-decoration: none; color: inherit; }
header nav { display: flex; gap: 1.25rem; }
header nav a { padding-block: 0.25rem; border-bottom: 2px solid transparent; }
header nav a:hover, header nav a[aria-current] { border-color: var(--go); }
h1 { font-size: clamp(1.8rem, 5vw, 2.6rem); line-height: 1.15; margin: 1.5rem 0 0.5rem; }
h2 { font-size: 1.35rem; margin: 2.75rem 0 0.5rem; }
h3 { font-size: 1rem; margin: 1.5rem 0 0.25rem; }
p { max-width: 44rem; }
.lede { font-size: 1.15rem; color: var(--faint); }
.lamp { display: inline-block; width: 0.7rem; height: 0.7rem; border-radius: 50%; background: var(--go); margin-right: 0.5rem; }
.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); gap: 1rem 1.5rem; margin: 1.5rem 0; padding: 1.25rem; background: var(--raised); border: 1px solid var(--line); border-radius: 0.5rem; }
.facts dt { font-size: 0.85rem; color: var(--faint); }
.facts dd { margin: 0; font-weight: 600; overflow-wrap: anywhere; }
code, pre { font-family: ui-monospace, monospace; font-size: 0.9em; }
code { background: var(--code); padding: 0.1em 0.3em; border-radius: 0.2rem; overflow-wrap: anywhere; }
pre { background: var(--code); padding: 0.9rem 1rem; border-radius: 0.4rem; overflow-x: auto; line-height: 1.5; user-select: all; }
pre code { background: none; padding: 0; overflow-wrap: normal; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 0.95rem; }
th, td { text-align: left; vertical-align: top; padding: 0.5rem 1rem 0.5rem 0; border-bottom: 1px solid var(--line); }
thead th { font-size: 0.85rem; font-weight: 600; color: var(--faint); }
details { border-bottom: 1px solid var(--line); padding: 0.6rem 0; }
details[open] { padding-bottom: 1.5rem; }
summary { cursor: pointer; display: grid; grid-template-columns: 4.5rem minmax(0, 1fr); gap: 0 0.75rem; }
summary .what { grid-column: 2; color: var(--faint); }
.method { font: 700 0.85rem/1.8 ui-monospace, monospace; }
footer { margin-top: 4rem; padding-block: 1.5rem; border-top: 1px solid var(--line); color: var(--faint); font-size: 0.9rem; }
@media print { header nav, .skip { display: none; } }
`;

const hash = createHash("sha256").update(STYLESHEET).digest("hex").slice(0, 12);

/** Where the stylesheet is served. */
export const STYLESHEET_PATH = `/portal/portal-${hash}.css`;
