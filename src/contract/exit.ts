export type ExitAnswers = {
  /** How to run the command again: `same` without a change, `changed` after a correction. */
  again: 'never' | 'same' | 'changed';
  /** True if a user must act. */
  person: boolean;
  /** Payments made. `recorded`: a rerun does not pay again. `perhaps`: a create request may have been charged. */
  paid: 'nothing' | 'recorded' | 'perhaps';
};

const exits = {
  done: { code: 0, again: 'never', person: false, paid: 'recorded' },
  internalError: { code: 1, again: 'changed', person: true, paid: 'perhaps' },
  changesPending: { code: 2, again: 'never', person: false, paid: 'nothing' },
  someFailed: { code: 3, again: 'changed', person: true, paid: 'recorded' },
  outOfCredits: { code: 4, again: 'changed', person: true, paid: 'recorded' },
  waitsForPerson: { code: 5, again: 'changed', person: true, paid: 'recorded' },
  needsDecision: { code: 6, again: 'same', person: true, paid: 'perhaps' },
  wrongUsage: { code: 64, again: 'changed', person: false, paid: 'nothing' },
  wrongInput: { code: 65, again: 'changed', person: false, paid: 'nothing' },
  unreachable: { code: 69, again: 'same', person: false, paid: 'recorded' },
  cannotWrite: { code: 73, again: 'changed', person: true, paid: 'recorded' },
  lockHeld: { code: 75, again: 'same', person: false, paid: 'recorded' },
  keyRefused: { code: 77, again: 'changed', person: true, paid: 'recorded' },
  interrupted: { code: 130, again: 'same', person: false, paid: 'recorded' },
} as const satisfies Record<string, ExitAnswers & { code: number }>;

type ExitCodes = { readonly [Name in keyof typeof exits]: (typeof exits)[Name]['code'] };

export const exitCodes = Object.fromEntries(Object.entries(exits).map(([name, { code }]) => [name, code])) as ExitCodes;

export type ExitCode = ExitCodes[keyof ExitCodes];

/** Returns the meaning of an exit code. An unknown code means an internal error. */
export function answersOfExit(exit: number): ExitAnswers {
  const { again, person, paid } = Object.values(exits).find(({ code }) => code === exit) ?? exits.internalError;
  return { again, person, paid };
}
