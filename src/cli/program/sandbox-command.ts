import type { Command } from 'commander';
import { applyOptions } from '../../campaign/option-table.ts';
import type { ProgramContext } from './context.ts';
import { numberIn, wholeNumber } from './options.ts';

export function addSandboxCommand(program: Command, { terminal, exit }: ProgramContext): void {
  program
    .command('sandbox')
    .summary('serve a local stand-in for the service')
    .description('Serves a local stand-in for the service: real jobs, credits and files, no account.')
    .option('--port <port>', 'port on 127.0.0.1; 0 takes a free one', numberIn(applyOptions.port.range), 4010)
    .option('--credits <n>', 'balance of a new sandbox', wholeNumber)
    .option('--speed <factor>', 'how much faster than life jobs run', numberIn(applyOptions.sandboxSpeed.range), 1)
    .option('--fail-rate <share>', 'share of jobs that fail, 0 to 1', numberIn(applyOptions.sandboxFailRate.range), 0)
    .option('--faults <file>', 'scripted faults, JSON')
    .option('--data <dir>', 'where its state lives', '.mediabatch/sandbox')
    .option('--files <dir>', 'where rendered files are kept (default: in --data); several sandboxes may share it')
    .action(async (options) => exit(await (await import('../commands/sandbox.ts')).sandbox(options, terminal)));
}
