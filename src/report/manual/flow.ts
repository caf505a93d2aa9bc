import type { Token, Tokens } from 'marked';
import type { Style } from '../style.ts';
import { displayWidth } from '../text-width.ts';

/** A part of a line that is painted in one way. */
export interface Piece {
  text: string;
  paint(text: string): string;
  /** Not broken at its spaces. */
  isWhole?: boolean;
}

/** Longest code, in columns, that stands in one line. */
const longestWhole = 40;

const asItIs = (text: string) => text;

/** The words of a paragraph. Without colours code keeps its backticks. */
export function piecesOf(tokens: readonly Token[], style: Style): Piece[] {
  return tokens.flatMap((token): Piece[] => {
    switch (token.type) {
      case 'codespan':
        return [codePiece(token.text, style)];
      // Its words are the command that shows where it leads.
      case 'link':
        return [codePiece(token.text, style)];
      case 'strong':
        return piecesOf(childrenOf(token), style).map(({ text }) => piece(text, style.bold));
      case 'em':
        return piecesOf(childrenOf(token), style);
      case 'text':
      case 'escape':
        return 'tokens' in token && token.tokens ? piecesOf(token.tokens, style) : [piece(token.text)];
      default:
        throw new Error(`internal error: a page of the manual has a ${token.type} in a line`);
    }
  });
}

function codePiece(text: string, style: Style): Piece {
  const shown = style.cyan('') === '' ? piece(`\`${text}\``) : piece(text, style.cyan);
  return { ...shown, isWhole: displayWidth(text) <= longestWhole };
}

export function piece(text: string, paint: Piece['paint'] = asItIs): Piece {
  return { text: text.replace(/\s+/g, ' '), paint };
}

export function childrenOf(token: Token): Token[] {
  return ('tokens' in token && (token as Tokens.Generic).tokens) || [];
}

export function widthOf(pieces: readonly Piece[]): number {
  return displayWidth(pieces.map(({ text }) => text).join(''));
}

/** Breaks at spaces only, so that what is to be copied stays whole: a longer word makes a longer line. */
export function wrapPieces(pieces: readonly Piece[], width: number): string[] {
  const lines: string[] = [];
  let line = '';
  let used = 0;
  for (const word of wordsOf(pieces)) {
    const wide = widthOf(word);
    const painted = word.map(({ text, paint }) => paint(text)).join('');
    if (used > 0 && used + 1 + wide > width) {
      lines.push(line);
      [line, used] = [painted, wide];
    } else {
      [line, used] = used === 0 ? [painted, wide] : [`${line} ${painted}`, used + 1 + wide];
    }
  }
  return used === 0 ? lines : [...lines, line];
}

/** A word may be painted in several ways: a code with a comma after it. */
function wordsOf(pieces: readonly Piece[]): Piece[][] {
  const words: Piece[][] = [[]];
  for (const { text, paint, isWhole } of pieces) {
    for (const [index, part] of (isWhole ? [text] : text.split(' ')).entries()) {
      if (index > 0) words.push([]);
      if (part !== '') words.at(-1)?.push({ text: part, paint });
    }
  }
  return words.filter((word) => word.length > 0);
}
