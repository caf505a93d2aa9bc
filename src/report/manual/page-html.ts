import { Marked, type Tokens } from 'marked';
import { titles } from '../../contract/failure.ts';
import { manualStyle } from './manual-style.ts';
import { topicGroups } from './topics.ts';

/** Mark of a page that `help --html` wrote. */
export const manualMark = '<meta name="generator" content="mediabatch help --html">';

/** A page of the manual as a file that needs nothing but itself: no script, and nothing from elsewhere. */
export function pageHtml(name: string, markdown: string): string {
  const title = /^# (.+)$/m.exec(markdown)?.[1] ?? name;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
${manualMark}
<title>${escapeHtml(title)} · mediabatch</title>
<style>${manualStyle}</style>
</head>
<body>
<nav aria-label="Manual"><a class="home" href="index.html"${name === 'index' ? ' aria-current="page"' : ''}>mediabatch</a>
${navigation(name)}</nav>
<main>
${makeWriter().parse(markdown, { async: false })}</main>
</body>
</html>
`;
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
