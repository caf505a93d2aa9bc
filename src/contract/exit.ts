export const exitCodes = {
  done: 0,
  internalError: 1,
  changesPending: 2,
  someFailed: 3,
  outOfCredits: 4,
  waitsForPerson: 5,
  needsDecision: 6,
  wrongUsage: 64,
  wrongInput: 65,
  unreachable: 69,
  cannotWrite: 73,
  lockHeld: 75,
  keyRefused: 77,
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

export type ExitAnswers = {
  /** When to run the command again: `same` unchanged, `changed` after a correction. */
  again: 'never' | 'same' | 'changed';
  /** True if a user must act. */
  person: boolean;
  /** Payments so far. `recorded`: a rerun does not pay again. `perhaps`: a create request may have been charged. */
  paid: 'nothing' | 'recorded' | 'perhaps';
};

const answers: { readonly [name in keyof typeof exitCodes]: ExitAnswers } = {
  done: { again: 'never', person: false, paid: 'recorded' },
  internalError: { again: 'changed', person: true, paid: 'perhaps' },
  changesPending: { again: 'never', person: false, paid: 'nothing' },
  someFailed: { again: 'changed', person: true, paid: 'recorded' },
  outOfCredits: { again: 'changed', person: true, paid: 'recorded' },
  waitsForPerson: { again: 'changed', person: true, paid: 'recorded' },
  needsDecision: { again: 'same', person: true, paid: 'perhaps' },
  wrongUsage: { again: 'changed', person: false, paid: 'nothing' },
  wrongInput: { again: 'changed', person: false, paid: 'nothing' },
  unreachable: { again: 'same', person: false, paid: 'recorded' },
  cannotWrite: { again: 'changed', person: true, paid: 'recorded' },
  lockHeld: { again: 'same', person: false, paid: 'recorded' },
  keyRefused: { again: 'changed', person: true, paid: 'recorded' },
  interrupted: { again: 'same', person: false, paid: 'recorded' },
};

const byCode: ReadonlyMap<number, ExitAnswers> = new Map(
  Object.entries(exitCodes).map(([name, code]) => [code, answers[name as keyof typeof exitCodes]]),
);

/** Treats an unknown number as an internal error. */
export function answersOfExit(exit: ExitCode | number): ExitAnswers {
  return byCode.get(exit) ?? answers.internalError;
}
