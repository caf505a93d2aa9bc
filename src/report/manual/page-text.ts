import { lexer, type Token, type Tokens } from 'marked';
import { type Block, type Column, type Document, heading, paragraph, type Span, stack, strong } from '../document.ts';
import { terminalText } from '../render/terminal-text.ts';
import type { Style } from '../style.ts';

const widest = 100;

export function pageText(markdown: string, { style, width }: { style: Style; width: number }): string {
  return terminalText(readPage(markdown), { style, width: Math.min(widest, width - 1) });
}

function readPage(markdown: string): Document {
  const blocks: Block[] = [];
  let isNamed = false;
  for (const token of lexer(markdown)) {
    const block = blockOf(token);
    if (block === undefined) continue;
    // No blank line follows a heading of level 3.
    if (isNamed) blocks.push(stack(blocks.pop(), block));
    else blocks.push(block);
    isNamed = token.type === 'heading' && token.depth === 3;
  }
  return blocks;
}

function blockOf(token: Token): Block | undefined {
  switch (token.type) {
    case 'space':
      return undefined;
    case 'heading':
      return heading(
        childrenOf(token)
          .map((part) => ('text' in part ? part.text : ''))
          .join(''),
      );
    case 'paragraph':
    case 'text':
      return paragraph(spansIn(childrenOf(token)));
    case 'list': {
      const { ordered, start, items, loose } = token as Tokens.List;
      const signs = ordered ? items.map((_, index) => `${Number(start) + index}.`) : [];
      return { is: 'list', items: items.map((item) => item.tokens.map(blockOf)), isLoose: loose, signs };
    }
    case 'code': {
      const { text, lang = '' } = token as Tokens.Code;
      const [language = '', ...name] = lang.split(' ');
      const isNamed = name.length > 0 && language !== 'sh';
      if (language === 'run') return { is: 'code', text: name.join(' ') };
      if (language === 'link') return { is: 'code', text: '', name: `${name.join(' ')}, a symbolic link to ${text}` };
      return { is: 'code', text, language, ...(isNamed && { name: name.join(' ') }) };
    }
    case 'table':
      return tableOf(token as Tokens.Table);
    default:
      throw new Error(`internal error: a page of the manual has a ${token.type}`);
  }
}

function tableOf({ header, rows }: Tokens.Table): Block {
  const columns = header.map(({ text }): Column => ({ title: text, cut: 'wrap' }));
  return { is: 'table', columns, rows: rows.map((row) => row.map(({ tokens }) => spansIn(tokens))) };
}

function spansIn(tokens: readonly Token[]): Span[] {
  return tokens.flatMap((token): Span[] => {
    switch (token.type) {
      case 'codespan':
      // The text of a link is the command that shows its target.
      case 'link':
        return [{ text: token.text.replace(/\s+/g, ' '), mark: 'code' }];
      case 'strong':
        return spansIn(childrenOf(token)).map((span) => (typeof span === 'string' ? strong(span) : span));
      case 'em':
        return spansIn(childrenOf(token));
      case 'text':
      case 'escape':
        return 'tokens' in token && token.tokens ? spansIn(token.tokens) : [token.text.replace(/\s+/g, ' ')];
      default:
        throw new Error(`internal error: a page of the manual has a ${token.type} in a line`);
    }
  });
}

function childrenOf(token: Token): Token[] {
  return ('tokens' in token && (token as Tokens.Generic).tokens) || [];
}
