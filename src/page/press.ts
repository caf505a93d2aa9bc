/** A key press, independent of keyboard layout. */
export interface Press extends Pick<KeyboardEvent, 'code' | 'shiftKey' | 'repeat' | 'timeStamp'> {
  /** Value of `KeyboardEvent.key` on a Latin keyboard; letters are in lower case. */
  key: string;
  /** Whether Ctrl was pressed, or Command on a Mac. */
  isCommand: boolean;
}

export function pressOf(event: KeyboardEvent): Press {
  const { code, shiftKey, repeat, timeStamp, ctrlKey, metaKey } = event;
  return { key: keyOf(event), code, shiftKey, repeat, timeStamp, isCommand: ctrlKey || metaKey };
}

const signs: { [code: string]: readonly [plain: string, shifted: string] | undefined } = {
  BracketLeft: ['[', '['],
  BracketRight: [']', ']'],
  Comma: [',', '<'],
  Period: ['.', '>'],
};

/** Returns the Latin key: on a Greek or Cyrillic keyboard, the one at the same position. */
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
