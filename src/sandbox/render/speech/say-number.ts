const small = [
  ...['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten', 'eleven', 'twelve'],
  ...['thirteen', 'fourteen', 'fifteen', 'sixteen', 'seventeen', 'eighteen', 'nineteen'],
];
const tens = ['', '', 'twenty', 'thirty', 'forty', 'fifty', 'sixty', 'seventy', 'eighty', 'ninety'];
const groups = [
  [1e9, 'billion'],
  [1e6, 'million'],
  [1e3, 'thousand'],
  [100, 'hundred'],
] as const;

/** The words for digits such as `1200`, `1,200` or `3.5`. Very long numbers are read digit by digit. */
export function sayNumber(text: string): string[] {
  const [whole = '', fraction = ''] = text.replaceAll(/,(?=\d{3}(?!\d))/g, '').split(/[.,]/);
  const isPlain = /^(0|[1-9]\d{0,11})$/.test(whole);
  const words = isPlain ? (readYear(text) ?? sayWhole(Number(whole))) : sayDigits(whole);
  return fraction === '' ? words : [...words, 'point', ...sayDigits(fraction)];
}

/** As years are said: nineteen ninety. A number with a comma in it is none. */
function readYear(text: string): string[] | undefined {
  const value = /^\d{4}$/.test(text) ? Number(text) : 0;
  if (value < 1100 || value >= 2000 || value % 100 < 10) return undefined;
  return [...sayWhole(Math.floor(value / 100)), ...sayWhole(value % 100)];
}

function sayWhole(value: number): string[] {
  if (value < 20) return [small[value] ?? ''];
  if (value < 100) return [tens[Math.floor(value / 10)] ?? '', ...sayRest(value % 10)];
  const [size, name] = groups.find(([least]) => value >= least) ?? [100, 'hundred'];
  return [...sayWhole(Math.floor(value / size)), name, ...sayRest(value % size)];
}

function sayRest(value: number): string[] {
  return value === 0 ? [] : sayWhole(value);
}

function sayDigits(digits: string): string[] {
  return [...digits].map((digit) => small[Number(digit)] ?? '');
}
