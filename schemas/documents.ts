import type { Schema } from './schema.ts';

/** A value: a description, and what it is. */
type Part = readonly [description: string, is: Schema];

const text: Schema = { type: 'string' };
const count: Schema = { type: 'integer', minimum: 0 };
const truth: Schema = { type: 'boolean' };
const path = text;
const credits: Schema = { type: 'number', minimum: 0 };
const anything: Schema = {};
const oneOf = (...values: string[]): Schema => ({ enum: values });
const list = (items: Schema): Schema => ({ type: 'array', items });
const orNull = (schema: Schema): Schema => ({ ...schema, type: [schema.type, 'null'] });
const mapOf = (schema: Schema): Schema => ({ type: 'object', additionalProperties: schema });

/** A `?` behind a name: it may be absent. `open`: more may be beside these. */
function object(parts: { [name: string]: Part }, more: 'open' | 'closed' = 'closed'): Schema {
  const entries = Object.entries(parts);
  return {
    type: 'object',
    ...(more === 'closed' && { additionalProperties: false }),
    required: entries.flatMap(([name]) => (name.endsWith('?') ? [] : [name])),
    properties: Object.fromEntries(
      entries.map(([name, [description, is]]) => [name.replace('?', ''), { description, ...is }]),
    ),
  };
}

const why = object({ address: ['The step.', text], why: ['Why.', text] });
const source: Part = ['`documented`: the service was not asked.', oneOf('service', 'documented')];
const place = object({
  file: ['The file.', path],
  line: ['From 1.', count],
  column: ['From 1.', count],
  'from?': ['The data that a template put there.', text],
  'reads?': ['Text files that its template reads.', list(path)],
});
const model: { [name: string]: Part } = {
  'credits?': ['Credits a job.', anything],
  'aliasOf?': ['The model that it stands for.', text],
};

/** Documents that one command prints, each described by one sentence and its parts. */
const documents: { readonly [name: string]: readonly [description: string, parts: { [name: string]: Part }] } = {
  doctor: [
    'What is as it should be and what is not, as `mediabatch doctor --json` prints it.',
    {
      exit: ['The exit code.', count],
      findings: [
        'One for each thing that was looked at.',
        list(
          object({
            about: ['What was looked at.', text],
            state: ['How it is.', oneOf('ok', 'warning', 'problem')],
            text: ['What was seen.', text],
            'hint?': ['What to do.', text],
          }),
        ),
      ],
    },
  ],
  models: [
    'Models, as `mediabatch list models --json` prints them.',
    {
      source,
      models: [
        'By kind.',
        list(
          object({
            kind: ['Its kind.', text],
            model: ['As a manifest names it.', text],
            credits: ['Of a job, or for each started `per`; null: nobody knows.', orNull(credits)],
            'per?': ['`second`, `1000 characters`.', text],
            'aliasOf?': ['The model that it stands for.', text],
            isDefault: ['Used where a request names none.', truth],
            known: ['Where it is known from.', oneOf('documented', 'catalog', 'both')],
            notes: ['In words.', text],
          }),
        ),
      ],
    },
  ],
  voices: [
    'Voices, as `mediabatch list voices --json` prints them.',
    {
      source,
      voices: [
        'In the order of the service.',
        list(
          object({
            id: ['The `voice_id` of a request.', text],
            gender: ['As listed.', text],
            accent: ['As listed.', text],
            'label?': ['Its name.', text],
            'description?': ['In words.', text],
            'previewUrl?': ['How it sounds.', text],
          }),
        ),
      ],
    },
  ],
  accounts: [
    'Accounts that posts go to, as `mediabatch list accounts --json` prints them.',
    {
      accounts: [
        'In the order of the service.',
        list(
          object({
            id: ['A value of `accountIds`.', text],
            provider: ['As the service calls the platform.', text],
            platform: ['As people call it.', text],
            name: ['Empty: none is stated.', text],
            username: ['Empty: none is stated.', text],
            'expiresAt?': ['From then on it has to be connected again.', text],
            expiry: ['How near that is.', oneOf('unknown', 'valid', 'soon', 'past')],
          }),
        ),
      ],
    },
  ],
  jobs: [
    'Jobs of the service, as `mediabatch list jobs --json` prints them.',
    {
      jobs: [
        'Newest first.',
        list(
          object({
            kind: ['Its kind.', text],
            jobId: ['Its id.', text],
            status: ['As the service calls it.', text],
            'createdAt?': ['When.', text],
            'model?': ['Its model.', text],
            'prompt?': ['What it is made from.', text],
            'credits?': ['What it was charged.', credits],
            'error?': ['Why it failed.', text],
            'url?': ['Where its output is.', text],
            step: [
              'The step that it belongs to; null: no lock here knows the job.',
              orNull(object({ lock: ['The lock.', path], address: ['The step.', text] })),
            ],
          }),
        ),
      ],
      more: ['There are more than were asked for.', truth],
      unlisted: ['Kinds whose jobs the service does not list.', list(text)],
      locks: ['The locks that were read.', list(path)],
    },
  ],
  uploads: [
    'Files of the media library, as `mediabatch list uploads --json` and `uploads FILE --json` print them.',
    {
      uploads: [
        'Those that are there.',
        list(
          object({
            name: ['Its name.', text],
            url: ['Where requests find it.', text],
            id: ['Its id.', text],
            'bytes?': ['Its size.', count],
            'createdAt?': ['When it came there.', text],
          }),
        ),
      ],
      failed: ['Those that could not be uploaded.', list(object({ name: ['Its name.', text], error: ['Why.', text] }))],
    },
  ],
  workers: [
    'The state of an engine, as `mediabatch workers --json` prints it. Ages are in milliseconds, by the clock of its server.',
    {
      runs: [
        'Newest first.',
        list(
          object({
            id: ['Its id.', text],
            account: ['Whose it is.', text],
            campaign: ['Its campaign.', text],
            state: [
              '`stopping`: it was cancelled, and what runs is collected. `paused`: the same, until it is resumed.',
              oneOf('open', 'paused', 'stopping', 'ended'),
            ],
            host: ['Where it was submitted.', text],
            manifest: ['Its manifest there.', path],
            submittedMs: ['Since it was submitted.', credits],
            'endedMs?': ['Since its end.', credits],
            'exit?': ['Its exit code.', count],
            'cancelled?': [
              'Who has cancelled it, and how long ago.',
              object({ by: ['Who.', text], ageMs: ['Since then.', credits] }),
            ],
            'paused?': [
              'Who has paused it, and how long ago.',
              object({ by: ['Who.', text], ageMs: ['Since then.', credits] }),
            ],
            'error?': ['Why its head has put it aside.', text],
            'lacks?': [
              'What an open run lacks: a living worker of its account, one of its version or with its store, or a leader.',
              oneOf('worker', 'version', 'store', 'leader'),
            ],
            'credits?': ['Charged in this run. Omitted when it is not recorded.', count],
            steps: [
              'Steps.',
              object({
                done: ['Done.', count],
                failed: ['Ended in another way: failed, refused, unresolved or lost.', count],
                waiting: ['Not ended, or the job still runs.', count],
                left: ['Not begun when the run ended or stopped.', count],
                of: ['All.', count],
              }),
            ],
            files: [
              'Files.',
              object({
                wanted: ['Queued for fetch workers.', count],
                saved: ['Saved.', count],
                failed: ['Of finished jobs, not saved when the step ended.', count],
              }),
            ],
            store: ['Destination of its files; null: the attached client.', orNull(text)],
            protocol: ['Version of the words between submitters, heads and hands.', count],
          }),
        ),
      ],
      accounts: [
        'Accounts that there is work for.',
        list(
          object({
            id: ['Its id.', text],
            head: ['The worker that leads it. Null when there is none, or its lease has run out.', orNull(text)],
            'beatMs?': ["Milliseconds since the leader's last heartbeat.", credits],
            'error?': ['What is wrong.', text],
            'limit?': [
              'The limit of its workers that leaves least.',
              object({
                credits: ['Most in its time.', count],
                per: ['Its time; days and months are those of UTC.', oneOf('run', 'day', 'month')],
                left: ['Neither spent nor held.', count],
                of: ['Its workers.', oneOf('engine')],
              }),
            ],
          }),
        ),
      ],
      workers: [
        'Workers.',
        list(
          object(
            {
              id: ['Its id.', text],
              account: ['For whom it works.', text],
              host: ['Its machine.', text],
              pid: ['Its process there.', count],
              protocol: ['Version of the words between submitters, heads and hands.', count],
              version: ['Its version of mediabatch.', text],
              store: ['Where it puts files; null: it has no store.', orNull(text)],
              files: ['Files at once; 0: it fetches none.', count],
              beatMs: ['Milliseconds since its last heartbeat.', credits],
              isSilent: ['For longer than a living worker is.', truth],
              isHead: ['It is the head of its account.', truth],
            },
            'open',
          ),
        ),
      ],
    },
  ],
  gc: [
    'Downloaded files that no step refers to, as `mediabatch gc --json` prints them.',
    {
      files: [
        'Files that may go.',
        list(
          object({
            path: ['Relative to the folder of outputs, or of kept files.', path],
            bytes: ['Its size.', count],
            is: [
              '`output`: of an earlier purchase; `partial`: of a broken download; `kept`: replaced by a newer one.',
              oneOf('output', 'partial', 'kept'),
            ],
            'credits?': ['What its job was charged.', credits],
            'jobId?': ['Its job.', text],
            'was?': ['Its path while it was the output.', path],
            'since?': ['Since when it is kept.', text],
            'address?': ['The step that it was bought for.', text],
            deleted: ['It is gone now.', truth],
          }),
        ),
      ],
      kept: ['Files that stay.', list(object({ path: ['Its path.', path], why: ['Why.', text] }))],
      bytesFreed: ['What was deleted, in all.', count],
    },
  ],
  destroy: [
    'Records of the service that were removed, as `mediabatch destroy --json` prints them.',
    {
      records: [
        'One for each job.',
        list(
          object({
            kind: ['Its kind.', text],
            address: ['The step.', text],
            jobId: ['Its job.', text],
            'recordId?': ['Its id at the service.', text],
            'credits?': ['What it was charged.', credits],
            'createdAt?': ['When it was made.', text],
            files: ['Its files here.', oneOf('intact', 'missing', 'none')],
            isOrphan: ['No step of the manifest uses it.', truth],
            result: ['`gone`: it was gone before.', oneOf('removed', 'gone', 'left', 'failed')],
            'error?': ['Why it could not be removed.', text],
          }),
        ),
      ],
      skipped: ['Records that are still needed.', list(why)],
    },
  ],
  explanation: [
    'Why a step is, or would be, bought, as `mediabatch explain --json` prints it. Its three parts may have more than is described.',
    {
      row: [
        'As in a plan.',
        object(
          {
            address: ['The step.', text],
            task: ['Its task.', text],
            kind: ['Its kind.', text],
            action: ['What a run would do.', text],
            reason: ['Why.', object({ code: ['For programs.', text], text: ['For people.', text] }, 'open')],
            credits: ['What that spends; null: nobody knows.', orNull(credits)],
          },
          'open',
        ),
      ],
      step: [
        'What the manifest says.',
        object(
          {
            address: ['The step.', text],
            request: ['The request, references to other steps open.', mapOf(anything)],
            fingerprint: ['Digest of all that can change its content.', text],
            needs: ['Steps, or gates, that come before it.', list(text)],
            save: ['Where its file goes, without ending; empty: it has none.', path],
          },
          'open',
        ),
      ],
      'unsaved?': [
        'The error that kept the file of its finished job from being saved, by the newest run that tried.',
        text,
      ],
      'record?': [
        'What the lock has of it.',
        object({ address: ['The step.', text], purchases: ['As in the lock.', list({ type: 'object' })] }, 'open'),
      ],
    },
  ],
  expansion: [
    'A manifest with everything resolved, as `mediabatch explain --origins --json` prints it.',
    {
      campaign: ['Its name.', text],
      'budget?': ['As in the manifest.', object({ credits: ['Credits.', credits] })],
      'service?': ['As in the manifest.', object({ concurrency: ['Creates at once.', count] })],
      'selectors?': ['As in the manifest.', mapOf(anything)],
      'prices?': ['As in the manifest.', mapOf(anything)],
      steps: [
        'One for each step, with the keys of its task as they apply to it.',
        list(
          object(
            {
              address: ['The step.', text],
              task: ['Its task.', text],
              kind: ['Its kind.', text],
              trail: ['What made it, from the task to the row.', list(text)],
              origins: ['Where each value stands, by its path.', mapOf(place)],
            },
            'open',
          ),
        ),
      ],
    },
  ],
  kinds: [
    'Kinds and their fields, as `mediabatch schema kinds --json` prints them.',
    {
      kinds: [
        'In the order of the manual.',
        list(
          object({
            name: ['As `kind` in a manifest.', text],
            description: ['In words.', text],
            media: ['What it makes.', text],
            documented: ['The service documents its request.', truth],
            fields: [
              'Fields of `with`.',
              list(
                object({
                  name: ['Its name.', text],
                  description: ['In words.', text],
                  type: ['Its type.', text],
                  required: ['A request must have it.', truth],
                  'values?': ['The only values.', list(anything)],
                  'default?': ['Used where it is absent.', anything],
                  'maxLength?': ['Most characters.', count],
                }),
              ),
            ],
            'models?': [
              'Models that are documented.',
              list(object({ name: ['Its name.', text], description: ['In words.', text], ...model })),
            ],
            outputs: ['What other tasks can refer to.', list(text)],
            'parts?': ['What it gives in parts.', object({ name: ['Its name.', text], most: ['Most parts.', count] })],
          }),
        ),
      ],
    },
  ],
  helpers: [
    'Helpers of templates, as `mediabatch schema helpers --json` prints them.',
    {
      helpers: [
        'By name.',
        list(
          object({
            name: ['Its name.', text],
            usage: ['How it is written.', text],
            description: ['In words.', text],
            example: ['A template.', text],
            result: ['What it gives for `row`.', text],
          }),
        ),
      ],
      row: ['The row of the examples.', mapOf(anything)],
    },
  ],
};

/** The schemas of documents that are said here, by name. */
export function smallSchemas(): { name: string; schema: Schema }[] {
  return Object.entries(documents).map(([name, [description, parts]]) => ({
    name,
    schema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $id: `urn:mediabatch:${name}:1`,
      title: `mediabatch ${name}`,
      description,
      ...object({
        mediabatch: ['Document type.', { const: name }],
        version: ['Version of this document format.', { const: 1 }],
        ...parts,
      }),
    },
  }));
}
