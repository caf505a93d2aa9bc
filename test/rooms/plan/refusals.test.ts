import { expect, test } from 'vitest';
import { classifyFailure } from '../../../src/plan/purchases/refusals.ts';

/** Messages of real services, and of the sandbox. */
test.each([
  [undefined, undefined],
  ['no reason given', undefined],
  ['contained material flagged by a content checker', 'prompt'],
  ['Your request was rejected as a result of our safety system', 'prompt'],
  ['Input flagged by our content moderation system', 'prompt'],
  ['content_policy_violation', 'prompt'],
  ['Moderation: blocked', 'prompt'],
  ['prohibited words', 'prompt'],
  ['NSFW content detected in the reference image', 'prompt'],
  ['invalid image', 'prompt'],
  ['the prompt is too long', 'prompt'],
  ['moderation: prompt flagged, output withheld', 'prompt'],
  ['The prompt is blocked; no output was produced', 'prompt'],
  ['Your request was rejected: it violates our usage guidelines', 'prompt'],
  ['invalid prompt (upstream 400)', 'prompt'],
  ['Prompt too long: rate limit of 500 characters', 'prompt'],
  ["The response violated Vertex AI's usage guidelines", 'output'],
  ['output audio may contain sensitive information', 'output'],
  ['Output audio has sensitive content', 'output'],
  ['The model did not generate the expected output because of unsafe content', 'output'],
  ['The generated video was blocked by moderation', 'output'],
  ['invalid response from the upstream provider', 'machine'],
  ['timeout', 'machine'],
  ['The service is temporarily unavailable. Please try again later', 'machine'],
  ['CUDA out of memory', 'machine'],
  ['Internal server error', 'machine'],
])('%j is a failure of %s', (error, expected) => {
  expect(classifyFailure(error)).toBe(expected);
});
