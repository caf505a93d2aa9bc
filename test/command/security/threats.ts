/** Something that a branch, a data file, the service or its storage may do, and the tests that show it comes to nothing. */
export interface Threat {
  threat: string;
  /** A test's file, and its title or the beginning of one that a table completes. */
  shown: readonly (readonly [file: string, title: string])[];
}

const answers = 'test/command/answers.test.ts';
const http = 'test/rooms/service/http.test.ts';
const download = 'test/rooms/service/download.test.ts';
const classify = 'test/rooms/service/classify.test.ts';
const outputs = 'test/rooms/disk/outputs.test.ts';
const attacks = 'test/rooms/disk/attacks.test.ts';
const saves = 'test/rooms/graph/saves.test.ts';
const whole = 'test/proof/invariants/command.test.ts';
const here = 'test/command/security/attacks.test.ts';

/** Every threat of the design, with the tests that keep it out. A new one gets a row here first. */
export const threats: readonly Threat[] = [
  {
    threat: 'the key is sent elsewhere by an address in the manifest',
    shown: [
      [answers, 'a service address in the manifest is refused; so is one that is neither https nor this machine'],
    ],
  },
  {
    threat: 'the key is sent elsewhere by a .env of a branch',
    shown: [[answers, 'a .env beside a real key never says where that key goes']],
  },
  {
    threat: 'the key is sent to the hosts of outputs and uploads',
    shown: [
      [download, 'to the local service itself, without the key'],
      [answers, 'a key never leaves over plain http to a name that only looks like this machine'],
    ],
  },
  { threat: 'a redirect takes the key or a create along', shown: [[http, 'a redirect is an answer, never followed']] },
  {
    threat: 'secrets of the environment through templates',
    shown: [[here, 'no template reaches the environment or the process']],
  },
  {
    threat: 'files outside of the tree are read',
    shown: [
      ['test/rooms/disk/inputs.test.ts', 'is never outside, whether it exists there or not'],
      [attacks, 'a link to a hidden file, or to a file of another kind, is no data'],
    ],
  },
  {
    threat: 'credits are drained',
    shown: [
      [answers, 'a budget that does not reach: exit 4, never above it'],
      [answers, 'without a terminal and without --yes nothing of unknown price is bought'],
    ],
  },
  {
    threat: 'outputs leave their folder, by name or by link',
    shown: [
      [outputs, 'does not write through a linked folder, nor over a link, a folder or a file in the place of a folder'],
      [
        answers,
        'a symbolic link in the way, as folder or as file: refused before anything is paid, the target untouched',
      ],
    ],
  },
  {
    threat: 'outputs take the place of our own files or of strangers',
    shown: [
      [outputs, 'puts a file aside that is not ours, and says so'],
      [attacks, 'a file that is no media is nobody’s output, whatever a lock says'],
      [answers, '--events never overwrites the campaign'],
    ],
  },
  {
    threat: 'job ids are paths',
    shown: [
      [classify, 'job ids'],
      [here, 'a job id with slashes and dots stays one part of a path'],
    ],
  },
  {
    threat: 'a link leads into a private network',
    shown: [
      [download, 'never to %s'],
      [download, 'a name is refused when one of its addresses is not public'],
      [classify, 'addresses that lead inwards, in every spelling of IPv6 too'],
      [answers, 'a link into a private network is refused, the id kept, the others go on'],
    ],
  },
  {
    threat: 'a redirect leads into a private network',
    shown: [[download, 'into a private network are refused at that hop']],
  },
  { threat: 'an answer without end', shown: [[http, 'an answer without end is cut off']] },
  { threat: 'an answer that drips for ever', shown: [[http, 'an answer that drips for ever: the deadline holds']] },
  { threat: 'a compressed bomb as an answer', shown: [[here, 'a compressed answer is not unpacked']] },
  { threat: 'aliases of aliases in YAML', shown: [['test/rooms/manifest/yaml.test.ts', 'aliases of aliases']] },
  {
    threat: 'a matrix of ten thousand million cells',
    shown: [['test/rooms/graph/mistakes.test.ts', 'ten thousand million cells']],
  },
  {
    threat: 'escapes and commands of a terminal in what the service says',
    shown: [
      [answers, 'escapes in what the service says reach no terminal'],
      ['test/rooms/report/safe-text.test.ts', 'never holds a character that a terminal obeys, and keeps to its length'],
    ],
  },
  {
    threat: 'commands of CI in what the service or a manifest says',
    shown: [
      [
        'test/rooms/report/diagnostics-github.test.ts',
        'what would end a message or a property is escaped, and nothing else is obeyed',
      ],
      [here, 'a message that looks like a command of CI never begins a line'],
    ],
  },
  {
    threat: 'HTML and Markdown in reports',
    shown: [[here, 'the plan as Markdown holds no HTML and no table of somebody else']],
  },
  {
    threat: 'names that objects have',
    shown: [
      ['test/rooms/graph/expand.test.ts', 'names that objects have are ordinary names'],
      ['test/rooms/lock/read.test.ts', 'sorts addresses by code units and keeps names that objects already have'],
    ],
  },
  {
    threat: 'secrets in logs, files and reports',
    shown: [
      [whole, 'I17 is in no output and no file, though the service says it back in every spelling'],
      [here, 'I17 a canary key and signed links are nowhere after a whole campaign with faults'],
      [classify, 'the key leaves in no spelling'],
    ],
  },
  {
    threat: 'a folder of state that came with a branch',
    shown: [
      ['test/rooms/disk/sealed-file.test.ts', 'counts for nothing, and what was kept here for all'],
      ['test/command/security/committed-state.test.ts', 'is never sent, neither as it is nor behind a link'],
      [attacks, 'a link as .gitignore is not written through'],
      [attacks, 'a linked folder is refused'],
      ['test/rooms/disk/guard.test.ts', 'is refused when its folder is a symbolic link'],
    ],
  },
  {
    threat: 'a lock that names files of other campaigns',
    shown: [
      ['test/command/security/committed-state.test.ts', 'gc deletes none of them'],
      ['test/command/security/committed-state.test.ts', 'apply moves none of them'],
    ],
  },
  {
    threat: 'a file that is named is a link, a pipe or a device',
    shown: [
      ['test/command/security/named-files.test.ts', 'as a pipe that nobody writes to is waited for by no command'],
      ['test/command/security/named-files.test.ts', 'as a link out of the tree is neither read nor written'],
    ],
  },
  {
    threat: 'schemas and patterns that take for ever',
    shown: [
      ['test/rooms/manifest/json-schema.test.ts', 'takes no longer than the text is long'],
      ['test/rooms/manifest/json-schema.test.ts', 'gives up on what grows without end'],
    ],
  },
  {
    threat: 'a saved plan that does something else than it shows',
    shown: [['test/command/saved-plan.test.ts', 'refuses one']],
  },
  {
    threat: 'reserved and colliding names',
    shown: [
      [saves, "['con', 'MB1602']"],
      [saves, "['a/../../x', 'MB1601']"],
    ],
  },
];
