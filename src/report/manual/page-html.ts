import { Marked, type Tokens } from 'marked';
import { titles } from '../../contract/failure.ts';
import { topicGroups } from './topics.ts';

/** The colours and sizes of the review page, so that pages of one program look like one. */
const manualStyle = `
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
nav .index { font-weight: 650; font-size: 16px }
#words { font: inherit; color: inherit; background: var(--card); border: 1px solid var(--line); border-radius: 6px; padding: .3rem .6rem; width: min(24rem, 100%) }
#count, #found p { color: var(--quiet); font-size: 14px }
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

/** Mark of a page that `help --html` wrote. */
export const manualMark = '<meta name="generator" content="mediabatch help --html">';

/** A page of the manual as a file that needs nothing but itself: no script, and nothing from elsewhere. */
export function pageHtml(name: string, markdown: string): string {
  const title = /^# (.+)$/m.exec(markdown)?.[1] ?? name;
  return pageShell(name, { title, main: makeWriter().parse(markdown, { async: false }) });
}

/** `scripts`: what a policy says of them, where there are any. */
function pageShell(
  name: string,
  { title, main, scripts = '' }: { title: string; main: string; scripts?: string },
): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; ${scripts}base-uri 'none'; form-action 'none'">
${manualMark}${name === 'search' ? '' : `\n<link rel="alternate" type="text/markdown" href="${name}.md">`}
<title>${escapeHtml(title)} · mediabatch</title>
<style>${manualStyle}</style>
</head>
<body>
<nav aria-label="Manual">${linkTo('index', 'mediabatch', name)}
${linkTo('search', 'Search', name)}
${navigation(name)}</nav>
<main>
${main}</main>
</body>
</html>
`;
}

function linkTo(page: 'index' | 'search', words: string, here: string): string {
  return `<a class="${page}" href="${page}.html"${page === here ? ' aria-current="page"' : ''}>${words}</a>`;
}

function navigation(here: string): string {
  return Object.entries(topicGroups)
    .map(([group, names]) => {
      const items = Object.keys(names).map((name) => {
        const current = name === here ? ' aria-current="page"' : '';
        return `<li><a href="${name}.html"${current}>${name}</a></li>`;
      });
      return `<h2>${group}</h2>\n<ul>${items.join('')}</ul>\n`;
    })
    .join('');
}

/** Headings have anchors that are unique within their page. */
function makeWriter(): Marked {
  const seen = new Map<string, number>();
  return new Marked({
    renderer: {
      heading(token) {
        const words = this.parser.parseInline(token.tokens);
        if (token.depth === 1) return `<h1>${words}</h1>\n`;
        const slug = slugOf(token.text);
        const times = seen.get(slug) ?? 0;
        seen.set(slug, times + 1);
        const id = times === 0 ? slug : `${slug}-${times + 1}`;
        return `<h${token.depth} id="${id}">${words} <a class="anchor" href="#${id}" aria-label="link to this section">#</a></h${token.depth}>\n`;
      },
      code: ({ text, lang }) => codeHtml(text, lang ?? ''),
      codespan: ({ text }) => linked(text, `<code>${escapeHtml(text)}</code>`),
      link(token) {
        const words = this.parser.parseInline(token.tokens);
        const href = token.href.replace(/^(\w+)\.md(?=#|$)/, '$1.html');
        // Within a link there is no other.
        return `<a href="${escapeHtml(href)}">${words.replace(/<a [^>]*>|<\/a>/g, '')}</a>`;
      },
      table(token) {
        const cells = (all: Tokens.TableCell[], tag: string) =>
          all.map(({ tokens }) => `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`).join('');
        const head = token.header.some(({ text }) => text !== '')
          ? `<thead><tr>${cells(token.header, 'th')}</tr></thead>`
          : '';
        const rows = token.rows.map((one) => `<tr>${cells(one, 'td')}</tr>\n`).join('');
        return `<div class="wide" tabindex="0"><table>${head}<tbody>\n${rows}</tbody></table></div>\n`;
      },
    },
  });
}

/** `MB1203-a-template-names`: where a section stands in its page. Of a code it is the code. */
export function slugOf(heading: string): string {
  const code = /^MB\d{4}/.exec(heading)?.[0];
  return (
    code ??
    heading
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-|-$/g, '')
  );
}

function codeHtml(text: string, lang: string): string {
  const [language = '', ...name] = lang.split(' ');
  const caption = language === 'sh' ? '' : captionOf(language, name.join(' '));
  const body = `<pre tabindex="0"><code>${escapeHtml(text)}</code></pre>`;
  return caption === '' ? `${body}\n` : `<figure><figcaption>${escapeHtml(caption)}</figcaption>${body}</figure>\n`;
}

/** `says` and `run` are of the pages about codes. */
function captionOf(language: string, name: string): string {
  return language === 'says' ? `${name} says` : name;
}

function linked(text: string, html: string): string {
  return Object.hasOwn(titles, text) ? `<a href="codes.html#${text}">${html}</a>` : html;
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

/** A part of a page, from one heading to the next. */
interface Section {
  href: string;
  title: string;
  text: string;
}

/** Runs in the page: shows the sections that have all words, those first that have them in their heading. */
export const searchScript = `
const sections = JSON.parse(document.getElementById('sections').textContent);
const [field, list, count] = ['words', 'found', 'count'].map((id) => document.getElementById(id));
const show = () => {
  const words = field.value.toLowerCase().split(/\\s+/).filter(Boolean);
  const has = (text) => words.every((word) => text.toLowerCase().includes(word));
  const found = words.length === 0 ? [] : sections.filter(({ title, text }) => has(title + ' ' + text));
  const order = [...found.filter(({ title }) => has(title)), ...found.filter(({ title }) => !has(title))];
  count.textContent = words.length === 0 ? '' : found.length === 1 ? '1 section' : found.length + ' sections';
  list.replaceChildren(...order.slice(0, 50).map(({ href, title, text }) => {
    const [item, link, line] = ['li', 'a', 'p'].map((name) => document.createElement(name));
    const at = Math.max(0, text.toLowerCase().indexOf(words[0]) - 60);
    Object.assign(link, { href, textContent: title });
    line.textContent = (at > 0 ? '… ' : '') + text.slice(at, at + 200) + ' …';
    item.append(link, line);
    return item;
  }));
};
field.addEventListener('input', show);
// A browser that goes back brings the words back, too.
addEventListener('pageshow', show);
`;

/** A page that searches the others, given as they are written. `digest`: of the script, as a policy names it. */
export function searchHtml(pages: ReadonlyMap<string, string>, digest: string): string {
  const sections = [...pages].flatMap(([name, html]) => sectionsOf(name, html));
  const json = JSON.stringify(sections).replaceAll('<', '\\u003c');
  const main = `<h1>Search</h1>
<p><label for="words">Words</label> <input id="words" type="search" autofocus autocomplete="off" spellcheck="false"> <span id="count" role="status"></span></p>
<ol id="found"></ol>
<noscript><p>The search needs scripts, which this browser does not run; <code>mediabatch help</code> lists all pages.</p></noscript>
<script type="application/json" id="sections">${json}</script>
<script>${searchScript}</script>
`;
  return pageShell('search', { title: 'Search', main, scripts: `script-src '${digest}'; ` });
}

function sectionsOf(name: string, html: string): Section[] {
  const main = /<main>(.*)<\/main>/s.exec(html)?.[1] ?? '';
  const page = textOf(/<h1>(.*?)<\/h1>/s.exec(main)?.[1] ?? name);
  return main.split(/(?=<h[23] )/).map((part): Section => {
    const [heading, id, words = ''] = /^<h[23] id="([^"]+)">(.*?) <a class="anchor".*?<\/h[23]>/s.exec(part) ?? [];
    const text = textOf(heading === undefined ? part.replace(/<h1>.*?<\/h1>/s, '') : part.slice(heading.length));
    if (heading === undefined) return { href: `${name}.html`, title: page, text };
    return { href: `${name}.html#${id}`, title: `${page}: ${textOf(words)}`, text };
  });
}

/** Takes the tags out of the pages' own HTML, where none has a `>` in it. */
function textOf(html: string): string {
  return html
    .replace(/<[^>]*>/g, ' ')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
    .replace(/\s+/g, ' ')
    .trim();
}

/** Stands in each text that `help --html` wrote: by it the folder is known as one that may be replaced. */
export const textMark = '<!-- written by mediabatch help --html -->';

/** A page as Markdown in a file of its own, links and all. */
export function pageFile(markdown: string): string {
  const [heading = '', ...rest] = markdown.split('\n');
  return [heading, '', textMark, ...rest].join('\n');
}

/** The contents of the manual, for a program that reads it: a line for each page, as llmstxt.org describes it. */
export function llmsText(): string {
  const groups = Object.entries(topicGroups).map(([group, pages]) => {
    const lines = Object.entries(pages).map(([name, about]) => `- [${name}](${name}.md): ${about}`);
    return `## ${group}\n\n${lines.join('\n')}`;
  });
  const about =
    '> A YAML file in git says what media are wanted; mediabatch plans what they cost, buys them inside a budget, and never pays twice. A program at the keys begins with agents.md.';
  return `${['# mediabatch', textMark, about, ...groups].join('\n\n')}\n`;
}
