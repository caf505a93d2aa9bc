const sign = '[^\\s@,/:;.·()“”\'"]';
const word = `${sign}*[\\p{Script=Arabic}\\p{Script=Hebrew}\\p{Script=Syriac}\\p{Script=Thaana}]${sign}*`;
const rightToLeft = new RegExp(`(${word}(?:\\s+${word})*)`, 'u');

/**
 * Isolates right-to-left parts of a text with `bdi`, so that a take's number stays after the take's name. Copied text
 * is unchanged.
 */
export function Isolated({ text }: { text: string }) {
  return <>{text.split(rightToLeft).map((part, index) => (index % 2 === 0 ? part : <bdi key={index}>{part}</bdi>))}</>;
}
