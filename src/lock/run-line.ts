/**
 * Lines that a run appends begin with their kind, those of a finished file with their address: so the beginning of a
 * line tells whether an append was cut off, or a file that was complete.
 */
export function asRunLine(line: string): string {
  return line.replace(/^\{("address":"(?:[^"\\]|\\.)*"),("kind":"[^"]*"),/, '{$2,$1,');
}

/** Tells whether the rest of a last line is of a record that was complete: no append begins like that. */
export function isOfRecord(bytes: Uint8Array): boolean {
  return Buffer.from(bytes.subarray(0, 3)).toString('latin1') === '{"a';
}

/** Tells whether a whole line was appended by a run. */
export function isRunLine(text: string): boolean {
  return text.startsWith('{"kind"');
}
