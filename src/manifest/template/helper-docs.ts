/** Documentation of a template helper. `result` is exactly the output of the example. */
export interface HelperDoc {
  name: string;
  /** Syntax, with names for the arguments. */
  usage: string;
  description: string;
  example: string;
  result: string;
}

/** `row` of the examples. An upload is shown as the address of its step: its link is known only during a run. */
export const exampleRow = {
  name: 'Aurora Lamp',
  sku: 'A1',
  number: 7,
  price: '49',
  colors: ['red', 'blue'],
  facts: { height: 40, cable: true },
  style: '',
  text: 'Warm light for long evenings',
};

export const helperDocs: readonly HelperDoc[] = [
  {
    name: 'slug',
    usage: '{{slug text}}',
    description: 'Lower-case words joined by `-`, for keys and paths. Accents are dropped, other scripts stay.',
    example: '{{slug row.name}}',
    result: 'aurora-lamp',
  },
  {
    name: 'upper',
    usage: '{{upper text}}',
    description: 'The text in upper case.',
    example: '{{upper row.name}}',
    result: 'AURORA LAMP',
  },
  {
    name: 'lower',
    usage: '{{lower text}}',
    description: 'The text in lower case.',
    example: '{{lower row.name}}',
    result: 'aurora lamp',
  },
  {
    name: 'title',
    usage: '{{title text}}',
    description: 'The first letter of each word in upper case; the others stay as they are.',
    example: '{{title row.text}}',
    result: 'Warm Light For Long Evenings',
  },
  {
    name: 'trim',
    usage: '{{trim text}}',
    description: 'The text without white space at both ends.',
    example: '{{trim " warm light "}}',
    result: 'warm light',
  },
  {
    name: 'lookup',
    usage: '{{lookup map key}}',
    description:
      'The value of a name in a map, as in `{{lookup vars.cta matrix.locale}}`. A name that is not there is a mistake.',
    example: '{{lookup row.facts "height"}}',
    result: '40',
  },
  {
    name: 'join',
    usage: '{{join list separator}}',
    description: 'The items of a list as one text. Without a separator: a comma and a space.',
    example: '{{join row.colors " and "}}',
    result: 'red and blue',
  },
  {
    name: 'default',
    usage: '{{default value other}}',
    description: 'The value, or the other one where it is absent or empty. 0 and false count as values.',
    example: '{{default row.style "plain"}}',
    result: 'plain',
  },
  {
    name: 'json',
    usage: '{{json value}}',
    description: 'Any value as JSON, with its keys sorted and without white space.',
    example: '{{json row.facts}}',
    result: '{"cable":true,"height":40}',
  },
  {
    name: 'split',
    usage: '{{split text}} or {{split text separator}}',
    description: 'A list of the parts between `;`, `,` and line breaks. It must stand alone, in the place of a list.',
    example: '{{join (split "red; blue") " and "}}',
    result: 'red and blue',
  },
  {
    name: 'truncate',
    usage: '{{truncate text count}}',
    description: 'At most so many characters from the beginning.',
    example: '{{truncate row.text 10}}',
    result: 'Warm light',
  },
  {
    name: 'pad',
    usage: '{{pad value width fill}}',
    description: 'At least so many characters, filled up from the left with the third argument, or with 0.',
    example: '{{pad row.number 3}}',
    result: '007',
  },
  {
    name: 'replace',
    usage: '{{replace text from to}}',
    description: 'Every occurrence of one text replaced by another. No patterns.',
    example: '{{replace row.name " " "_"}}',
    result: 'Aurora_Lamp',
  },
  {
    name: 'eq',
    usage: '{{eq a b}}',
    description: 'Whether two values are equal. A number equals its text: data files hold only texts.',
    example: '{{eq row.price 49}}',
    result: 'true',
  },
  {
    name: 'ne',
    usage: '{{ne a b}}',
    description: 'Whether two values differ.',
    example: '{{ne row.sku "B2"}}',
    result: 'true',
  },
  {
    name: 'and',
    usage: '{{and a b …}}',
    description: 'Whether all values are true. Absent ones, false, 0, empty texts and empty lists are not.',
    example: '{{and row.name row.style}}',
    result: 'false',
  },
  {
    name: 'or',
    usage: '{{or a b …}}',
    description: 'Whether one of the values is true.',
    example: '{{or row.name row.style}}',
    result: 'true',
  },
  {
    name: 'not',
    usage: '{{not value}}',
    description: 'Whether the value is not true.',
    example: '{{not row.style}}',
    result: 'true',
  },
  {
    name: 'upload',
    usage: '{{upload path}}',
    description:
      'The public URL of a file below the folder of the manifest, brought into the media library by a step made on the spot. Only in `with`.',
    example: '{{upload "assets/logo.png"}}',
    result: 'upload@assets:logo.png',
  },
  {
    name: 'read',
    usage: '{{read path}}',
    description:
      'The text of a file below the folder of the manifest (UTF-8), without the line break at its end. A changed file redoes what uses it. Only in `with`.',
    example: '{{read "lyrics/rain.txt"}}',
    result: 'Rain on the tin roof',
  },
  {
    name: 'if',
    usage: '{{#if value}}…{{else}}…{{/if}}',
    description: 'What stands inside, where the value is true; otherwise what stands after `{{else}}`.',
    example: '{{#if (eq row.sku "A1")}}first{{else}}other{{/if}}',
    result: 'first',
  },
  {
    name: 'unless',
    usage: '{{#unless value}}…{{/unless}}',
    description: 'What stands inside, where the value is not true.',
    example: '{{#unless row.style}}no style{{/unless}}',
    result: 'no style',
  },
  {
    name: 'each',
    usage: '{{#each list}}…{{else}}…{{/each}}',
    description:
      'What stands inside, once for each item: `this` is the item, `@index` counts from 0, and there are `@key`, `@first` and `@last`.',
    example: '{{#each row.colors}}{{this}}{{#unless @last}} + {{/unless}}{{/each}}',
    result: 'red + blue',
  },
];
