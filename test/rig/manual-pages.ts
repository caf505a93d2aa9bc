import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { lexer, type Token, type Tokens } from 'marked';
import { root } from './command.ts';

const folder = join(root, 'src/manual');

/** Names of the manual's pages, sorted. */
export const pageNames = readdirSync(folder)
  .map((file) => file.replace(/\.md$/, ''))
  .sort();

/** A page as it is written, without what tables add. */
export function readPage(name: string): string {
  return readFileSync(join(folder, `${name}.md`), 'utf8');
}

/** The fenced blocks of a page in a language: what stands after the language, and the text. */
export function blocksOf(name: string, language: string): { name: string; text: string }[] {
  return lexer(readPage(name))
    .filter((token): token is Tokens.Code => token.type === 'code')
    .flatMap(({ lang = '', text }) => {
      const [own, ...rest] = lang.split(' ');
      return own === language ? [{ name: rest.join(' '), text }] : [];
    });
}

/** Everything that a page writes as code in its sentences. */
export function codeSpansOf(name: string): string[] {
  const spans: string[] = [];
  const visit = (token: Token): void => {
    if (token.type === 'codespan') spans.push(token.text);
    const { tokens = [], items = [], rows = [] } = token as Tokens.Generic;
    for (const one of [...tokens, ...items, ...rows.flat()]) visit(one);
  };
  for (const token of lexer(readPage(name))) visit(token);
  return spans;
}

/** Returns the anchor of a heading, as sites that show Markdown make it. */
export function slugOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
}
