/** A piece of a rendered text: written in the template, or filled in from the sources that it names. */
export interface Piece {
  text: string;
  /** Names such as `row.mood`. Absent: the template's own words. */
  sources?: readonly string[];
}

/** A template of hundreds of names is not worth a pass for each. */
export const mostSources = 40;

/**
 * Finds the sources whose values alone explain that a template once gave another text: the template's own words are all
 * in it, in order. Empty: they are not, so the template itself was another one. One source is preferred to several.
 */
export function findChangedSources(pieces: readonly Piece[], before: string): string[] {
  const sources = [...new Set(pieces.flatMap((piece) => piece.sources ?? []))];
  const alone = sources.slice(0, mostSources).find((source) => isExplainedBy(source, pieces, before));
  if (alone !== undefined) return [alone];
  // Without words of its own a template would explain any text.
  const hasWords = pieces.some(({ text, sources: of }) => of === undefined && /[\p{L}\p{N}]/u.test(text));
  const found = hasWords ? align(pieces, before, (piece) => piece.sources !== undefined) : undefined;
  if (found === undefined) return [];
  const changed = pieces.flatMap((piece, index) => {
    const [source] = piece.sources ?? [];
    return source === undefined || found[index] === piece.text ? [] : [source];
  });
  return [...new Set(changed)];
}

type IsFree = (piece: Piece) => boolean;

/** Tells whether another value of this one source gives the earlier text. */
export function isExplainedBy(source: string, pieces: readonly Piece[], before: string): boolean {
  return align(pieces, before, ({ sources }) => sources?.includes(source) === true) !== undefined;
}

/**
 * Reads `before` as the pieces in order, where the free ones may be any text: what each of them is in it. The leftmost
 * place of each fixed text is taken, which finds a reading whenever there is one, in linear time.
 */
function align(pieces: readonly Piece[], before: string, isFree: IsFree): string[] | undefined {
  const texts: string[] = pieces.map(() => '');
  let at = 0;
  let open: number | undefined;
  const close = (end: number) => {
    if (open !== undefined) texts[open] = before.slice(at, end);
  };
  for (let index = 0; index < pieces.length; ) {
    const piece = pieces[index];
    if (piece === undefined) break;
    if (isFree(piece)) {
      open ??= index;
      index += 1;
      continue;
    }
    // Neighbouring fixed pieces are one text, which must be found whole.
    let fixed = '';
    const from = index;
    for (let next = pieces[index]; next !== undefined && !isFree(next); next = pieces[index]) {
      fixed += next.text;
      index += 1;
    }
    const isLast = index === pieces.length;
    const start = open === undefined ? at : isLast ? before.length - fixed.length : before.indexOf(fixed, at);
    if (start < at || !before.startsWith(fixed, start)) return undefined;
    close(start);
    open = undefined;
    at = start + fixed.length;
    for (let own = from; own < index; own += 1) texts[own] = pieces[own]?.text ?? '';
  }
  if (open === undefined) return at === before.length ? texts : undefined;
  close(before.length);
  return texts;
}
