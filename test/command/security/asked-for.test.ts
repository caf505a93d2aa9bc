import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { root } from '../../rig/command.ts';
import { runInProcess } from '../in-process.ts';
import { folderWith, key, scripted } from '../scripted.ts';

const forms = join(root, '.github/ISSUE_TEMPLATE');

interface Form {
  name: string;
  description: string;
  body: { type: string; id?: string; attributes: { label?: string; value?: string } }[];
}

const readForm = (name: string) => parse(readFileSync(join(forms, name), 'utf8')) as Form;

/** What a service says back: the key, a link with a signature, one with a password. */
const refusal = `no: ${key} https://user:hunter2@cdn.example/a.png?X-Amz-Signature=abcdef&x=1`;
const secrets = [key, 'verysecret', 'hunter2', 'abcdef', 'op://vault', 'a brass lamp'];

async function broken() {
  const { env } = await scripted({
    'POST /image-generations/create': [400, { success: false, error: refusal }],
    'GET /accounts': [401, { success: false, error: refusal }],
  });
  const folder = folderWith({
    'campaign.yaml':
      'version: 1\nname: spring\nprices: { image: 1 }\ntasks: { hero: { kind: image, with: { prompt: a brass lamp } } }\n',
    '.env': `MEDIABATCH_API_KEY=${key}\nMEDIABATCH_API_KEY_COMMAND=read op://vault\n`,
  });
  return { folder, env };
}

describe('what a report of a mistake asks for', () => {
  test('are commands that there are', () => {
    const labels = readForm('bug.yml').body.map(({ attributes }) => attributes.label);
    expect(labels).toEqual(expect.arrayContaining(['mediabatch doctor --json', 'mediabatch runs show --json ID']));
  });

  test.each(readdirSync(forms))('%s is a form: every field has a name and words', (name) => {
    const { name: title, description, body } = readForm(name);
    expect([typeof title, typeof description]).toEqual(['string', 'string']);
    for (const { type, id, attributes } of body) {
      expect(['markdown', 'textarea', 'input', 'dropdown', 'checkboxes']).toContain(type);
      expect(type === 'markdown' ? attributes.value : id && attributes.label).toEqual(expect.any(String));
    }
  });

  test('holds no secret: doctor --json does not, and of runs show see history.test.ts', async () => {
    const { folder, env } = await broken();
    const { out, err } = await runInProcess(['doctor', '--json'], env, folder);
    expect(JSON.parse(out)).toHaveProperty('findings');
    for (const secret of secrets) expect(out + err).not.toContain(secret);
  });
});
