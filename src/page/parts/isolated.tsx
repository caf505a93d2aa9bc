const sign = '[^\\s@,/:;.·()“”\'"]';
const word = `${sign}*[\\p{Script=Arabic}\\p{Script=Hebrew}\\p{Script=Syriac}\\p{Script=Thaana}]${sign}*`;
const rightToLeft = new RegExp(`(${word}(?:\\s+${word})*)`, 'u');

/**
 * Isolates right-to-left parts of a text with `bdi`. Otherwise the number of a take would appear before its name.
 * Copying gives the original text.
 */
export function Isolated({ text }: { text: string }) {
  return <>{text.split(rightToLeft).map((part, index) => (index % 2 === 0 ? part : <bdi key={index}>{part}</bdi>))}</>;
}
