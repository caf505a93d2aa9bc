import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { safeText } from '../report/safe-text.ts';
import { CommandError, exitCodes } from './exit.ts';
import { processTerminal, type Terminal } from './terminal.ts';

/** Runs one command line and gives the exit code. Only a third Ctrl-C ends the process from below. */
export async function main(argv: string[]): Promise<number> {
  const terminal = processTerminal();
  let exitCode: number = exitCodes.done;
  const program = makeProgram(terminal, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync(argv, { from: 'user' });
    return exitCode;
  } catch (error) {
    return explain(error, terminal);
  }
}

function explain(error: unknown, terminal: Terminal): number {
  const { style } = terminal;
  if (error instanceof CommanderError) {
    return error.exitCode === 0 ? exitCodes.done : exitCodes.wrongUsage;
  }
  if (error instanceof CommandError) {
    if (error.message !== '') terminal.err(`${style.red('error')} ${safeText(error.message, 2000)}\n`);
    if (error.hint !== undefined) terminal.err(`  ${style.cyan('→')} ${safeText(error.hint, 2000)}\n`);
    return error.exitCode;
  }
  if (error instanceof Error && error.name === 'GuardLostError') {
    terminal.err(`${style.red('error')} ${safeText(error.message)}\n`);
    terminal.err('  → nothing more was bought; run again when the other run has ended\n');
    return exitCodes.lockHeld;
  }
  if (error instanceof Error && isWriteFailure(error)) {
    terminal.err(`${style.red('error')} cannot write: ${safeText(error.message)}\n`);
    terminal.err('  → make room or fix the permissions, then run again; everything recorded so far is kept\n');
    return exitCodes.cannotWrite;
  }
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  terminal.err(`${style.red('internal error')} this is a bug in mediabatch; please report it with these lines:\n`);
  for (const line of text.split('\n')) terminal.err(`  ${safeText(line, 1000)}\n`);
  return exitCodes.internalError;
}

const writeFailures = new Set(['ENOSPC', 'EROFS', 'EACCES', 'EPERM', 'EIO', 'EDQUOT', 'EFBIG', 'EMFILE', 'ENFILE']);

/** The disk, or somebody else on it, got in the way: not a bug of ours. */
function isWriteFailure(error: Error): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return (
    ['LockChangedError', 'UnsafeFileError'].includes(error.name) || (code !== undefined && writeFailures.has(code))
  );
}

function makeProgram(terminal: Terminal, exit: (code: number) => void): Command {
  const program = new Command('mediabatch')
    .description('Turns a YAML manifest into paid media: plans the credits, stays in the budget, and never pays twice.')
    .usage('<command> [options]')
    .option('-V, --version', 'print the version')
    .configureOutput({
      writeOut: terminal.out,
      writeErr: terminal.err,
      outputError: (text, write) => write(text.replace(/^error: /, `${terminal.style.red('error')} `)),
    })
    .showSuggestionAfterError()
    .exitOverride()
    .addHelpText('after', '\nStart here: mediabatch init, then mediabatch apply campaign.yaml --sandbox\n');

  program
    .command('init')
    .argument('[dir]', 'folder to write into', '.')
    .description('write a campaign to start from, with .gitattributes, .gitignore and .env.example')
    .action(async (dir: string) => exit(await (await import('./commands/init.ts')).init(dir, terminal)));

  program
    .command('validate')
    .argument('<files...>', 'manifests')
    .description('show every mistake of a manifest, or “ok” with counts; needs no network')
    .option('--json', 'one JSON document on stdout')
    .addOption(varOption())
    .action(async (files: string[], options) =>
      exit(await (await import('./commands/validate.ts')).validate(files, options, terminal)),
    );

  planOptions(
    program
      .command('plan')
      .argument('<file>', 'the manifest')
      .description(
        'show for every step what a run would do, why, and what it costs; needs no network and writes nothing',
      )
      .addOption(new Option('--format <format>', 'how to print it').choices(['text', 'json', 'markdown']))
      .option('--detailed-exitcode', 'exit 2 when there is something to do'),
  ).action(async (file: string, options) =>
    exit(await (await import('./commands/plan.ts')).plan(file, options, terminal)),
  );

  planOptions(
    program
      .command('apply')
      .argument('<file>', 'the manifest')
      .description('plan, ask, run, and write the lock; run it again to resume – what is paid for is never paid again')
      .option('--dry-run', 'the same as plan')
      .option('-y, --yes', 'do not ask')
      .option('--events <file>', 'write everything that happens as JSON Lines; - is stdout')
      .option('--lock-timeout <seconds>', 'how long to wait while another run holds the lock', seconds, 10)
      .option('--request-timeout <seconds>', 'limit of one request (default: 30, creates 120)', secondsAboveZero)
      .option('--patience <duration>', 'stop watching a job after so long (90s, 30m, 2h); it stays attached', duration)
      .option('--poll-interval <ms>', 'auto, or milliseconds between two looks at a job', pollInterval, 'auto'),
  ).action(async (file: string, options) =>
    exit(await (await import('./commands/apply.ts')).apply(file, options, terminal)),
  );

  program
    .command('status')
    .argument('<file>', 'the manifest')
    .description('show what is done, running, failed and missing, and the credits; needs no network and writes nothing')
    .option('--json', 'one JSON document on stdout')
    .option('--sandbox', 'the state of the sandbox runs')
    .option('--lock <file>', 'another lock than the one beside the manifest')
    .addOption(varOption())
    .action(async (file: string, options) =>
      exit(await (await import('./commands/status.ts')).status(file, options, terminal)),
    );

  for (const [name, description] of [
    ['explain', 'why a run would do what it would do with one step, field by field'],
    ['render', 'print the request of one step as it is sent'],
  ] as const) {
    program
      .command(name)
      .argument('<file>', 'the manifest')
      .argument('<address>', 'the step, as the plan shows it')
      .description(`${description}; needs no network and writes nothing`)
      .option('--json', 'one JSON document on stdout')
      .option('--sandbox', 'the state of the sandbox runs')
      .option('--lock <file>', 'another lock than the one beside the manifest')
      .addOption(varOption())
      .action(async (file: string, address: string, options) => {
        const commands = await import('./commands/explain.ts');
        exit(await commands[name](file, address, { options, terminal }));
      });
  }

  program
    .command('resolve')
    .argument('<file>', 'the manifest')
    .argument('<address>', 'the step, as the plan shows it')
    .description('decide about a create whose answer was lost; spends nothing itself')
    .option('--job <id>', 'it was charged, and this is its job')
    .option('--credits <n>', 'with --job: what it was charged', wholeNumber)
    .option('--not-spent', 'it was not charged')
    .option('--spend-again', 'buy it, whatever happened before')
    .option('--sandbox', 'the lock of the sandbox runs')
    .option('--lock <file>', 'another lock than the one beside the manifest')
    .option('--lock-timeout <seconds>', 'how long to wait while another run holds the lock', seconds, 10)
    .addOption(varOption())
    .action(async (file: string, address: string, options) =>
      exit(await (await import('./commands/resolve.ts')).resolve(file, address, { options, terminal })),
    );

  program
    .command('unlock')
    .argument('<file>', 'the manifest')
    .requiredOption('--id <id>', 'the id of the run, as the refusal showed it')
    .description('end the claim of a run that is gone on another machine')
    .option('--sandbox', 'the lock of the sandbox runs')
    .option('--lock <file>', 'another lock than the one beside the manifest')
    .action(async (file: string, options) =>
      exit(await (await import('./commands/unlock.ts')).unlock(file, options, terminal)),
    );

  program
    .command('sandbox')
    .description('serve a local stand-in for the service: real jobs, credits and files, no account')
    .option('--port <port>', 'port on 127.0.0.1; 0 takes a free one', port, 4010)
    .option('--credits <n>', 'balance of a new sandbox', wholeNumber)
    .option('--speed <factor>', 'how much faster than life jobs run', positive, 1)
    .option('--fail-rate <share>', 'share of jobs that fail, 0 to 1', share, 0)
    .option('--faults <file>', 'scripted faults, JSON')
    .option('--data <dir>', 'where its state lives', '.mediabatch/sandbox')
    .action(async (options) => exit(await (await import('./commands/sandbox.ts')).sandbox(options, terminal)));

  return program;
}

function planOptions(command: Command): Command {
  return command
    .option('--sandbox', 'run against an embedded service with play money, lock and folder of its own')
    .option('--max-credits <n>', 'cap of this run, beside the budget of the manifest', wholeNumber)
    .option('--concurrency <n>', 'jobs at once, 1 to 100', concurrency)
    .option('--redo <address>', 'buy this task or step again; may be given several times', collectText)
    .option('--lock <file>', 'another lock than the one beside the manifest')
    .option('--json', 'one JSON document on stdout')
    .option('--all', 'show every row, nothing folded')
    .addOption(varOption());
}

function varOption(): Option {
  const collect = (text: string, earlier: Record<string, string> = {}) => {
    const at = text.indexOf('=');
    if (at <= 0) throw new InvalidArgumentError('write it as name=value');
    return { ...earlier, [text.slice(0, at)]: text.slice(at + 1) };
  };
  return new Option('--var <name=value>', 'set a variable that the manifest declares').argParser(collect);
}

function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('give a whole number, 0 or more');
  return Number(text);
}

function port(text: string): number {
  const value = wholeNumber(text);
  if (value > 65_535) throw new InvalidArgumentError('give a number from 0 to 65535');
  return value;
}

function concurrency(text: string): number {
  const value = wholeNumber(text);
  if (value < 1 || value > 100) throw new InvalidArgumentError('give a number from 1 to 100');
  return value;
}

function positive(text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new InvalidArgumentError('give a number above 0');
  return value;
}

function share(text: string): number {
  const value = Number(text);
  if (!(value >= 0 && value <= 1)) throw new InvalidArgumentError('give a number from 0 to 1');
  return value;
}

function seconds(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !(value >= 0 && value <= 86_400))
    throw new InvalidArgumentError('give seconds, 0 to 86400');
  return value;
}

function secondsAboveZero(text: string): number {
  const value = seconds(text);
  if (value <= 0) throw new InvalidArgumentError('give seconds above 0');
  return value;
}

function collectText(text: string, earlier: string[] = []): string[] {
  return [...earlier, text];
}

/** `90s`, `30m`, `2h` in ms. */
function duration(text: string): number {
  const match = /^(\d+(?:\.\d+)?)(s|m|h)$/.exec(text);
  const unit = { s: 1000, m: 60_000, h: 3_600_000 }[match?.[2] ?? ''];
  if (match === null || unit === undefined) throw new InvalidArgumentError('write it as 90s, 30m or 2h');
  return Number(match[1]) * unit;
}

function pollInterval(text: string): 'auto' | number {
  if (text === 'auto') return text;
  const value = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (value < 10) throw new InvalidArgumentError('give auto, or at least 10 ms');
  return value;
}
