import * as decisions from '../../campaign/decisions/judge.ts';
import { CampaignError } from '../../contract/failure.ts';
import { type DecisionContext, type DecisionOptions, tellDecided, toDecideOptions } from '../decide.ts';
import { open } from '../open.ts';

export interface JudgeOptions extends DecisionOptions {
  select?: string[];
  note?: string;
}

export interface PickOptions extends JudgeOptions {
  /** Files with what people picked elsewhere. */
  from?: string[];
}

export async function pick(file: string, names: string[], context: DecisionContext<PickOptions>): Promise<number> {
  const { options, terminal } = context;
  const { from, select, note } = options;
  if (from === undefined) return judge('pick', decisions.pick, { file, names, context });
  if (names.length > 0 || select !== undefined || note !== undefined) {
    throw new CampaignError({
      code: 'MB3001',
      message: '--from says what is picked, so steps, -s and --note do not go with it',
      hint: 'pick by files or by names, one after the other; nothing was recorded',
      options: ['--from'],
    });
  }
  const campaign = await open(file, options, terminal);
  return tellDecided('pick', await decisions.pickFrom(campaign, from, toDecideOptions(context)), context);
}

export function reject(file: string, names: string[], context: DecisionContext<JudgeOptions>): Promise<number> {
  return judge('reject', decisions.reject, { file, names, context });
}

export function unpick(file: string, names: string[], context: DecisionContext<JudgeOptions>): Promise<number> {
  return judge('unpick', decisions.unpick, { file, names, context });
}

async function judge(
  command: string,
  decision: typeof decisions.pick,
  { file, names, context }: { file: string; names: string[]; context: DecisionContext<JudgeOptions> },
): Promise<number> {
  const { options, terminal } = context;
  const campaign = await open(file, options, terminal);
  const { select, note } = options;
  return tellDecided(
    command,
    await decision(campaign, { names, select }, { ...toDecideOptions(context), note }),
    context,
  );
}
