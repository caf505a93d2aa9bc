/**
 * Characters that a terminal or log viewer interprets, or that a reader cannot see: control characters, direction
 * marks, line separators, characters without width, and halves of surrogate pairs. The expression excludes the two
 * harmless variation selectors that choose between plain and colored emoji.
 */
const unsafe =
  /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}\ufff9-\ufffb]|(?![\ufe0e\ufe0f])\p{Default_Ignorable_Code_Point}/u;

/** Commands of build systems anywhere in a line: `##[`, `##vso[`, `##teamcity[`. */
const order = /##(?=[\w.-]*\[)/g;
/** Commands of build systems at the beginning of a line: `::error …::`, `::add-mask::`. */
const command = /^(\s*):(?=:\s*[a-z])/i;
/** Build-system commands within JSON, because a consumer may print a value of the JSON on a line of its own. */
const commandInJson = /::(?=[a-z][\w-]*(?:\s[^\n]*?)?::)/gi;

const names: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/**
 * Escapes an untrusted text (from a manifest, data, the service, file names) for one line on a terminal or in a log.
 * Unsafe characters become visible escapes such as `\x1b` and `\u202e`. A text that is too long ends with `…`.
 * `maxLength`: maximum length of the result in UTF-16 units, including the `…`.
 */
export function safeText(text: string, maxLength = 500): string {
  let safe = '';
  let lengthWithRoom = 0;
  for (const character of text
    .slice(0, maxLength + 1)
    .replace(order, '#\\x23')
    .replace(command, '$1\\x3a')) {
    const shown = safeCharacter(character);
    if (safe.length + shown.length <= maxLength - 1) lengthWithRoom = safe.length + shown.length;
    safe += shown;
    if (safe.length > maxLength) return maxLength < 1 ? '' : `${safe.slice(0, lengthWithRoom)}…`;
  }
  return safe;
}

function safeCharacter(character: string): string {
  if (!unsafe.test(character)) return character;
  const name = names[character];
  if (name !== undefined) return name;
  const code = character.codePointAt(0) ?? 0;
  const digits = code.toString(16);
  if (code <= 0xff) return `\\x${digits.padStart(2, '0')}`;
  return code <= 0xffff ? `\\u${digits.padStart(4, '0')}` : `\\u{${digits}}`;
}

const unsafeInJson = new RegExp(unsafe.source, 'gu');

/**
 * Returns JSON with `\u` escapes for the characters that `safeText` escapes and for the second character of
 * build-system commands. The escaped JSON parses to the same value and is harmless on a terminal and in a log.
 */
export function safeJson(value: unknown, indent = 0): string {
  return escapeQuoted(JSON.stringify(value, undefined, indent));
}

const mayBeUnsafe = /[^ -~\n]|##|::/;

/** Escapes YAML or JSON like `safeJson`. Precondition: unsafe characters and commands are only in double quotes. */
export function escapeQuoted(text: string): string {
  // Most texts are safe, and the test for unsafe characters takes a twentieth of the time of the replacements.
  if (!mayBeUnsafe.test(text)) return text;
  return text
    .replace(unsafeInJson, (found) => (found === '\n' ? found : escapeUnits(found)))
    .replace(order, '#\\u0023') // I23
    .replace(commandInJson, ':\\u003a');
}

function escapeUnits(text: string): string {
  let escaped = '';
  for (let index = 0; index < text.length; index += 1) {
    escaped += `\\u${text.charCodeAt(index).toString(16).padStart(4, '0')}`;
  }
  return escaped;
}

/** Returns a text such as `a, b, … and 3 more`. Escapes the names. */
export function shortList(names: readonly string[], most: number): string {
  const shown = names.slice(0, most).map((name) => safeText(name, 300));
  const hidden = names.length - shown.length;
  return `${shown.join(', ')}${hidden > 0 ? `, … and ${hidden} more` : ''}`;
}

/**
 * Returns a CSV table (RFC 4180). A string that a spreadsheet would run as a formula gets a leading apostrophe. With
 * semicolons as separators, numbers have a decimal comma.
 */
export function csvText(rows: Iterable<readonly (string | number)[]>, separator: ',' | ';' = ','): string {
  const lines: string[] = [];
  for (const cells of rows) lines.push(`${cells.map((cell) => cellText(cell, separator)).join(separator)}\r\n`);
  return lines.join('');
}

function cellText(cell: string | number, separator: ',' | ';'): string {
  if (typeof cell === 'number') return separator === ',' ? String(cell) : String(cell).replace('.', ',');
  const inert = mayCalculate.test(cell) && !isNumber.test(cell) ? `'${cell}` : cell;
  return mustQuote.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert;
}

const mayCalculate = /^[=+\-@\t\r]/;
const isNumber = /^[+-]?\d+(?:\.\d+)?$/;
const mustQuote = /[",;\r\n]/;

/** Escapes commands of GitHub Actions: `::` at the start of a line or after leading spaces, and `##[` anywhere. */
export function inertText(text: string): string {
  return text.replaceAll(/^(\s*):(?=:)/gm, `$1:${noSpace}`).replaceAll(/##(?=\[)/g, `##${noSpace}`);
}

const noSpace = '\u200b';
