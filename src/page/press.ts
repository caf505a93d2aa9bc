/** A key that was pressed, as the page knows it. */
export interface Press extends Pick<KeyboardEvent, 'code' | 'shiftKey' | 'repeat' | 'timeStamp'> {
  /** Value of `KeyboardEvent.key` on a Latin keyboard, letters small. */
  key: string;
  /** With Ctrl; on a Mac it is another key that means the same. */
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

/** Where another script is typed, the key at the same place is meant: a Greek or Cyrillic keyboard has no P. */
function keyOf({ key: written, code, shiftKey }: Pick<KeyboardEvent, 'key' | 'code' | 'shiftKey'>): string {
  // Of full width, as some write among ideographs.
  const key = written.normalize('NFKC');
  if ([...key].length > 1) return written;
  const isForeign = /^[\p{L}\p{Nd}]$/u.test(key) && !/^[\p{Script=Latin}0-9]$/u.test(key);
  const meant = isForeign
    ? (/^(?:Key|Digit|Numpad)(.)$/.exec(code)?.[1] ?? signs[code]?.[shiftKey ? 1 : 0])
    : undefined;
  return (meant ?? key).toLowerCase();
}
