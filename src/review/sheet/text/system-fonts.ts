import { readFile, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { listFolder } from '../../../disk/fs/list-folder.ts';

/** Where the common systems keep fonts. */
function fontFolders(): string[] {
  const home = homedir();
  switch (process.platform) {
    case 'darwin':
      return ['/System/Library/Fonts', '/Library/Fonts', join(home, 'Library/Fonts')];
    case 'win32': {
      const { WINDIR = 'C:\\Windows', LOCALAPPDATA } = process.env;
      return [join(WINDIR, 'Fonts'), ...(LOCALAPPDATA ? [join(LOCALAPPDATA, 'Microsoft/Windows/Fonts')] : [])];
    }
    default:
      return ['/usr/share/fonts', '/usr/local/share/fonts', join(home, '.local/share/fonts'), join(home, '.fonts')];
  }
}

const deepest = 4;
const mostFonts = 5000;
/** The largest that systems bring holds the emoji of macOS. In bytes. */
const mostBytes = 256 * 1024 * 1024;
/** Fonts that are opened in search of a sign. */
const mostTries = 24;

const isFont = /\.(?:ttf|otf|ttc)$/i;
const isOfOtherCut = /bold|italic|oblique|black|light|thin|medium|condensed|mono|serif|[-_ ]hw|bd\.|bi\.|[a-z]z\.ttf/i;

/** Scripts whose font in the Noto family has their name. */
const notoScripts = [
  ...['Armenian', 'Bengali', 'Cherokee', 'Ethiopic', 'Georgian', 'Gujarati', 'Gurmukhi', 'Javanese', 'Kannada'],
  ...['Khmer', 'Lao', 'Malayalam', 'Mongolian', 'Myanmar', 'Oriya', 'Sinhala', 'Syriac', 'Tamil', 'Telugu', 'Thaana'],
  ...['Tibetan', 'Arabic', 'Hebrew', 'Devanagari', 'Thai'],
].map((name) => ({ signs: new RegExp(`\\p{Script=${name}}`, 'u'), font: new RegExp(`^NotoSans${name}[-.[]`, 'i') }));

/** What is known to have these signs, and to be there on some system. */
const known = [
  {
    signs:
      /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}\u3000-\u303f\uff00-\uffef]/u,
    font: /^(?:NotoSans(?:CJK|SC|JP|TC|KR)|SourceHanSans|PingFang|Hiragino Sans GB|AppleSDGothicNeo|msyh\.|YuGothR|meiryo\.|msgothic|malgun\.|simsun|wqy|DroidSansFallback|VL-Gothic|ipag|Nanum)/i,
  },
  {
    signs: /\p{Extended_Pictographic}|\p{Regional_Indicator}/u,
    font: /^(?:NotoColorEmoji|Apple Color Emoji|seguiemj|NotoEmoji)/i,
  },
  { signs: /\p{Script=Common}/u, font: /^(?:DejaVuSans\.|NotoSans(?:Symbols|Math)|Apple Symbols|seguisym)/i },
  { signs: /./su, font: /^(?:Nirmala|Arial Unicode|DejaVuSans\.|FreeSans\.|Segoeui\.)/i },
  ...notoScripts,
];

/** Fonts of this system that may have signs of a text, the likeliest first. Limited; what cannot be read is passed over. */
export async function* systemFonts(signs: string): AsyncGenerator<Uint8Array> {
  const wanted = known.filter((one) => one.signs.test(signs)).map(({ font }) => font);
  const rankOf = (name: string) => {
    const rank = wanted.findIndex((font) => font.test(name));
    return (rank < 0 ? wanted.length : rank) + (isOfOtherCut.test(name) ? 2 * known.length : 0);
  };
  const found: { path: string; rank: number }[] = [];
  const visit = async (folder: string, depth: number): Promise<void> => {
    for (const entry of await listFolder(folder)) {
      if (found.length >= mostFonts) return;
      const path = join(folder, entry.name);
      if (entry.isDirectory() && depth < deepest) await visit(path, depth + 1);
      else if (isFont.test(entry.name)) found.push({ path, rank: rankOf(entry.name) });
    }
  };
  for (const folder of fontFolders()) await visit(folder, 0);
  for (const { path } of found.sort((a, b) => a.rank - b.rank).slice(0, mostTries)) {
    try {
      if ((await stat(path)).size <= mostBytes) yield await readFile(path);
    } catch {
      // Gone, or not for us.
    }
  }
}
