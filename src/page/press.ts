/** A key press, independent of keyboard layout. */
export interface Press extends Pick<KeyboardEvent, 'code' | 'shiftKey'> {
  /** Value of `KeyboardEvent.key` on a Latin keyboard, in lower case. */
  key: string;
  isCommand: boolean;
}

export function pressOf(event: KeyboardEvent): Press {
  const { code, shiftKey, ctrlKey, metaKey } = event;
  // On the number row, a key picks and Shift with a key rejects, even if digits need Shift (AZERTY).
  const isPlain = !shiftKey && !event.altKey && !event.getModifierState('AltGraph');
  const digit = isPlain ? digitKey(code) : undefined;
  return { key: digit ?? keyOf(event), code, shiftKey, isCommand: ctrlKey || metaKey };
}

export function digitKey(code: string): string | undefined {
  return /^Digit(\d)$/.exec(code)?.[1];
}

const signs: { [code: string]: readonly [plain: string, shifted: string] | undefined } = {
  BracketLeft: ['[', '['],
  BracketRight: [']', ']'],
  Comma: [',', '<'],
  Period: ['.', '>'],
};

/** Returns the Latin key. On a Greek or Cyrillic keyboard, this is the Latin key at the same position. */
function keyOf({ key: written, code, shiftKey }: Pick<KeyboardEvent, 'key' | 'code' | 'shiftKey'>): string {
  // Full-width characters, from East Asian input methods, become ASCII.
  const key = written.normalize('NFKC');
  if ([...key].length > 1) return written;
  const isForeign = /^[\p{L}\p{Nd}]$/u.test(key) && !/^[\p{Script=Latin}0-9]$/u.test(key);
  const meant = isForeign
    ? (/^(?:Key|Digit|Numpad)(.)$/.exec(code)?.[1] ?? signs[code]?.[shiftKey ? 1 : 0])
    : undefined;
  return (meant ?? key).toLowerCase();
}
