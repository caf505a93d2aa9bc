import { type Command, InvalidArgumentError, Option } from 'commander';
import { type NotifyReason, notifyReasons } from '../../contract/notifier.ts';

/** Options that `plan` and `apply` share. */
export function addPlanOptions(command: Command): Command {
  return addScopeOptions(command)
    .option(
      '--redo <selection>',
      'buy these steps again (a post: only by its very address); may be given several times',
      collectText,
    )
    .option('--concurrency <n>', 'jobs at once, 1 to 1000', concurrency)
    .option(
      '--new',
      'a lock of its own begins here, and everything is bought for it: no lock was lost, moved or renamed',
    )
    .option('--refresh', 'ask the service for its own description of requests, and for its prices')
    .addOption(strictOption())
    .option('--json', 'one JSON document on stdout')
    .option('--all', 'show every row, nothing folded');
}

export function strictOption(): Option {
  return new Option('--strict', 'fields that neither this version nor the service lists are mistakes');
}

/** Which part of a campaign a plan is about, and what it may cost. */
export function addScopeOptions(command: Command): Command {
  return addSelectOptions(addStateOptions(command))
    .addOption(serviceMovedOption())
    .option('--first <n>', 'of tasks that fan out only the first rows, with what they need: a trial', countAboveZero)
    .option('--sample <n>', 'the same with rows drawn by a digest: on every machine the same ones', countAboveZero)
    .option('--seed <text>', 'with --sample: draws other rows')
    .option('--max-credits <n>', 'cap of this run, beside the budget of the manifest', wholeNumber);
}

/** Which steps a command is about. */
export function addSelectOptions(command: Command): Command {
  return command
    .option('-s, --select <selection>', 'only these steps: hero@lamp,9:16, hero@A*, +teaser, tag:launch …', collectText)
    .option('-x, --exclude <selection>', 'but not these', collectText);
}

/** Which lock a command looks at, and with which variables. */
export function addStateOptions(command: Command): Command {
  return addVarOptions(
    command
      .option('--sandbox', 'the embedded service: play money, a lock and a folder of its own')
      .option('--lock <file>', 'another lock than the one beside the manifest'),
  );
}

export function serviceMovedOption(): Option {
  return new Option('--service-moved', 'the lock was made at another address, which the service had until now');
}

/** What the manifest is told from outside. */
export function addVarOptions(command: Command): Command {
  return command
    .addOption(varOption())
    .option(
      '--var-file <file>',
      'set such variables from a YAML or JSON file; --var and MEDIABATCH_VAR_name go before it; may be given several times',
      collectText,
    );
}

function varOption(): Option {
  const collect = (text: string, earlier: Record<string, string> = {}) => {
    const at = text.indexOf('=');
    if (at <= 0) throw new InvalidArgumentError('write it as name=value');
    return { ...earlier, [text.slice(0, at)]: text.slice(at + 1) };
  };
  return new Option('--var <name=value>', 'set a variable that the manifest declares').argParser(collect);
}

export function lockTimeoutOption(): Option {
  return new Option('--lock-timeout <seconds>', 'how long to wait while another run holds the lock')
    .argParser(seconds)
    .default(10);
}

export function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('give a whole number, 0 or more');
  return Number(text);
}

function countAboveZero(text: string): number {
  const value = wholeNumber(text);
  if (value < 1) throw new InvalidArgumentError('give a whole number, 1 or more');
  return value;
}

/** `done,failed`. */
export function notifyList(text: string): NotifyReason[] {
  const names = text.split(',').map((name) => name.trim());
  const known = names.flatMap((name) => notifyReasons.find((one) => one === name) ?? []);
  if (known.length < names.length) throw new InvalidArgumentError(`give one or several of ${notifyReasons.join(', ')}`);
  return known;
}

export function port(text: string): number {
  const value = wholeNumber(text);
  if (value > 65_535) throw new InvalidArgumentError('give a number from 0 to 65535');
  return value;
}

export function concurrency(text: string): number {
  const value = wholeNumber(text);
  if (value < 1 || value > 1000) throw new InvalidArgumentError('give a number from 1 to 1000');
  return value;
}

export function positive(text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new InvalidArgumentError('give a number above 0');
  return value;
}

export function share(text: string): number {
  const value = Number(text);
  if (!(value >= 0 && value <= 1)) throw new InvalidArgumentError('give a number from 0 to 1');
  return value;
}

export function seconds(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !(value >= 0 && value <= 86_400))
    throw new InvalidArgumentError('give seconds, 0 to 86400');
  return value;
}

export function secondsAboveZero(text: string): number {
  const value = seconds(text);
  if (value <= 0) throw new InvalidArgumentError('give seconds above 0');
  // A timer of weeks would run out at once.
  if (value > 86_400) throw new InvalidArgumentError('give at most 86400 seconds, a day');
  return value;
}

/** An option that may be given several times. */
export function collectText(text: string, earlier: string[] = []): string[] {
  return [...earlier, text];
}

/** `90s`, `30m`, `2h` in ms. */
export function duration(text: string): number {
  const match = /^(\d+(?:\.\d+)?)(s|m|h)$/.exec(text);
  const unit = { s: 1000, m: 60_000, h: 3_600_000 }[match?.[2] ?? ''];
  if (match === null || unit === undefined) throw new InvalidArgumentError('write it as 90s, 30m or 2h');
  return Number(match[1]) * unit;
}

/** `12h`, `30d` in ms. */
export function age(text: string): number {
  const match = /^(\d{1,6})(h|d)$/.exec(text);
  if (match === null) throw new InvalidArgumentError('write it as 12h or 30d');
  return Number(match[1]) * (match[2] === 'h' ? 3_600_000 : 86_400_000);
}

export function pollInterval(text: string): 'auto' | number {
  if (text === 'auto') return text;
  const value = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (value < 10) throw new InvalidArgumentError('give auto, or at least 10 ms');
  return value;
}
