const sign = '[^\\s@,/:;.·()“”\'"]';
const word = `${sign}*[\\p{Script=Arabic}\\p{Script=Hebrew}\\p{Script=Syriac}\\p{Script=Thaana}]${sign}*`;
const rightToLeft = new RegExp(`(${word}(?:\\s+${word})*)`, 'u');

/**
 * A text in which what is read from right to left is a whole of its own: else the number of a take would stand before its
 * name. Copied, it is the same text.
 */
export function Isolated({ text }: { text: string }) {
  return <>{text.split(rightToLeft).map((part, index) => (index % 2 === 0 ? part : <bdi key={index}>{part}</bdi>))}</>;
}
