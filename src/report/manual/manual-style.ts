/** The colours and sizes of the review page, so that pages of one program look like one. */
export const manualStyle = `
:root { color-scheme: light dark; --ground: #f6f5f2; --card: #fff; --sunken: #eae8e2; --line: #d3d0c7; --text: #1d1c1a; --quiet: #5b5851; --accent: #4f46c8; --soft: #e7e5fa }
@media (prefers-color-scheme: dark) { :root { --ground: #141517; --card: #1d1f22; --sunken: #0e0f10; --line: #3a3d42; --text: #eceae6; --quiet: #aaa8a2; --accent: #a5a0ff; --soft: #2c2b4d } }
*, *::before, *::after { box-sizing: border-box }
body { margin: 0; background: var(--ground); color: var(--text); font: 15px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; display: grid; grid-template-columns: 13rem minmax(0, 46rem); gap: 2.5rem; max-width: 66rem; margin-inline: auto; padding: 0 1.5rem 4rem; overflow-wrap: break-word }
nav { position: sticky; top: 0; align-self: start; max-height: 100vh; overflow-y: auto; padding: 1.5rem 0 1rem 8px; font-size: 14px; line-height: 1.45 }
nav h2 { font-size: 12px; font-weight: 600; color: var(--quiet); margin: .8rem 0 .1rem }
nav ul { list-style: none; margin: 0; padding: 0 }
nav li { margin: 0 }
nav a { display: block; color: inherit; text-decoration: none; padding: 1px 8px; margin-left: -8px; border-radius: 6px }
nav a:hover { text-decoration: underline }
nav a[aria-current] { background: var(--soft); color: var(--accent); font-weight: 600 }
nav .home { font-weight: 650; font-size: 16px }
main { padding-top: 1.25rem; min-width: 0 }
h1, h2, h3 { line-height: 1.25; text-wrap: balance; scroll-margin-top: 1rem }
h1 { font-size: 26px; margin: .4rem 0 1rem }
main h2 { font-size: 19px; margin: 2.2rem 0 .6rem; padding-top: .6rem; border-top: 1px solid var(--line) }
h3 { font-size: 15px; margin: 1.3rem 0 .2rem }
h3 + p { margin-top: 0 }
p, ul, ol, pre, figure { margin: 0 0 .9rem }
ul, ol { padding-left: 1.3rem }
li { margin-bottom: .3rem }
a { color: var(--accent) }
a code { color: inherit }
.anchor { color: var(--quiet); text-decoration: none; font-weight: 400; opacity: 0 }
:is(h2, h3):hover .anchor, .anchor:focus-visible { opacity: 1 }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 3px }
code, pre { font: 13px/1.5 ui-monospace, "SF Mono", Menlo, Consolas, monospace }
:not(pre) > code { background: var(--sunken); border-radius: 4px; padding: 1px 4px; overflow-wrap: anywhere }
pre { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: .7rem .9rem; overflow-x: auto }
figcaption { font-size: 13px; color: var(--quiet); margin-bottom: .2rem }
.wide { overflow-x: auto; margin-bottom: .9rem }
table { border-collapse: collapse; width: 100%; font-size: 14px }
th, td { text-align: left; vertical-align: top; padding: .35rem .8rem .35rem 0; border-bottom: 1px solid var(--line) }
th { color: var(--quiet); font-weight: 500 }
td:first-child:not(:last-child) > code:only-child { white-space: nowrap }
@media (max-width: 44rem) { body { display: block; padding: 0 1rem 3rem } nav { position: static; max-height: none; padding-bottom: 0 } nav h2 { display: none } nav ul, nav li { display: inline-block } nav li { margin-right: 16px } }
@media print { nav, .anchor { display: none } body { display: block; background: #fff; color: #000 } pre { white-space: pre-wrap } }
`;
