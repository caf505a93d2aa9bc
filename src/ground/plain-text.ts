/**
 * Tells whether a value is a text of one line that can be printed and kept: 1 to `most` UTF-16 code units, without control
 * characters and halves of characters.
 */
export function isPlainText(value: unknown, most: number): value is string {
  return typeof value === 'string' && value !== '' && value.length <= most && !/[\p{Cc}\p{Cs}]/u.test(value);
}
