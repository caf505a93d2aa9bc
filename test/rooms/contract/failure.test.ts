import { expect, test } from 'vitest';
import {
  BrokenRunError,
  GuardLostError,
  LockChangedError,
  ServiceError,
  UnsafeFileError,
} from '../../../src/contract/errors.ts';
import { CampaignError, failureOf, orFailure } from '../../../src/contract/failure.ts';

const full = Object.assign(new Error('no space left on device'), { code: 'ENOSPC', path: '/a/b' });
const named = { code: 'MB3002', message: 'there is no step hreo', name: 'hreo' } as const;

test.each([
  [new CampaignError(named), named],
  [new GuardLostError(), { code: 'MB3403' }],
  [new LockChangedError('a.lock.jsonl'), { code: 'MB3406', lock: 'a.lock.jsonl' }],
  [new UnsafeFileError('a.lock.jsonl', 'a folder'), { code: 'MB3301', path: 'a.lock.jsonl' }],
  [full, { code: 'MB3301', path: '/a/b', message: 'cannot write: no space left on device' }],
  [new ServiceError('auth', 'HTTP 401', { status: 401 }), { code: 'MB3202', status: 401 }],
  [new ServiceError('unreachable', 'no route'), { code: 'MB3203' }],
  [new ServiceError('unusable', 'no JSON', { status: 200 }), { code: 'MB3204', status: 200 }],
  [new ServiceError('refused', 'gone', { status: 410 }), { code: 'MB3205', status: 410 }],
  [new BrokenRunError(full, 'a.lock.jsonl'), { code: 'MB3301', path: '/a/b' }],
])('%s is a failure', async (error, failure) => {
  expect(failureOf(error)).toMatchObject(failure);
  await expect(orFailure(Promise.reject(error))).rejects.toMatchObject({ name: 'CampaignError', failure });
});

test.each([
  [new TypeError('x is not a function')],
  [new BrokenRunError(new RangeError('too deep'), 'a.lock.jsonl')],
  ['a text'],
  [Object.assign(new Error('not found'), { code: 'ENOENT' })],
])('%s is a mistake of ours, and stays what it is', async (error) => {
  expect(failureOf(error)).toBeUndefined();
  await expect(orFailure(Promise.reject(error))).rejects.toBe(error);
});
